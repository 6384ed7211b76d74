import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
FIRST = 3  # results of a search that people look at
WITHOUT_SOURCES = "extensions=myst_parser,sphinx.ext.autodoc,sphinx.ext.napoleon"  # pages of source are not searched

# What is asked, what somebody types into the search, and the pages that answer it.
QUESTIONS = {
    "which protocol has the shortest report": ("shortest report", {"verdict", "planning"}),
    "how do I read xxhash reports": ("xxhash reports", {"reports", "estimate"}),
    "what is a tie": ("tie", {"verdict"}),
    "what does ε = 1 mean": ("what does ε mean", {"ldp", "choosing_epsilon"}),
    "which ε should I take": ("choose epsilon", {"choosing_epsilon", "ldp"}),
    "my estimate has negative values": ("negative estimate", {"estimate", "ldp"}),
    "my frequencies do not sum to 1": ("sum to 1", {"estimate"}),
    "how many users do I need": ("how many users", {"planning", "tutorial_plan"}),
    "how rare may a category be": ("smallest frequency", {"planning", "verdict"}),
    "is it worth collecting": ("worth collecting", {"verdict", "tutorial_office"}),
    "my categories are ages": ("ages incomes", {"numbers", "input"}),
    "do my categories have an order": ("order of categories", {"ordered_domains", "numbers"}),
    "how do I use a map": ("map places", {"places"}),
    "users report every day": ("rounds", {"rounds"}),
    "what is memoisation": ("memoise", {"rounds"}),
    "several attributes of each user": ("several attributes", {"attributes"}),
    "I have a shuffler": ("shuffler", {"shuffler"}),
    "how do I get client code": ("client code", {"code", "verdict"}),
    "does my client keep its promise": ("audit client", {"privacy_tests", "audit"}),
    "what can an attacker guess": ("attacker guess", {"privacy_tests", "audit", "planning"}),
    "how do I compare my own method": ("own method", {"research"}),
    "which error metric": ("error metric", {"_made/menu", "ldp"}),
    "how do I use it in a notebook": ("notebook", {"python"}),
    "how do I use it in a pipeline": ("exit code", {"output", "_made/commands", "verdict"}),
    "which files can it read": ("csv parquet", {"input", "output", "reports"}),
    "why should I believe it": ("believe", {"evidence"}),
    "what does a verdict mean": ("verdict", {"verdict"}),
    "how do I run it on a cluster": ("cluster", {"speed"}),
    # Whole sentences are typed too, with words that the answer does not have.
    "what if users answer every week": ("what if users answer every week", {"rounds"}),
    "how do I merge tallies": ("how do I merge tallies of two servers", {"reports"}),
    "which ε do others use": ("what epsilon do other companies use", {"choosing_epsilon"}),
    "ε in plain words": ("what does epsilon mean in plain words", {"ldp"}),
    "what can fake users do": ("what can fake users do to my figures", {"poisoning"}),
    "my estimate has negative numbers": ("my estimate has negative numbers", {"estimate"}),
    "can I trust the probabilities": ("can I trust the probabilities", {"evidence_estimates"}),
    "intervals for each category": ("how do I get confidence intervals for each category", {"estimate"}),
    "which protocol was used": ("do I have to know the protocol that was used", {"estimate"}),
    "how do I add my own protocol": ("how do I add my own protocol", {"research"}),
    "how do I cite it": ("how do I cite it", {"papers"}),
    "which licence": ("which licence / is it free", {"papers"}),
    "is the simulation exact": ("is the simulation exact or an approximation", {"evidence"}),
    "how do I reproduce a result": ("how do I reproduce a result", {"output"}),
    "may I publish this figure": ("may I publish this figure", {"estimate", "evidence"}),
    "does my data leave my computer": ("does my data leave my computer", {"evidence"}),
    "is it anonymous": ("is this anonymous under GDPR", {"code"}),
    "what does privacy cost": ("what does it cost me in accuracy compared to no privacy", {"choosing_epsilon"}),
    "how large will the error be": ("how large will the error be", {"verdict", "tutorial_plan"}),
    "how do I install it": ("how do I install it", {"index"}),
    "cities": ("my categories are cities on a map", {"places"}),
    "does the order matter": ("does the order of my age groups matter", {"ordered_domains"}),
    "does my app leak": ("how do I test whether my app leaks", {"privacy_tests"}),
    "people who lie": ("what happens if some people lie", {"poisoning"}),
    "excel": ("how do I export the result to excel", {"output"}),
    "several questions": ("can I ask several questions at once", {"attributes"}),
    "a report for my boss": ("how do I get a report for my boss", {"page"}),
    "what is worth collecting": ("is my data worth collecting", {"verdict"}),
}
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)\.md(?:#[^)]*)?\)")


def links_of(page):
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    found = set(LINK.findall(text))
    for block in re.findall(r"```\{toctree\}\n(.*?)```", text, flags=re.DOTALL):
        found |= {line for line in block.splitlines() if line and not line.startswith(":")}
    return found


def test_every_answer_is_two_clicks_from_the_first_page():
    assert len(QUESTIONS) >= 20
    once = links_of("index")
    assert "questions" in once
    twice = once | links_of("questions")
    for question, (_, answers) in QUESTIONS.items():
        assert answers <= twice, question


def test_questions_are_short_and_lead_on():
    text = (DOCS / "questions.md").read_text(encoding="utf-8")
    sections = text.split("\n## ")[1:]
    assert len(sections) >= 20
    for section in sections:
        assert LINK.search(section), section.splitlines()[0]
        assert len(section.split()) < 75, section.splitlines()[0]


# The site's own search, its index, and what a browser would have.
BROWSER = """
var window = globalThis, SPHINX_HIGHLIGHT_ENABLED = false, DOCUMENTATION_OPTIONS = {};
var _ready = () => {}, _ = text => text, document = {
  getElementById: () => ({childNodes: [], firstChild: null}), addEventListener: (_, run) => run(),
};
var localStorage = {setItem: () => {}};
"""
ASK = """
console.log(JSON.stringify(QUERIES.map(query => Search._performSearch(...Search._parseQuery(query)).map(
  result => [result[0], result[2]]
).reverse())));  // results are shown from the last one on
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("furo", reason="needs the extra 'docs'")
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-D", WITHOUT_SOURCES, "-d", str(target / "tmp")]
    subprocess.run([*command, str(DOCS), str(target / "html")], check=True, capture_output=True)
    return target / "html"


def found_by(site, queries, folder):
    """Return for each query the pages (and places on them) that the search of the site lists, best first."""
    parts = [BROWSER]
    parts += [
        (site / name).read_text(encoding="utf-8")
        for name in ("_static/language_data.js", "_static/searchtools.js", "_static/search.js", "searchindex.js")
    ]
    parts.append(f"const QUERIES = {json.dumps(queries)};{ASK}")
    script = folder / "search.js"
    script.write_text("\n".join(parts), encoding="utf-8")
    done = subprocess.run(["node", str(script)], capture_output=True, text=True, check=True)
    return [[(page, place) for page, place in results] for results in json.loads(done.stdout)]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="the search of the site is a program for browsers; needs node")
def test_one_search_finds_the_answer(site, tmp_path):
    results = found_by(site, [typed for typed, _ in QUESTIONS.values()], tmp_path)
    sections = (site / "questions.html").read_text(encoding="utf-8").split('<section id="')
    lead = {
        f"#{name}": set(re.findall(r'href="([\w/]+)\.html', text))
        for name, _, text in (section.partition('"') for section in sections)
    }
    missed = {
        question: pages[: FIRST + 2]
        for (question, (_, answers)), pages in zip(QUESTIONS.items(), results, strict=True)
        # The right heading of the page of questions is an answer; that page as a whole is not.
        if not any(
            page in answers or (page == "questions" and lead[place or "#questions"] & answers)
            for page, place in pages[:FIRST]
        )
    }
    assert not missed, missed
