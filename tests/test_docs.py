"""What README and docs show is what the tool prints; ``python -m tests.test_docs [PAGE...]`` writes it anew."""

import re
import sys
from functools import cache
from pathlib import Path

import pytest

from advisor.cli.options import COMMANDS
from simulator import foreign
from tests.golden.corpus import at, forget_members, run
from tests.golden.words import assert_same

ROOT = Path(__file__).parent.parent
PAGES = {
    page.relative_to(ROOT).as_posix(): page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
TEXTS = {name: page.read_text(encoding="utf-8") for name, page in PAGES.items()}
# What stands before an output, the command, the output, and what stands behind it: as code, or rendered as Markdown.
CONSOLE = re.compile(r"(<!-- run -->\n```console\n\$ (.*?)\n)(.*?)(```)", flags=re.DOTALL)
MARKDOWN = re.compile(r"(<!-- run markdown: (.*?) -->\n)(.*?)(<!-- end -->)", flags=re.DOTALL)
SHOWN = [
    (page, *match[1:3])
    for page, text in TEXTS.items()
    for pattern in (CONSOLE, MARKDOWN)
    for match in pattern.findall(text)
]
LONGEST = {"README.md": 150}  # lines; other pages have at most 120
# Examples of a page share their names; what they take for granted stands in a comment before them.
PYTHON = re.compile(r"^(?:```python|<!-- python)\n(.*?)^(?:```|-->)$", flags=re.DOTALL | re.MULTILINE)
EXAMPLES = {page: blocks for page, text in TEXTS.items() if (blocks := PYTHON.findall(text))}


def answered(command):
    assert command.startswith("ldp-advise ")
    with at(ROOT, "80"):  # columns, of which a page of the site has room
        code, out, err = run(command)
    assert code == 0, err
    return "".join(f"{line.rstrip()}\n" for line in out.splitlines())


def _marks(page):
    return [] if page == "README.md" else [pytest.mark.slow]  # some eighty commands take most of a minute


@pytest.mark.parametrize(
    ("page", "command", "output"),
    [pytest.param(*shown, id=f"{shown[0]}: {shown[1]}", marks=_marks(shown[0])) for shown in SHOWN],
)
def test_shown_output_is_real(page, command, output):
    assert_same(answered(command), output)


@pytest.mark.parametrize("page", [pytest.param(page, marks=_marks(page)) for page in EXAMPLES])
def test_python_examples_run(page, tmp_path, monkeypatch):
    for folder in ("examples", "tests"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)  # an example may write files
    monkeypatch.setattr(foreign, "_packages", dict(foreign._packages))  # or register a member
    names = {"__name__": "page"}
    try:
        for block in EXAMPLES[page]:
            exec(compile(block, page, "exec"), names)  # noqa: S102 - our own examples
    finally:
        forget_members()


def test_the_example_is_the_one_in_the_text():
    for page, file, line in (
        ("research", "soft", "np.sign(estimate) * np.maximum(np.abs(estimate) - noise.sd / 2, 0.0)"),
        ("research", "soft", ".max(axis=-1)"),
        ("own_protocols", "own_matrix", "weights = np.where(holds, np.exp(epsilon), 1.0)"),
        ("own_protocols", "one_by_one", "[client(value, k, epsilon, rng) for value in values.tolist()]"),
    ):
        assert line in TEXTS[f"docs/{page}.md"]
        assert line in (ROOT / f"examples/{file}.py").read_text(encoding="utf-8")


LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in LINK.findall(TEXTS[page]):
        assert (PAGES[page].parent / target).exists() or target.startswith("_made/"), target


def rows_of(page, start):
    rows, names = [], list[str]()
    for line in TEXTS[page].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith(start):
            names = cells
        elif not line.startswith("|"):
            names = []
        elif names and not set(line) <= set("|-: "):
            rows.append(dict(zip(names, cells, strict=True)))
    return rows


def leading(cell):
    return float(cell.split()[0].replace("−", "-"))


def test_the_costs_of_predictions_in_the_readme_are_those_of_their_tables():
    pairs = rows_of("docs/evidence_predictions.md", "| on | metric |")
    columns = "regret (95 %, worst)", "without data", "usual"
    named, blind, default = ([leading(row[name]) for row in pairs] for name in columns)
    sentence = re.search(
        r"\[at most (\d+) % over the best pair on average\]\(docs/evidence_predictions.md\), (\d+) to (\d+) % without "
        r"data; the usual default (\d+) to (\d+) %",
        " ".join(TEXTS["README.md"].split()),
    )
    assert len(pairs) == 20
    figures = max(named), min(blind), max(blind), min(default), max(default)
    for shown, figure in zip(sentence.groups(), figures, strict=True):
        assert abs(int(shown) - figure) <= 0.5, sentence[0]


def test_stated_errors_among_the_claims_are_those_of_their_tables():
    tables = [rows_of("docs/evidence_estimates.md", start) for start in ("| categories |", "| truth |")]
    stated = [leading(row["stated / actual"]) for rows in tables for row in rows]
    claim = (
        f"few categories, spikes and heavy tails: stated error {min(stated):.2f} to {max(stated):.2f} of the true one"
    )
    assert claim in TEXTS["docs/evidence.md"]


def test_the_readme_is_one_that_people_read():
    assert sum(page == "README.md" for page, _, _ in SHOWN) == 2


def test_pages_are_short():
    long = {page: lines for page, text in TEXTS.items() if (lines := len(text.splitlines())) > LONGEST.get(page, 120)}
    assert not long


@cache
def options_of(command):
    text = answered(f"ldp-advise {command} --help --verbose")
    return frozenset(re.findall(r"--[a-z][a-z-]*", text))


@pytest.mark.slow
def test_every_option_that_is_named_is_one_of_its_command():
    named = 0
    for text in TEXTS.values():
        prose = re.sub(r"```.*?```|<!-- run markdown.*?<!-- end -->", "", text, flags=re.DOTALL)
        for span in sorted({" ".join(span.split()) for span in re.findall(r"`([^`]*)`", prose)}):
            words = span.removeprefix("ldp-advise ").split()
            places = 2 if words[:1] == ["knowledge"] else 1 if words and words[0] in COMMANDS else 0
            if not words[places:] or not (places or words[0].startswith("--")):
                continue
            for option in re.findall(r"--[a-z][a-z-]*", " ".join(words[places:])):
                assert option in options_of(" ".join(words[:places])), span
                named += 1
    assert named > 50


def _fresh(match):
    before, command, _, after = match.groups()
    return f"{before}{answered(command)}{after}"


if __name__ == "__main__":
    for name in sys.argv[1:] or PAGES:
        PAGES[name].write_text(MARKDOWN.sub(_fresh, CONSOLE.sub(_fresh, TEXTS[name])), encoding="utf-8")
