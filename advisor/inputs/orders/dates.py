"""Dates and times: 2024-01-31, Jan 2024, 2024Q1, 31.01.2024, 08:30, 8 pm."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial

from advisor.inputs.orders.fit import Fit, Key, fit

_FORMATS = ("%Y %m %d", "%Y %m", "%m %Y", "%b %Y", "%B %Y", "%Y %b", "%Y %B", "%d %b %Y", "%d %B %Y", "%b %d %Y",
            "%B %d %Y", "%b %y", "%B %y")  # fmt: skip
_DAY_FIRST, _MONTH_FIRST = ("%d %m %Y", "%d %m %y"), ("%m %d %Y", "%m %d %y")
_BETWEEN = re.compile(r"(?<=\d)(?:st|nd|rd|th)?[-/., ']+(?=\w)|(?<=[a-z])[-/., ']+(?=\w)")
_YEARS = range(1500, 2200)  # others are rather other numbers
_YEAR = r"((?:1[5-9]|20|21)\d\d)"
_PART = re.compile(rf"(?:{_YEAR}[ -]?)?(?:(q|h|w)(?:eek )?|(week|quarter) )0?(\d\d?)(?:[ /-]?{_YEAR})?")
_TIME = r"(?:([01]?\d|2[0-4])(?::|h|\.)([0-5]\d)(?::([0-5]\d))?|(1[0-2]|0?[1-9]))\s?([ap])?(?:\.?m\.?)?"
_CLOCK_TIME = re.compile(rf"{_TIME}(?:\s*(?:-|–|to)\s*{_TIME})?")
_TIME_WORDS = {"midnight": 0.0, "noon": 12 * 3600.0, "midday": 12 * 3600.0}


def date_fits(labels: list[str]) -> Iterator[Fit]:
    """Yield the orders of dates and times that the labels fit."""
    texts = {label: " ".join(label.casefold().split()) for label in labels}
    for name, key in (("dates", _date), ("parts of years", _part)):
        if found := _fit_of(name, texts, key):
            yield found
    yield from _numeric_dates(texts)
    for name, key in (("times", _time), ("quarters, halves or weeks", _part_alone)):
        if found := _fit_of(name, texts, key, cyclic=True):
            yield found


def _fit_of(name: str, texts: dict[str, str], key: Callable[[str], Key | None], *, cyclic: bool = False) -> Fit | None:
    return fit(name, list(texts), lambda label: key(texts[label]), cyclic=cyclic)


def _date(text: str) -> Key | None:
    """Return year, month, day and time of a date without doubts about which is which; 0 where it has no day."""
    if ":" not in text:
        return _parsed(text, _FORMATS)
    with suppress(ValueError):
        return _key(datetime.fromisoformat(text.upper()))
    return None


def _parsed(text: str, formats: Sequence[str]) -> Key | None:
    """Return the key of a date in one of some formats, which have a blank wherever a text may have other marks."""
    plain = _BETWEEN.sub(" ", text).replace("sept ", "sep ")
    for form in formats:
        with suppress(ValueError):
            return _key(datetime.strptime(plain, form), day="%d" in form)
    return None


def _key(moment: datetime, *, day: bool = True) -> Key | None:
    year, month, *rest = moment.timetuple()[:6]
    return (year, month, *(rest if day else [0] * 4)) if year in _YEARS else None


def _numeric_dates(texts: dict[str, str]) -> Iterator[Fit]:
    """Yield the order of dates like 31/01/2024: the day first, or the month where only that can be."""
    first, second = (
        _fit_of(f"dates, {name}", texts, partial(_parsed, formats=formats))
        for name, formats in (("day before month", _DAY_FIRST), ("month before day", _MONTH_FIRST))
    )
    points = any(re.fullmatch(r"\d+\.\d+\.\d+", text) for text in texts.values())  # nobody writes a month first so
    if first and second and not points and not first.outside and not second.outside:
        if first.labels != second.labels:
            example = texts[next(iter(texts))]
            doubt = f"dates such as {example} can be read in two ways, and are taken with the day first"
            first = replace(first, doubts=(*first.doubts, doubt))
        yield first
        return
    found = [one for one in (first, None if points else second) if one is not None]
    yield from sorted(found, key=lambda one: len(one.outside))[:1]


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
    """Return what kind of part it is, and its number; None if no year has so many."""
    kind, number = (match[2] or match[3])[0], int(match[4])
    return ("qhw".index(kind), number) if 1 <= number <= {"q": 4, "h": 2, "w": 53}[kind] else None


def _time(text: str) -> Key | None:
    """Return the seconds since midnight at which a time, or a range of times, begins and ends."""
    if text in _TIME_WORDS:
        return _TIME_WORDS[text], 0.0
    match = _CLOCK_TIME.fullmatch(text)
    if match is None:
        return None
    start, end = match.groups()[:5], match.groups()[5:]
    half = start[4] or end[4]  # 8-10 pm
    begins, ends = _seconds(start, half), _seconds(end, end[4])
    if begins is None or ((end[0] or end[3]) and ends is None):
        return None
    return begins, ends or 0.0


def _seconds(parts: tuple[str | None, ...], half: str | None) -> float | None:
    """Return the seconds since midnight of hour, minute, second, hour alone and half of the day."""
    hour, minute, second, alone, _ = parts
    if (hour is None and alone is None) or (alone is not None and half is None):
        return None
    hours = float(hour or alone or 0)
    if half is not None:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + (12 if half == "p" else 0)
    return 3600 * hours + 60 * float(minute or 0) + float(second or 0)
