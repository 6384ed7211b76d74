"""The conventional order of labels: ranges, dates, weekdays, sizes, answers on a scale (words: orders.toml)."""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from importlib.resources import files
from itertools import chain, islice, pairwise
from typing import Any, TypeAlias

from advisor.inputs.numbers import decimal_signs, number, real_number

Key: TypeAlias = tuple[float, ...]

WORDS: dict[str, Any] = tomllib.loads(files(__package__).joinpath("orders.toml").read_text("utf-8"))
NO_ANSWERS = frozenset(WORDS["no_answers"])
STRANGERS = 20  # maximum of labels without a place, not counting labels that are no answer
SHARE = 10  # and at most one in this many labels
_SPREADSHEET = re.compile(r"(?:\d{1,2}-[a-z]{3}|[a-z]{3}-\d{2})")  # what a spreadsheet makes of 10-14, no stranger


def alternatives(table: Mapping[str, float]) -> dict[str, float]:
    """Return the number of each word of a table whose keys are words with "|" between them."""
    return {word: number for words, number in table.items() for word in words.split("|")}


@dataclass(frozen=True)
class Fit:
    """An order, and the places of labels in it."""

    name: str  # plural noun for the labels: "months"
    keys: dict[str, Key]  # sort keys; equal if two labels mean the same
    outside: tuple[str, ...]  # labels without a place
    cyclic: bool = False  # whether the first label follows the last
    numeric: bool = False  # whether they are ranges of numbers, or numbers with units, which are ordered by default
    doubts: tuple[str, ...] = ()  # other possible meanings of the labels, or oddities

    @property
    def labels(self) -> list[str]:
        """The labels that have a place, sorted."""
        return sorted(self.keys, key=lambda label: (self.keys[label], label))


