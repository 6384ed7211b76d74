import shlex
import time
from pathlib import Path

import pytest

from advisor.extensions.app.files import example_file

pytestmark = pytest.mark.slow

LONG = "goal=compare&k=2000&n=1000000&shape=spike"  # a simulation that is not over before it is cancelled


def test_an_engineer_moves_epsilon_along_the_curve(tab):
    tab.go("goal=plan&n=2M&k=300&eps=1&within=0.05")
    tab.verdict("PGR (projective geometry response")
    dial = tab.page.wait_for_selector('.explorer input[data-dial="0"]')
    before = tab.page.inner_text(".readouts div:first-child dd")
    dial.focus()
    tab.page.keyboard.press("ArrowRight")
    assert tab.page.inner_text(".readouts div:first-child dd") != before  # at once, in the page
    tab.page.wait_for_function("() => document.getElementById('eps').value === '1.5'")
    tab.page.wait_for_function("() => document.querySelector('#copy-line-0').textContent.includes('--eps 1.5')")
    assert tab.page.evaluate("document.activeElement.dataset.dial") == "0"  # the next key moves on
    tab.page.keyboard.press("ArrowRight")
    tab.page.wait_for_function("() => document.querySelector('#copy-line-0').textContent.includes('--eps 2 ')")
    assert "eps=2" in tab.page.url
    tab.page.click(".advise")
    tab.verdict("Collect with ε =")
    assert "eps=" not in tab.page.url


def test_the_point_on_the_curve_can_be_dragged(tab):
    tab.go("goal=compare&k=64&n=100000&eps=1")
    svg = tab.page.wait_for_selector(".curve svg")
    svg.scroll_into_view_if_needed()
    stops = "JSON.parse(document.querySelector('.explorer script').textContent).values"
    before = tab.page.evaluate(f"() => {stops}")
    box = svg.bounding_box()
    tab.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + 0.97 * box["width"], box["y"] + 0.5 * box["height"], steps=5)
    tab.page.mouse.up()
    tab.page.wait_for_function("() => Number(document.getElementById('eps').value) > 2")
    # The dials stay the same while predicted figures follow, and then simulated ones.
    tab.simulated()
    tab.page.wait_for_function("() => document.querySelector('.explorer').textContent.includes('Simulated at')")
    assert tab.page.evaluate(f"() => {stops}") == before
    assert tab.page.input_value("#eps") == str(before[0][int(tab.page.input_value('.explorer input[data-dial="0"]'))])


def test_an_analyst_takes_away_a_repaired_estimate(tab, run, tmp_path, monkeypatch):
    tab.go("goal=estimate")
    tab.verdict("Example: Tied")
    assert tab.page.is_visible(".invite")
    (tmp_path / "raw.csv").write_bytes(example_file("estimate.csv").content)
    tab.drop(tmp_path / "raw.csv")
    tab.page.wait_for_selector("#copy-line-0 >> text=raw.csv")
    tab.simulated()
    assert not tab.page.query_selector(".invite")
    assert "Example" not in tab.verdict("on this OUE estimate")
    monkeypatch.chdir(tmp_path)
    with tab.page.expect_download() as awaited:
        tab.page.click("#take_applied")
    repaired = Path(awaited.value.path()).read_text(encoding="utf-8")
    assert run(*shlex.split(tab.lines()[0])[1:], "--apply", "there.csv", "--quiet")[0] == 0
    assert repaired == (tmp_path / "there.csv").read_text(encoding="utf-8")


def test_a_researcher_compares_a_method_of_their_own(tab, run, tmp_path, monkeypatch):
    tab.go("goal=compare&k=16&n=20000&method=norm_sub,soft,none&protocol=oue")
    tab.page.check('#method input[value="norm_sub"]')
    tab.page.click("#simulate")
    tab.simulated()
    for row in ("soft", "Norm-Sub"):
        assert row in tab.page.inner_text("#details table.sortable")
    with tab.page.expect_download() as awaited:
        tab.page.click("#take_data")
    awaited.value.save_as(tmp_path / "assumed.csv")
    with tab.page.expect_download() as awaited:
        tab.page.click("#take_csv")
    shown = Path(awaited.value.path()).read_text(encoding="utf-8")
    (line,) = tab.lines()
    assert "soft.py:soft" in line
    monkeypatch.chdir(tmp_path)
    assert run(*shlex.split(line)[1:], "--format", "csv", "--quiet")[1] == shown


