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
