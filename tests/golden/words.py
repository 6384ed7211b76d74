"""When two shown texts are the same: in all words and whole numbers, and in figures up to what processors differ in."""

from __future__ import annotations

import re
from html.parser import HTMLParser

FIGURE = re.compile(r"[0-9]+\.[0-9]+(?:e[+-]?[0-9]+)?|[0-9]{1,3}(?:,[0-9]{3})+")
# Iterations that stop at a tolerance end elsewhere where the processor rounds in another way: errors differed by
# 0.3 % between two machines, a last digit by 1, and numbers of users that are sought from 8,191 to 8,190. Whole numbers
# below 1,000 (ranks, percent) and words are the same.
ROUNDING = 0.01

MADE_BY = re.compile(r", Python \d.*")
HIDDEN = frozenset({"style", "script", "svg", "title", "template"})
INLINE = frozenset(
    {"a", "abbr", "b", "code", "em", "i", "mark", "small", "span", "strong", "sub", "sup", "time", "wbr"}
)
CELLS = frozenset({"td", "th"})


def in_words(text: str) -> list[str]:
    """Return the words of each line, with a dot for every figure that is not whole, or is 1,000 or more."""
    return [" ".join(FIGURE.sub(".", line).split()) for line in text.splitlines()]


def figures(text: str) -> list[tuple[float, float]]:
    """Return the figures that are not whole, or are 1,000 or more, each with one unit of its last digit."""
    found = []
    for figure in FIGURE.findall(text):
        digits, _, power = figure.replace(",", "").partition("e")
        found.append((float(figure.replace(",", "")), float(f"1e{int(power or 0) - len(digits.partition('.')[2])}")))
    return found


def assert_same(now: str, shown: str) -> None:
    assert in_words(now) == in_words(shown)
    for (of_now, _), (of_shown, last_digit) in zip(figures(now), figures(shown), strict=True):
        assert abs(of_now - of_shown) <= max(ROUNDING * of_shown, 1.001 * last_digit), (of_now, of_shown)


class _Page(HTMLParser):
    """Takes the text of a page: a line for each block, and cells of a row side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = [""]
        self.hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in HIDDEN:
            self.hidden.append(tag)
        elif tag in CELLS:
            self.lines[-1] += " | "
        elif tag not in INLINE:
            self.lines.append("")
        if tag == "img" and (words := dict(attrs).get("alt")):
            self.lines.append(f"[{words}]")

    def handle_endtag(self, tag: str) -> None:
        if self.hidden and tag == self.hidden[-1]:
            self.hidden.pop()
        elif tag not in INLINE | CELLS:
            self.lines.append("")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.lines[-1] += data


def page_text(page: str) -> str:
    """Return what a page says, up to the versions that made it, and to its glossary, which many pages share."""
    parser = _Page()
    parser.feed(page)
    lines = [" ".join(line.split()) for line in parser.lines]
    kept = lines[: lines.index("Glossary")] if "Glossary" in lines else lines
    return "".join(f"{MADE_BY.sub('', line)}\n" for line in kept if line)
