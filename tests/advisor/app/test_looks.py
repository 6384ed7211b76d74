import io
import os
from pathlib import Path

import pytest

from tests.advisor.app.conftest import Tab, serving

pytestmark = pytest.mark.slow

PICTURES_WANTED = "LDP_ADVISE_PICTURES" in os.environ  # before the developer's own settings are taken out
PICTURES = Path(__file__).parents[3] / "docs"
QUERIES = (
    "goal=plan",
    "goal=estimate&file=example",
    "goal=compare",
    "goal=places",
    "goal=places&file=example&counts=people",
)


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
@pytest.mark.parametrize("query", QUERIES)
def test_everybody_can_use_it(query, width, scheme, browser, server):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    tab = Tab(context.new_page(), server.address).go(query)
    tab.verdict()
    tab.page.wait_for_selector("#rest figure svg" if "places" in query else "#why summary")
    for summary in tab.page.query_selector_all("details:not([open]) > summary"):
        summary.click()
    found = axe.Axe().run(tab.page)
    rules = {
        one["id"]: [(node["html"][:150], node["any"][:1] and node["any"][0]["message"]) for node in one["nodes"]][:3]
        for one in found.response["violations"]
    }
    assert rules == {}
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.problems == []
    context.close()


@pytest.mark.parametrize(
    ("name", "query", "width", "scheme"),
    [
        ("app_plan", "goal=plan", 1280, "light"),
        ("app_compare_dark", "goal=compare&k=300&n=2M", 1280, "dark"),
        ("app_estimate_phone", "goal=estimate&file=example", 390, "light"),
    ],
)
def test_the_pictures_of_the_docs_are_of_this_page(name, query, width, scheme, request, tmp_path_factory):
    """Made anew with LDP_ADVISE_PICTURES=1; otherwise they must be there, small, and of that width."""
    image = pytest.importorskip("PIL.Image", reason="the pictures need Pillow, which matplotlib brings")
    target = PICTURES / f"{name}.webp"
    if PICTURES_WANTED:
        browser, pages = request.getfixturevalue("browser"), serving(tmp_path_factory)
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        tab = Tab(context.new_page(), next(pages).address).go(query)
        tab.verdict()
        tab.page.wait_for_selector(".explorer")
        if name != "app_plan":
            tab.simulated()
        if name == "app_compare_dark":  # what it says of other budgets follows a little later
            tab.page.wait_for_function("() => document.querySelector('.explorer').textContent.includes('Simulated at')")
        tab.page.wait_for_timeout(1500)  # until the rest has begun and what fades has faded
        tab.page.wait_for_function("() => !document.querySelector('.recalculating, .older')", timeout=60_000)
        with image.open(io.BytesIO(tab.page.screenshot())) as shot:
            shot.save(target, "WEBP", quality=82, method=6)
        context.close()
        next(pages, None)
    with image.open(target) as shown:
        assert shown.size == (width, 900)
    assert target.stat().st_size < 150_000