def fit(name: str, labels: Sequence[str], key: Callable[[str], Key | None], *, cyclic: bool = False) -> Fit | None:
    """Return the fit of labels to an order; None if too many labels have no place, that is no `key`.

    Labels that are no answer ("unknown") are allowed; of the others, one in ten may have no place.
    """
    keys: dict[str, Key] = {}
    outside: list[str] = []
    strangers = 0
    most = max(1, min(len(labels) // SHARE, STRANGERS))
    for label in labels:
        place = key(label)
        if place is not None:
            keys[label] = place
            continue
        outside.append(label)
        word = label.casefold().strip().rstrip(".").replace("’", "'")
        strangers += word not in NO_ANSWERS and not _SPREADSHEET.fullmatch(word)
        if strangers > most:
            return None
    least = 3 if strangers else 2
    if len(set(keys.values())) < least or len(keys) < len(outside):
        return None
    return Fit(name, keys, tuple(outside), cyclic)


def recognised(labels: Sequence[str]) -> tuple[Fit, Fit | None] | None:
    """Return the order that labels fit best, and a different order that they fit equally well; None if none fits.

    The best order has the fewest labels without a place; among equals, ranges come before dates, dates before words.

    >>> recognised(["5-9", "10-14", "0-4"])[0].labels, recognised(["apple", "pear"])
    (['0-4', '5-9', '10-14'], None)
    """
    names, texts = list(labels), {label: " ".join(label.casefold().split()) for label in labels}
    ranges = range_fit(texts)
    fits = list(chain([] if ranges is None else [ranges], date_fits(texts), word_fits(names)))
    if not fits:
        return None
    fewest = min(len(order.outside) for order in fits)
    first, *others = (order for order in fits if len(order.outside) == fewest)
    return first, next((order for order in others if order.labels not in (first.labels, first.labels[::-1])), None)


# --- words ------------------------------------------------------------------------------------------------------

_SCALES = [
    (scale["name"], alternatives({words: at for at, words in enumerate(scale["places"])}), scale.get("cyclic", False))
    for scale in WORDS["scales"]
]
_LONGEST = max(len(places) for _, places, _ in _SCALES)
_NUMBERED = re.compile(r"\(?(?P<number>\d{1,4})\s*[).:=–-]\s*(?=[^\W\d_])")
_COUNTED = re.compile(r"(?P<before>[^\W\d][\D]*?)\s*(?P<number>\d{1,9})(?P<after>\D*)")
_ORDINAL = re.compile(r"(?P<number>\d{1,4})(?:st|nd|rd|th)\b(?P<after>.*)")


def plain_words(label: str) -> str:
    """Return a label in lower case, with single blanks for hyphens and underscores, and without a point at its end.

    >>> plain_words(" Strongly-Disagree."), plain_words("B-")
    ('strongly disagree', 'b -')
    """
    text = label.casefold().strip().rstrip(".")
    if re.fullmatch(r"[a-f][-−]", text):
        return f"{text[0]} -"
    return " ".join(text.replace("_", " ").replace("-", " ").replace("’", "'").split())


def word_fits(labels: list[str]) -> Iterator[Fit]:
    """Yield the scales whose words are the labels, and the order of numbered labels."""
    if len(labels) <= 2 * _LONGEST:
        words = {label: plain_words(label) for label in labels}
        for name, places, cyclic in _SCALES:
            keys = {label: (places[word],) for label, word in words.items() if word in places}
            if order := fit(name, labels, keys.get, cyclic=cyclic):
                yield order
    texts = {label: label.casefold().strip() for label in labels}
    for name, match in (
        ("numbered labels", _NUMBERED.match),
        ("labels with a number", _COUNTED.fullmatch),
        ("ordinals", _ORDINAL.fullmatch),
    ):
        matches = {label: matched.groupdict() for label, text in texts.items() if (matched := match(text))}
        # By a number where all around it is the same ("Band 2"), or follows it.
        numbers = {label: (float(parts.pop("number")),) for label, parts in matches.items()}
        first = next((matches[label] for label in islice(labels, 3) if label in matches), None)
        same = {label: numbers[label] for label, parts in matches.items() if parts == first}
        if order := fit(name, labels, same.get):
            yield order


# --- dates and times: 2024-01-31, Jan 2024, 2024Q1, 31.01.2024, 08:30, 8 pm -------------------------------------

_BETWEEN = re.compile(r"(?<=\d)(?:st|nd|rd|th)?[-/., ']+(?=\w)|(?<=[a-z])[-/., ']+(?=\w)")
_YEARS = range(1500, 2200)  # other numbers are probably not years
_YEAR = r"((?:1[5-9]|20|21)\d\d)"
_PART = re.compile(rf"(?:{_YEAR}[ -]?)?(?:(q|h|w)(?:eek )?|(week|quarter) )0?(\d\d?)(?:[ /-]?{_YEAR})?")
_HALF = re.compile(r"(?<=\d)\s?([ap])(?:\.?m\.?)?$|(?<=\d)\s?([ap])\.?m\.?(?=\W)")
_TIMES = ("%H:%M", "%H:%M:%S", "%H.%M", "%Hh%M", "%I:%M %p", "%I:%M:%S %p", "%I.%M %p", "%I %p")
_TIME_WORDS = {"midnight": 0.0, "noon": 12 * 3600.0, "midday": 12 * 3600.0, "24:00": 24 * 3600.0}


def date_fits(texts: dict[str, str]) -> Iterator[Fit]:
    """Yield the orders of dates and times that labels fit, given in lower case with single blanks."""
    for name, key in (("dates", _date), ("parts of years", _part)):
        if order := _fit_of(name, texts, key):
            yield order
    yield from _numeric_dates(texts)
    for name, key in (("times", _time), ("quarters, halves or weeks", _part_alone)):
        if order := _fit_of(name, texts, key, cyclic=True):
            yield order


def _fit_of(name: str, texts: dict[str, str], key: Callable[[str], Key | None], *, cyclic: bool = False) -> Fit | None:
    return fit(name, list(texts), lambda label: key(texts[label]), cyclic=cyclic)


def _date(text: str) -> Key | None:
    """Return year, month, day and time of an unambiguous date; the day is 0 if it is missing."""
    if ":" not in text:
        return _parsed(text, WORDS["dates"]["sure"])
    with suppress(ValueError):
        return _key(datetime.fromisoformat(text.upper()))
    return None


def _parsed(text: str, formats: Sequence[str]) -> Key | None:
    """Return the key of a date in one of the formats; a blank in a format matches other separators in the text."""
    plain = _BETWEEN.sub(" ", text).replace("sept ", "sep ")
    for form in formats:
        with suppress(ValueError):
            return _key(datetime.strptime(plain, form), day="%d" in form)
    return None


def _key(moment: datetime, *, day: bool = True) -> Key | None:
    year, month, *rest = moment.timetuple()[:6]
    return (year, month, *(rest if day else [0] * 4)) if year in _YEARS else None


def _numeric_dates(texts: dict[str, str]) -> Iterator[Fit]:
    """Yield the order of dates like 31/01/2024: the day first, or the month first if only that is possible."""
    first, second = (
        _fit_of(f"dates, {name}", texts, partial(_parsed, formats=WORDS["dates"][name]))
        for name in ("day before month", "month before day")
    )
    points = any(re.fullmatch(r"\d+\.\d+\.\d+", text) for text in texts.values())  # nobody writes a month first so
    if first and second and not points and not first.outside and not second.outside:
        if first.labels != second.labels:
            example = texts[next(iter(texts))]
            doubt = f"dates such as {example} can be read in two ways, and are taken with the day first"
            first = replace(first, doubts=(*first.doubts, doubt))
        yield first
        return
    orders = [order for order in (first, None if points else second) if order is not None]
    yield from sorted(orders, key=lambda order: len(order.outside))[:1]


def _part(text: str) -> Key | None:
    """Return year and number of a quarter, half or week."""
    match = _PART.fullmatch(text)
    if match is None or (match[1] is None) == (match[5] is None):
        return None
    number = _part_number(match)
    return None if number is None else (float(match[1] or match[5]), *number)


def _part_alone(text: str) -> Key | None:
    match = _PART.fullmatch(text)
    return None if match is None or match[1] or match[5] else _part_number(match)


def _part_number(match: re.Match[str]) -> Key | None:
    """Return the kind of part of a year, and its number; None if no year has so many."""
    kind, number = (match[2] or match[3])[0], int(match[4])
    return ("qhw".index(kind), number) if 1 <= number <= {"q": 4, "h": 2, "w": 53}[kind] else None


def _time(text: str) -> Key | None:
    """Return the seconds since midnight at which a time, or a range of times, begins and ends."""
    plain = _HALF.sub(lambda match: f" {match[1] or match[2]}m", text)
    ends = re.split(r"\s*(?:-|–|\bto\b)\s*", plain)
    half = plain[-3:] if plain.endswith(" pm") or plain.endswith(" am") else ""  # 8-10 pm
    seconds = [_seconds(end) if "m" in end else _seconds(end + half) for end in ends]
    if None in seconds or len(seconds) > 2:
        return None
    return tuple(second or 0.0 for second in (*seconds, 0.0)[:2])


def _seconds(time: str) -> float | None:
    """Return the seconds since midnight of a time."""
    for form in () if re.search(r"[:.h]\d(?!\d)", time) else _TIMES:  # 1.5 is no time
        with suppress(ValueError):
            moment = datetime.strptime(time, form)
            return 3600.0 * moment.hour + 60 * moment.minute + moment.second
    return _TIME_WORDS.get(time)


# --- ranges of numbers, numbers with units: 5-9, under 18, 65+, $25,000 to $49,999, 1-2 hours, (0, 5] -----------


def _any_of(words: str) -> str:
    """Return a pattern that matches any of the words, the longest first."""
    return "|".join(map(re.escape, sorted(WORDS["ranges"][words], key=len, reverse=True)))


_FAMILIES = [alternatives(table) for table in WORDS["units"]]
_CURRENCY = r"(?:(?:\b(?:us|r|a|c|nz|hk))?[$€£¥₹₩₽₺]|\b(?:usd|eur|gbp|chf)\b)"
_JOINING = "|".join(map(_any_of, ("between", "or_below", "or_above")))
_WORD = rf"(?!(?:{_JOINING}|or|plus|am|pm)\b)[^\W\d_]+(?=\W|$)"
_VALUE = rf"([-−]?)\s*{_CURRENCY}?\s*([-−]?)((?:\d[\d., ]*)?\d)\s*{_CURRENCY}?\s*((?:%|°\s?[cf]|{_WORD})?)"
_FIRST = rf"(?:(?:{_any_of('first')})\s+)?"
_TO = rf"\s*(?:-|–|—|−|\.\.+|…|\b(?:{_any_of('between')})\b)\s*"
_ABOUT = re.compile(r"(?:\b(?:aged?|ages|between|from)\b|\b(?:years?|yrs?)[ -](?:old|of age)\b|\bp\.?a\.?$)")
_RANGE = re.compile(rf"{_FIRST}{_VALUE}{_TO}{_VALUE}")
_ONE = re.compile(_VALUE)
_BELOW, _ABOVE = (re.compile(rf"(?:{_any_of(words)})\s*{_VALUE}") for words in ("below", "above"))
_BELOW_AFTER = re.compile(rf"{_FIRST}{_VALUE}\s*(?:{_any_of('or_below')})")
_ABOVE_AFTER = re.compile(rf"{_FIRST}{_VALUE}\s*(?:\+|plus\b|{_any_of('or_above')})\s*((?:[^\W\d_]+)?)")
_BRACKETS = re.compile(r"[\[(]\s*(-?(?:inf|\d+(?:\.\d*)?))\s*[,;]\s*(\+?-?(?:inf|\d+(?:\.\d*)?))\s*[\])]")
_SPACED = re.compile(r"[1-9]\d{0,2}(?: \d{3})+(?:[.,]\d+)?")
_YEAR_SPAN = 10  # maximum of years in a range with a short second year, 2023-24


@dataclass(frozen=True)
class _Range:
    """A range as written: two ends in their unit."""

    low: float
    high: float
    units: tuple[str, str]


def range_fit(texts: dict[str, str]) -> Fit | None:
    """Return the fit of labels (with their plain texts) to an order of ranges and numbers, with a point or comma."""
    numbers = [text for label in islice(texts, 10_000) for text in re.findall(r"\d[\d.,]*\d", label)]
    point = [text for text in numbers if "." in text]
    dots_group = bool(point) and all(decimal_signs(text)[0] for text in point)
    order = _ranges_fit(texts, dots_group=dots_group)
    if order is None or not dots_group:
        return order
    other = _ranges_fit(texts, dots_group=False)
    if other is None or other.labels == order.labels:
        return order
    doubt = f"points between digits are taken for thousands ({point[0]} is {point[0].replace('.', '')})"
    return replace(order, doubts=(*order.doubts, doubt))


def _ranges_fit(texts: dict[str, str], *, dots_group: bool) -> Fit | None:
    parsed: dict[str, _Range] = {}

    def key(label: str) -> tuple[float, ...] | None:
        parsed_range = _range_in(texts[label], dots_group=dots_group)
        if parsed_range is None:
            return None
        parsed[label] = parsed_range
        return parsed_range.low, parsed_range.high

    rough = fit("ranges", list(texts), key)
    factors = None if rough is None else _factors(parsed.values())
    if rough is None or factors is None:
        return None
    keys = {label: _scaled(parsed_range, factors) for label, parsed_range in parsed.items()}
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
    words = any(unit for parsed_range in parsed.values() for unit in parsed_range.units)
    spans = any(low != high for low, high in keys.values())
    name = "ranges" if spans else "numbers with units" if words else "numbers"
    return Fit(name, dict(keys), rough.outside, numeric=not (codes or plain or overlap), doubts=tuple(doubts))


def _range_in(text: str, *, dots_group: bool) -> _Range | None:
    """Return the range in a text, or None."""
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
    """Return a number with thousands separators or a decimal comma; None if the text is not a number."""
    if " " in text and not _SPACED.fullmatch(text):  # two numbers: row and column of a map
        return None
    values = (real_number(text.replace(" ", ""), comma=comma) for comma in (dots_group, not dots_group))
    return next((value for value in values if isinstance(value, float)), None)


def _unit(word: str) -> str:
    """Return a unit in the singular."""
    word = word.replace(" ", "")
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def _factors(ranges: Iterable[_Range]) -> dict[str, float] | None:
    """Return the factor of each unit in the ranges; None if the units are incompatible."""
    used = {unit for each in ranges for unit in each.units if unit}
    if len(used) <= 1:
        scale = _FAMILIES[0]
        return {unit: scale.get(unit, 1.0) for unit in used}
    return next((family for family in _FAMILIES if used <= family.keys()), None)


def _scaled(parsed: _Range, factors: dict[str, float]) -> tuple[float, float]:
    """Return the ends in the smallest unit; a unit only at the second end applies to both if that gives a range."""
    first, last = parsed.units
    low, high = parsed.low * factors.get(first, 1.0), parsed.high * factors.get(last, 1.0)
    shared = parsed.low * factors.get(first or last, 1.0)
    return (shared if shared <= high else low), high


def _overlap(labels: list[str], keys: dict[str, tuple[float, float]]) -> tuple[str, str] | None:
    """Return two labels of which one begins before the other ends."""
    return next(((low, high) for low, high in pairwise(labels) if keys[high][0] < keys[low][1]), None)


def _gap(labels: list[str], keys: dict[str, tuple[float, float]]) -> tuple[str, str] | None:
    """Return two neighbours farther apart than usual among these labels: the gap between them has no label."""
    steps = {(one, two): round(keys[two][0] - keys[one][1], 9) for one, two in pairwise(labels)}
    if len(steps) < 2 or all(low == high for low, high in keys.values()):
        return None
    usual, times = Counter(steps.values()).most_common(1)[0]
    wide = [pair for pair, step in steps.items() if step > usual and step > 1]
    return wide[0] if wide and 2 * times > len(steps) else None
