"""Words that people use in an order: months, weekdays, sizes, answers on a scale, grades. They are in words.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from advisor.inputs.orders.fit import WORDS, Fit, alternatives, fit

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
    """Yield the scales that the labels are words of, and the order of labels that are numbered."""
    if len(labels) <= 2 * _LONGEST:
        words = {label: plain_words(label) for label in labels}
        for name, places, cyclic in _SCALES:
            keys = {label: (places[word],) for label, word in words.items() if word in places}
            if found := fit(name, labels, keys.get, cyclic=cyclic):
                yield found
    texts = {label: label.casefold().strip() for label in labels}
    for name, match in (
        ("numbered labels", _NUMBERED.match),
        ("labels with a number", _COUNTED.fullmatch),
        ("ordinals", _ORDINAL.fullmatch),
    ):
        matches = {label: one.groupdict() for label, text in texts.items() if (one := match(text))}
        # By a number where all around it is the same ("Band 2"), or follows it.
        numbers = {label: (float(parts.pop("number")),) for label, parts in matches.items()}
        first = next((matches[label] for label in islice(labels, 3) if label in matches), None)
        same = {label: numbers[label] for label, parts in matches.items() if parts == first}
        if found := fit(name, labels, same.get):
            yield found