def test_places_are_drawn_and_downloads_are_whole(tab):
    tab.go("goal=places")
    tab.page.click("text=Use the example")
    tab.page.wait_for_selector("#rest svg")
    assert "Example" not in tab.verdict("Tied")
    with tab.page.expect_download() as awaited:
        tab.page.click("#take_page")
    page = Path(awaited.value.path()).read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "ldp-advise places" in page
    assert tab.problems == []


def test_a_wrong_file_and_a_wrong_number_are_said_beside_them(tab, tmp_path):
    wrong = tmp_path / "sheet.xlsx"
    wrong.write_bytes(b"PK\x03\x04" + b"0" * 100)
    tab.go("goal=compare&k=16")
    tab.verdict()
    tab.drop(wrong)
    assert tab.error("data").startswith("sheet.xlsx: is a zip archive")
    assert tab.page.get_attribute(".upload", "aria-invalid") == "true"
    tab.choose("shape", "uniform")
    tab.set("k", "16")
    tab.set("eps", "-1")
    assert "got '-1'" in tab.error("eps")
    assert tab.page.get_attribute("#eps", "aria-invalid") == "true"
    tab.set("eps", "2")
    tab.page.wait_for_function("() => !document.getElementById('eps').hasAttribute('aria-invalid')")
    tab.verdict("Do not collect")  # equal frequencies are what is guessed without data


def test_a_file_that_is_dropped_on_a_plan_needs_no_other_answer(tab, tmp_path):
    pilot = tmp_path / "pilot.csv"
    pilot.write_text("answer,people\nyes,600\nno,300\nperhaps,100\n", encoding="utf-8")
    tab.go("goal=plan&n=20000")
    tab.verdict()
    tab.drop(pilot)
    tab.page.wait_for_function("() => document.querySelector('#copy-line-0')?.textContent.endsWith('pilot.csv')")
    tab.verdict("Collect with ε =")
    assert tab.page.input_value("#n") == "20000"
    assert tab.page.input_value("#k") == ""
    tab.choose("shape", "zipf")
    tab.page.wait_for_function("() => document.querySelector('#copy-line-0')?.textContent.includes('--k 18')")
    tab.page.wait_for_function("() => !location.search.includes('file=')")


GREY = "() => [...document.querySelectorAll('.older')].map(place => place.id)"
AT_ONCE = ["verdict", "changes", "details", "attacker", "reproduce"]


def test_an_older_answer_is_grey_from_the_first_key_on_and_a_button_changes_it(tab):
    tab.go()
    tab.verdict("Almost")
    for late in (".explorer", "#rest summary", "#why summary"):
        tab.page.wait_for_selector(late)
    assert tab.page.evaluate(GREY) == []
    tab.page.press("#n", "End")
    tab.page.keyboard.press("0")
    assert {*tab.page.evaluate(GREY)} == {*AT_ONCE, "explorer", "rest", "why"}
    tab.page.keyboard.press("Backspace")
    assert tab.page.evaluate(GREY) == []  # it holds again
    tab.page.click("button.change[data-set*='\"n\"']")
    assert "verdict" in tab.page.evaluate(GREY)
    tab.verdict("Collect", "with ε =")
    assert {*tab.page.evaluate(GREY)}.isdisjoint(AT_ONCE)
    assert tab.page.input_value("#n") == "6000"
    tab.page.wait_for_function("() => !document.querySelector('.older')")
    assert tab.problems == []


