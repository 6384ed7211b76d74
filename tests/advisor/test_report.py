import re
from importlib.util import find_spec

import pytest

from advisor.cli.app import main
from tests.advisor.test_decision import Balanced

NASTY = """label,count
<script>document.title='broken'</script>,5000
"<img src=x onerror=""alert(1)"">",3000
plain,2000
"""
MOST_BYTES = 500_000
pytestmark = pytest.mark.skipif(
    not find_spec("matplotlib"), reason="its pictures need matplotlib: pip install 'ldp-advise[plot]'"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    sample, target = folder / "nasty.csv", folder / "page.html"
    sample.write_text(NASTY, encoding="utf-8")
    asked = "--eps 1 --reps 4 --max-reps 4 -p grr,oue,olh --format value"
    words = ["-q", *asked.split(), "--report", str(target), str(sample)]
    assert main(words) == 0
    return target


def test_the_page_is_small_whole_and_alone(page):
    text = page.read_text(encoding="utf-8")
    assert len(page.read_bytes()) < MOST_BYTES
    assert not re.search(r'(?:src|href)="(?!data:|#)', text.replace('xlink:href="#', 'href="#'))
    assert "@import" not in text
    assert text.count("<script>") == 1  # our own
    assert "<img" not in text
    command = "ldp-advise --eps 1 --reps 4 --max-reps 4 -p grr,oue,olh --format value"
    assert re.search(rf"<pre>{command} \S+nasty.csv</pre>", text)
    assert "numpy" in text
    Balanced(text)


def opened(browser, page, width=1200):
    shown = browser.new_page(viewport={"width": width, "height": 844})
    shown.goto(page.as_uri())
    return shown


@pytest.mark.slow
def test_the_dials_move_every_figure_by_keyboard_and_go_back(page, browser):
    shown = opened(browser, page)

    def figures():
        return shown.locator(".readouts dd").all_text_contents()

    def dot():
        circle = shown.locator(".curve circle")
        return circle.get_attribute("cx"), circle.get_attribute("cy")

    before, place = figures(), dot()
    epsilon, users = shown.get_by_role("slider").all()
    epsilon.focus()
    shown.keyboard.press("ArrowRight")
    assert epsilon.get_attribute("aria-valuetext") == "ε = 1.5"
    # error, share, users off, detectable, promise and attack; the pair may stay
    moved = [one != other for one, other in zip(figures(), before, strict=True)]
    assert all(moved[:5])
    assert moved[6]
    assert "ε = 1.5" in figures()[4]
    assert dot()[0] != place[0]
    after = figures()
    users.focus()
    shown.keyboard.press("End")
    assert all(one != other for one, other in zip(figures()[:4], after[:4], strict=True))
    assert shown.locator("polyline.main.chosen").count() == 1
    shown.get_by_role("button", name="Back to the question").click()
    api = pytest.importorskip("playwright.sync_api")
    api.expect(shown.locator("output").first).to_have_text("ε = 1")
    assert (figures(), dot()) == (before, place)
    shown.close()


@pytest.mark.slow
def test_every_script_but_ours_is_refused(page, browser, tmp_path):
    changed = tmp_path / "changed.html"
    text = page.read_text(encoding="utf-8")
    changed.write_text(text.replace("</main>", "<script>document.title='broken'</script></main>"), encoding="utf-8")
    shown = opened(browser, changed)
    assert shown.title() != "broken"
    assert shown.locator("form.dials").is_visible()  # ours ran
    shown.close()
