"""Ranges of numbers and numbers with units: 5-9, under 18, 65+, $25,000 to $49,999, 1-2 hours, (0, 5]."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

from advisor.inputs.numbers import decimal_signs, number, real_number
from advisor.inputs.orders.fit import WORDS, Fit, alternatives, fit

_FAMILIES = [alternatives(table) for table in WORDS["units"]]
_CURRENCY = r"(?:[$€£¥]|\b(?:usd|eur|gbp|chf)\b)"
_WORD = r"(?!(?:to|until|through|bis|à|a|and|or|plus|und|et|y|o|am|pm)\b)[^\W\d_]+(?=\W|$)"
_VALUE = rf"([-−]?)\s*{_CURRENCY}?\s*([-−]?)((?:\d[\d., ]*)?\d)\s*{_CURRENCY}?\s*((?:%|°\s?[cf]|{_WORD})?)"
_TO = r"\s*(?:-|–|—|−|\.\.+|…|\b(?:to|until|through|bis|à|a|and)\b)\s*"
_ABOUT = re.compile(r"(?:\b(?:aged?|ages|between|from)\b|\b(?:years?|yrs?)[ -](?:old|of age)\b|\bp\.?a\.?$)")
_RANGE = re.compile(rf"{_VALUE}{_TO}{_VALUE}")
_ONE = re.compile(_VALUE)
_BELOW = re.compile(
    r"(?:<=?|≤|under|below|less than|fewer than|younger than|up to|at most|until|unter|bis(?: zu)?|moins de|menos de)"
    rf"\s*{_VALUE}"
)
_BELOW_AFTER = re.compile(
    rf"{_VALUE}\s*(?:(?:or|and) (?:less|under|fewer|below|younger|lower)|und (?:jünger|weniger)|et moins|o menos)"
)
_ABOVE = re.compile(
    r"(?:>=?|≥|over|above|more than|older than|at least|über|ab|mehr als|plus de|más de)" + rf"\s*{_VALUE}"
)
_ABOVE_AFTER = re.compile(
    rf"{_VALUE}\s*(?:\+|plus\b|(?:or|and) (?:more|over|older|above|up|higher|greater)|und (?:älter|mehr)|et plus|"
    r"y más|o más|upwards)\s*((?:[^\W\d_]+)?)"
)
_BRACKETS = re.compile(r"[\[(]\s*(-?(?:inf|\d+(?:\.\d*)?))\s*[,;]\s*(\+?-?(?:inf|\d+(?:\.\d*)?))\s*[\])]")
_SPACED = re.compile(r"[1-9]\d{0,2}(?: \d{3})+(?:[.,]\d+)?")
_SPREADSHEET = re.compile(r"(?:\d{1,2}-[a-z]{3}|[a-z]{3}-\d{2})")
_YEAR_SPAN = 10  # years that a range with a short second year, 2023-24, has at most


@dataclass(frozen=True)
class _Range:
    """A range as it is written: two ends in their unit."""

    low: float
    high: float
    units: tuple[str, str]


def range_fit(labels: list[str]) -> Fit | None:
    """Return how labels fit an order of ranges and numbers, written with a decimal point or comma."""
    texts = {label: " ".join(label.casefold().split()) for label in labels}
    numbers = [text for label in labels[:10_000] for text in re.findall(r"\d[\d.,]*\d", label)]
    point = [text for text in numbers if "." in text]
    dots_group = bool(point) and all(decimal_signs(text)[0] for text in point)
    found = _fit_of(texts, dots_group=dots_group)
    if found is None or not dots_group:
        return found
    other = _fit_of(texts, dots_group=False)
    if other is None or other.labels == found.labels:
        return found
    doubt = f"points between digits are taken for thousands ({point[0]} is {point[0].replace('.', '')})"
    return replace(found, doubts=(*found.doubts, doubt))


def _fit_of(texts: dict[str, str], *, dots_group: bool) -> Fit | None:
    parsed: dict[str, _Range] = {}

    def key(label: str) -> tuple[float, ...] | None:
        one = _parsed(texts[label], dots_group=dots_group)
        if one is None:
            return None
        parsed[label] = one
        return one.low, one.high

    rough = fit("ranges", list(texts), key)
    factors = None if rough is None else _factors(parsed.values())
    if rough is None or factors is None:
        return None
    keys = {label: _scaled(one, factors) for label, one in parsed.items()}
    if any(low > high for low, high in keys.values()):
        return None
    codes = any(number(label) is None and label.isdigit() for label in parsed)  # 02138
    plain = all(number(label) is not None for label in parsed)
    in_order = sorted(keys, key=lambda label: (keys[label], label))
    overlap, gap = _overlap(in_order, keys), _gap(in_order, keys)
    excel = [label for label in rough.outside if _SPREADSHEET.fullmatch(texts[label])]
    doubts = [
        *([f"{overlap[0]!r} and {overlap[1]!r} overlap"] if overlap else []),
        *([f"no label covers what lies between {gap[0]!r} and {gap[1]!r}"] if gap else []),
        *([f"{excel[0]!r} looks like a range that a spreadsheet has turned into a date"] if excel else []),
    ]
    words = any(unit for one in parsed.values() for unit in one.units)
    spans = any(low != high for low, high in keys.values())
    name = "ranges" if spans else "numbers with units" if words else "numbers"
    return Fit(name, dict(keys), rough.outside, numeric=not (codes or plain or overlap), doubts=tuple(doubts))


def _parsed(text: str, *, dots_group: bool) -> _Range | None:
    """Return what a text says in numbers, or None."""
    if match := _BRACKETS.fullmatch(text):
        return _Range(float(match[1]), float(match[2]), ("", ""))
    text = " ".join(_ABOUT.sub(" ", text).split()).removesuffix(" old")

    def value(groups: tuple[str, ...]) -> float | None:
        amount = _amount(groups[2], dots_group=dots_group)
        return -amount if amount is not None and (groups[0] or groups[1]) else amount

    if match := _RANGE.fullmatch(text):
        low, high = value(match.groups()[:4]), value(match.groups()[4:])
        if low is None or high is None:
            return None
        if high < low and 1000 <= low < 10_000 and high < 100:  # 2023-24
            high += low // 100 * 100 + (100 if high < low % 100 else 0)
            return _Range(low, high, ("", "")) if low < high <= low + _YEAR_SPAN else None
        return _Range(low, high, (_unit(match[4]), _unit(match[8])))
    for pattern in (_BELOW, _BELOW_AFTER, _ABOVE, _ABOVE_AFTER, _ONE):
        if match := pattern.fullmatch(text):
            amount = value(match.groups()[:4])
            if amount is None:
                return None
            low = -math.inf if pattern in (_BELOW, _BELOW_AFTER) else amount
            high = math.inf if pattern in (_ABOVE, _ABOVE_AFTER) else amount
            unit = _unit(match[4]) or (_unit(match[5]) if pattern is _ABOVE_AFTER else "")
            return _Range(low, high, (unit, unit))
    return None


def _amount(text: str, *, dots_group: bool) -> float | None:
    """Return a number with separators of thousands, or a decimal comma; None if it is none."""
    if " " in text and not _SPACED.fullmatch(text):  # two numbers: row and column of a map
        return None
    values = (real_number(text.replace(" ", ""), comma=comma) for comma in (dots_group, not dots_group))
    return next((value for value in values if isinstance(value, float)), None)


def _unit(word: str) -> str:
    """Return a unit in the singular."""
    word = word.replace(" ", "")
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def _factors(ranges: Iterable[_Range]) -> dict[str, float] | None:
    """Return what each unit that occurs is worth; None if they do not go together."""
    used = {unit for one in ranges for unit in one.units if unit}
    if len(used) <= 1:
        scale = _FAMILIES[0]
        return {unit: scale.get(unit, 1.0) for unit in used}
    return next((family for family in _FAMILIES if used <= family.keys()), None)


def _scaled(one: _Range, factors: dict[str, float]) -> tuple[float, float]:
    """Return the ends in the smallest unit; a unit that stands at the end alone is that of both, if that is a range."""
    first, last = one.units
    low, high = one.low * factors.get(first, 1.0), one.high * factors.get(last, 1.0)
    shared = one.low * factors.get(first or last, 1.0)
    return (shared if shared <= high else low), high


def _overlap(labels: list[str], keys: dict[str, tuple[float, float]]) -> tuple[str, str] | None:
    """Return two labels of which one begins before the other ends."""
    return next(((one, two) for one, two in pairwise(labels) if keys[two][0] < keys[one][1]), None)


def _gap(labels: list[str], keys: dict[str, tuple[float, float]]) -> tuple[str, str] | None:
    """Return two neighbours that lie farther apart than neighbours usually do here: what is between has no label."""
    steps = {(one, two): round(keys[two][0] - keys[one][1], 9) for one, two in pairwise(labels)}
    if len(steps) < 2 or all(low == high for low, high in keys.values()):
        return None
    usual, times = Counter(steps.values()).most_common(1)[0]
    wide = [pair for pair, step in steps.items() if step > usual and step > 1]
    return wide[0] if wide and 2 * times > len(steps) else None
