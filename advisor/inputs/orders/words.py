"""Words that people use in an order: months, weekdays, sizes, answers on a scale, grades."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from advisor.inputs.orders.fit import Fit, fit

# Places of a scale are separated by ";" and the words for one place by "|"; a hyphen or underscore is a blank.
MONTHS = {
    "months": "jan|january;feb|february;mar|march;apr|april;may;jun|june;jul|july;aug|august;sep|sept|september;"
    "oct|october;nov|november;dec|december",
    "months in German": "jan|januar|jänner;feb|februar;mär|märz|mrz;apr|april;mai;jun|juni;jul|juli;aug|august;"
    "sep|september;okt|oktober;nov|november;dez|dezember",
    "months in French": "janvier|janv;février|févr;mars;avril|avr;mai;juin;juillet|juil;août;septembre|sept;"
    "octobre|oct;novembre|nov;décembre|déc",
    "months in Spanish": "enero|ene;febrero|feb;marzo|mar;abril|abr;mayo|may;junio|jun;julio|jul;agosto|ago;"
    "septiembre|sep;octubre|oct;noviembre|nov;diciembre|dic",
}
WEEKDAYS = {
    "weekdays": "mo|mon|monday;tu|tue|tues|tuesday;we|wed|wednesday;th|thu|thur|thurs|thursday;fr|fri|friday;"
    "sa|sat|saturday;su|sun|sunday",
    "weekdays in German": "mo|montag;di|dienstag;mi|mittwoch;do|donnerstag;fr|freitag;sa|samstag|sonnabend;so|sonntag",
    "weekdays in French": "lundi|lun;mardi|mar;mercredi|mer;jeudi|jeu;vendredi|ven;samedi|sam;dimanche|dim",
    "weekdays in Spanish": "lunes|lun;martes|mar;miércoles|mié;jueves|jue;viernes|vie;sábado|sáb;domingo|dom",
}
SCALES = {
    "sizes": "5xs;4xs;3xs|xxxs;2xs|xxs;xs|x small|extra small;s|small;m|medium;l|large;xl|x large|extra large;2xl|xxl;"
    "3xl|xxxl;4xl|xxxxl;5xl",
    "degrees of agreement": "completely disagree|totally disagree;strongly disagree|disagree strongly;disagree;"
    "moderately disagree;somewhat disagree|slightly disagree|tend to disagree|disagree somewhat;"
    "neutral|neither agree nor disagree|neither|undecided|neither disagree nor agree;"
    "somewhat agree|slightly agree|tend to agree|agree somewhat;moderately agree;agree;"
    "strongly agree|agree strongly;completely agree|totally agree",
    "degrees of satisfaction": "extremely dissatisfied;very dissatisfied|very unsatisfied;dissatisfied|unsatisfied;"
    "somewhat dissatisfied|slightly dissatisfied;neutral|neither satisfied nor dissatisfied|neither;"
    "somewhat satisfied|slightly satisfied;satisfied;very satisfied;extremely satisfied",
    "degrees of likelihood": "extremely unlikely;very unlikely;unlikely;somewhat unlikely;"
    "neutral|neither likely nor unlikely;somewhat likely;likely;very likely;extremely likely",
    "degrees of importance": "not important|not at all important|unimportant;slightly important;"
    "somewhat important|moderately important;important;very important;extremely important",
    "words of frequency": "never;almost never|hardly ever|very rarely;rarely|seldom;occasionally;sometimes;"
    "often|frequently;usually|very often;almost always|nearly always;always",
    "words of frequency in time": "never;yearly|annually|once a year;quarterly;monthly|once a month;"
    "fortnightly|biweekly;weekly|once a week;daily|every day|once a day;hourly",
    "marks in words": "terrible|awful;very poor|very bad;poor|bad;below average;fair;average|okay|ok;satisfactory;"
    "above average;good;very good;excellent|outstanding",
    "levels": "none;lowest|extremely low;very low;low;medium low|moderately low;medium|moderate|mid|middle|average;"
    "medium high|moderately high;high;very high;highest|extremely high|urgent|critical",
    "degrees of severity": "none;minimal;mild|minor;moderate;severe|serious|major;very severe|extreme|critical",
    "degrees": "not at all;slightly|a little|a little bit|a bit;somewhat|to some extent;moderately;quite a bit|quite;"
    "very|very much|a lot;extremely|completely",
    "sizes in words": "tiny|very small;small;medium;large;very large|huge",
    "grades or letters": "a*;a+;a;a -;b+;b;b -;c+;c;c -;d+;d;d -;e+;e;e -;f",
    "ordinals": "first;second;third;fourth;fifth;sixth;seventh;eighth;ninth;tenth",
    "numbers in words": "zero;one;two;three;four;five;six;seven;eight;nine;ten;eleven;twelve",
    "Roman numerals": "i;ii;iii;iv;v;vi;vii;viii;ix;x;xi;xii",
}
CYCLES = frozenset({*MONTHS, *WEEKDAYS})


def _places(words: str) -> dict[str, int]:
    return {word: place for place, alike in enumerate(words.split(";")) for word in alike.split("|")}


MONTH_NUMBERS = _places(MONTHS["months"])  # from 0; English, as dates have them
_TABLES = {name: _places(words) for name, words in (MONTHS | WEEKDAYS | SCALES).items()}
_LONGEST = max(map(len, _TABLES.values()))
_NUMBERED = re.compile(r"\(?(\d{1,4})\s*[).:=–-]\s*(?=[^\W\d_])")
_COUNTED = re.compile(r"([^\W\d][\D]*?)\s*(\d{1,9})(\D*)")
_ORDINAL = re.compile(r"(\d{1,4})(?:st|nd|rd|th)\b(.*)")


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
    """Yield the scales that the labels are words of, and the order of labels that are numbered."""
    if len(labels) <= 2 * _LONGEST:
        for name, table in _TABLES.items():

            def place_of(label: str, table: dict[str, int] = table) -> tuple[float, ...] | None:
                place = table.get(plain_words(label))
                return None if place is None else (place,)

            if found := fit(name, labels, place_of, cyclic=name in CYCLES):
                yield found
    for name, pattern in (("numbered labels", _NUMBERED), ("labels with a number", _COUNTED), ("ordinals", _ORDINAL)):
        if found := _by_number(name, pattern, labels):
            yield found


def _by_number(name: str, pattern: re.Pattern[str], labels: list[str]) -> Fit | None:
    """Return the order of labels by a number in them, where all around it is the same ("Band 2"), or follows it."""
    first = next((match for label in islice(labels, 3) if (match := _match(pattern, label))), None)
    if first is None:
        return None

    def key(label: str) -> tuple[float, ...] | None:
        match = _match(pattern, label)
        if match is None:
            return None
        if pattern is _NUMBERED:
            return (float(match[1]),)
        around, same = (
            (match[1], match[3]) if pattern is _COUNTED else (match[2],),
            (first[1], first[3]) if pattern is _COUNTED else (first[2],),
        )
        return (float(match[2 if pattern is _COUNTED else 1]),) if around == same else None

    return fit(name, labels, key)


def _match(pattern: re.Pattern[str], label: str) -> re.Match[str] | None:
    text = label.casefold().strip()
    return pattern.match(text) if pattern is _NUMBERED else pattern.fullmatch(text)
