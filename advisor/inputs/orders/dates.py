"""Dates and times: 2024-01-31, Jan 2024, 2024Q1, 31.01.2024, 08:30, 8 pm."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from advisor.inputs.orders.fit import Fit, Key, fit
from advisor.inputs.orders.words import MONTH_NUMBERS

_YEAR = r"((?:1[5-9]|20|21)\d\d)"
_MONTH = rf"({'|'.join(sorted(MONTH_NUMBERS, key=len, reverse=True))})\.?"
_DAY = r"([12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_CLOCK = r"(?:[t ]([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d)(?:\.\d+)?)?(?:z|[+-]\d\d:?\d\d)?)?"
_ISO = re.compile(rf"{_YEAR}[-/.](1[0-2]|0?[1-9])(?:[-/.]([12]\d|3[01]|0?[1-9]){_CLOCK})?")
_NUMERIC = re.compile(r"(\d{1,2})([/.-])(\d{1,2})[/.-]((?:1[5-9]|20|21)\d\d|\d\d)")
_PART = re.compile(rf"(?:{_YEAR}[ -]?(q|h|w)(?:eek )?0?(\d\d?)|(q|h|w)(?:eek )?0?(\d\d?)[ /-]?{_YEAR})")
_PART_ALONE = re.compile(r"(?:(q|h|w)|(?:week|quarter) )0?(\d\d?)")
_NAMED = (
    (re.compile(rf"{_MONTH}[ -/]{_YEAR}"), (2, 1, None)),
    (re.compile(rf"{_YEAR}[ -/]{_MONTH}"), (1, 2, None)),
    (re.compile(rf"{_DAY}[ .-]+{_MONTH}[ ,-]+{_YEAR}"), (3, 2, 1)),
    (re.compile(rf"{_MONTH} {_DAY},? {_YEAR}"), (3, 1, 2)),
    (re.compile(rf"{_MONTH}[ -]'?(\d\d)"), (2, 1, None)),
)
_MONTH_YEAR = re.compile(rf"(1[0-2]|0?[1-9])[/.]{_YEAR}")
_TIME = r"(?:([01]?\d|2[0-4])(?::|h|\.)([0-5]\d)(?::([0-5]\d))?|(1[0-2]|0?[1-9]))\s?([ap])?(?:\.?m\.?)?"
_CLOCK_TIME = re.compile(rf"{_TIME}(?:\s*(?:-|–|to)\s*{_TIME})?")
_TIME_WORDS = {"midnight": 0.0, "noon": 12 * 3600.0, "midday": 12 * 3600.0}
_PARTS_OF_DAY = {"night": 0, "early morning": 1, "morning": 2, "afternoon": 3, "evening": 4, "late evening": 5}


def date_fits(labels: list[str]) -> Iterator[Fit]:
    """Yield the orders of dates and times that the labels fit."""
    texts = {label: " ".join(label.casefold().split()) for label in labels}
    for name, key in (("dates", _date), ("parts of years", _part)):
        if found := _fit_of(name, texts, key):
            yield found
    yield from _numeric_dates(texts)
    for name, key in (("times", _time), ("quarters, halves or weeks", _part_alone), ("parts of the day", _part_of_day)):
        if found := _fit_of(name, texts, key, cyclic=True):
            yield found


def _fit_of(name: str, texts: dict[str, str], key: Callable[[str], Key | None], *, cyclic: bool = False) -> Fit | None:
    return fit(name, list(texts), lambda label: key(texts[label]), cyclic=cyclic)


def _date(text: str) -> Key | None:
    """Return year, month, day and time of a date without doubts about which is which."""
    if match := _ISO.fullmatch(text):
        return tuple(float(part or 0) for part in match.groups())
    if match := _MONTH_YEAR.fullmatch(text):
        return float(match[2]), float(match[1]), 0.0, 0.0, 0.0, 0.0
    for pattern, (year, month, day) in _NAMED:
        if match := pattern.fullmatch(text):
            number = float(match[year])
            return (
                number if number > 100 else _century(number),
                float(MONTH_NUMBERS[match[month or 0]] + 1),
                float(match[day]) if day else 0.0,
                0.0, 0.0, 0.0,
            )  # fmt: skip
    return None


def _century(year: float) -> float:
    """Return a year of two digits in full: one of 1970 to 2069."""
    return year + (2000 if year < 70 else 1900)


def _numeric_dates(texts: dict[str, str]) -> Iterator[Fit]:
    """Yield the order of dates like 31/01/2024: the day first, or the month where only that can be."""
    matches = [match for text in texts.values() if (match := _NUMERIC.fullmatch(text))]
    if not matches:
        return

    def key(*, day_first: bool) -> Callable[[str], Key | None]:
        def of(text: str) -> Key | None:
            match = _NUMERIC.fullmatch(text)
            if match is None:
                return None
            day, month, year = (float(match[place]) for place in ((1, 3, 4) if day_first else (3, 1, 4)))
            return (year if year > 100 else _century(year), month, day) if month <= 12 and day <= 31 else None

        return of

    first = _fit_of("dates, day before month", texts, key(day_first=True))
    second = _fit_of("dates, month before day", texts, key(day_first=False))
    points = any(match[2] == "." for match in matches)  # nobody writes a month first with points
    if first and second and not points and not first.outside and not second.outside:
        if first.labels != second.labels:
            doubt = f"dates such as {matches[0][0]} can be read in two ways, and are taken with the day first"
            first = replace(first, doubts=(*first.doubts, doubt))
        yield first
        return
    found = [one for one in (first, None if points else second) if one is not None]
    yield from sorted(found, key=lambda one: len(one.outside))[:1]


def _part(text: str) -> Key | None:
    """Return year and number of a quarter, half or week."""
    match = _PART.fullmatch(text)
    if match is None:
        return None
    year, kind, number = (match[1], match[2], match[3]) if match[1] else (match[6], match[4], match[5])
    return (float(year), float("qhw".index(kind)), float(number)) if _is_part(kind, int(number)) else None


def _part_alone(text: str) -> Key | None:
    match = _PART_ALONE.fullmatch(text)
    if match is None:
        return None
    kind = match[1] or ("w" if text.startswith("week") else "q")
    return (float("qhw".index(kind)), float(match[2])) if _is_part(kind, int(match[2])) else None


def _is_part(kind: str, number: int) -> bool:
    return 1 <= number <= {"q": 4, "h": 2, "w": 53}[kind]


def _part_of_day(text: str) -> Key | None:
    place = _PARTS_OF_DAY.get(text)
    return None if place is None else (float(place),)


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