def test_on_a_phone_the_verdict_stays_in_sight_and_tables_in_their_cards(tab):
    tab.page.set_viewport_size({"width": 390, "height": 844})
    for query in ("goal=plan", "goal=compare", "goal=places&file=example&counts=people"):
        tab.go(query).verdict()
        tab.page.wait_for_selector("#rest summary")
        for place in ("#within, #metric, #radius", "#details table", "#take"):
            tab.page.evaluate("place => document.querySelector(place).scrollIntoView({block: 'center'})", place)
            box = tab.page.query_selector(".verdict").bounding_box()
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= 260
        assert (
            tab.page.evaluate("() => (place => place.scrollWidth - place.clientWidth)(document.querySelector('.wide'))")
            == 0
        )


def test_a_large_file_is_read_in_memory_and_never_written(tab, server, tmp_path):
    large = tmp_path / "large.csv"
    row = b"some label that takes a while %02d\n"
    large.write_bytes(b"label\n" + b"".join(row % (place % 50) for place in range(1_390_000)))
    assert 45e6 < large.stat().st_size < 50e6
    before, memory = server.written(), _resident(server.process)
    tab.go("goal=compare&eps=1&method=norm_sub&protocol=oue,grr")
    tab.verdict()
    tab.drop(large)
    tab.page.wait_for_function("() => document.querySelector('#copy-line-0')?.textContent.endsWith('large.csv')")
    tab.page.wait_for_selector("text=n = 1,390,000")
    tab.simulated()
    assert server.written() - before < 1_000_000  # a file of 48 MB
    assert [path for path in server.temporary.rglob("*") if path.is_file() and path.stat().st_size > 100_000] == []
    assert _resident(server.process) - memory < 250_000_000
    tab.page.reload()
    tab.page.wait_for_selector("text=n = 1,390,000")  # the file is still held


def _resident(process):
    return int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]) * 4096


def test_a_file_that_is_too_large_is_refused_before_it_is_sent(tab, tmp_path):
    tab.go("goal=compare")
    assert "at most 50 MB" in tab.page.inner_text("#data-hint")
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(50_000_001)
    tab.drop(large)
    assert "larger than 50 MB" in tab.error("data")
    assert not any("upload" in url for url in tab.requests)


def test_a_simulation_is_cancelled_and_leaves_no_process(tab, server):
    idle = server.children()
    tab.go(LONG)
    tab.verdict()
    tab.work("Simulating:")  # it follows by itself
    started = server.children() - idle
    assert started
    tab.page.click("#cancel")
    tab.page.wait_for_selector("#simulate", state="visible")
    deadline = time.monotonic() + 30
    while (left := [one for one in started & server.children() if _works(one)]) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == []
    tab.verdict()
    tab.page.wait_for_timeout(2000)
    assert tab.page.inner_text(".work-words") == "Cancelled."  # and does not begin again
    tab.page.click("#simulate")
    tab.work("Simulating:")
    tab.page.click("#cancel")
    tab.work("Cancelled.")


def _works(process):

    def used():
        words = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
        return sum(map(int, words[11:13]))

    try:
        before = used()
        time.sleep(0.3)
        return used() > before
    except OSError:  # it has ended
        return False


def test_a_reload_restores_everything(tab):
    tab.go("goal=plan")
    tab.verdict("Almost")
    tab.set("n", "50000")
    tab.choose("sensitive", "high")
    tab.page.click("text=More options")
    tab.choose("ordered", "yes")
    tab.page.wait_for_function("() => location.search.includes('ordered=yes')")
    tab.page.wait_for_function("() => document.querySelector('#copy-line-0').textContent.includes('--ordered')")
    tab.hold()
    before = tab.lines()
    tab.page.reload()
    tab.page.wait_for_selector("#copy-line-0")
    assert tab.lines() == before
    assert tab.page.input_value("#n") == "50000"
    assert tab.page.input_value("#sensitive") == "high"
    assert tab.page.is_visible("#ordered")  # unfolded, as something is set there


def test_a_simulated_address_is_simulated_again(tab):
    tab.go("goal=compare&k=8&n=2000&method=norm_sub&protocol=oue,grr&simulated=yes")
    tab.simulated()
    assert "--instant" not in tab.lines()[0]
    before = tab.page.wait_for_selector(".collection svg").inner_html()
    tab.page.click(".again")
    tab.page.wait_for_function("html => document.querySelector('.collection svg').innerHTML !== html", arg=before)
