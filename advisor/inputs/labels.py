"""Labels as categories: which are the same number, which are in a list, and in which order they stand."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal

from advisor.errors import InputError, code_points, listed, look, near_miss
from advisor.inputs.numbers import NO_CODES, MissingCodes, all_numbers, is_missing, looks_missing, number

LONGEST_SHOWN = 60  # characters of a label in a message
OTHER_LABEL = "(other)"  # users of no category, or none of whose items, is kept


def shortened(label: str) -> str:
    """Quote a label for a message, and cut it if it is long."""
    return repr(label if len(label) <= LONGEST_SHOWN else label[:LONGEST_SHOWN] + "…")


def label_of(value: object) -> str:
    """Return a value as CSV writers write it, a float that is a whole number as an integer.

    >>> label_of(3.0), label_of(" x "), label_of(0.5)
    ('3', 'x', '0.5')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def plural(number: int, singular: str, plural_form: str) -> str:
    """Return the number with the right form of the noun (and its verb).

    >>> plural(1, "line was", "lines were"), plural(2, "line was", "lines were")
    ('1 line was', '2 lines were')
    """
    return f"{number} {singular if number == 1 else plural_form}"


def missing_labels(labels: Collection[str], codes: MissingCodes = NO_CODES) -> list[str]:
    """Return the labels that stand for no value: the empty one, the codes, and "NA" where all else is numbers."""
    numeric = all_numbers([label for label in labels if not (is_missing(label) or label in codes)])
    return [label for label in labels if not label or label in codes or (numeric and is_missing(label))]


MOST_CODED = 10_000  # labels among which codes are looked for
# Codes for no answer in surveys, from the smallest.
_SURVEY_CODES = (7, 8, 9, 77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 9999)
_NEGATIVE_CODES = (-1, -2, -7, -8, -9, -77, -88, -97, -98, -99, -999, -9999)
_NEVER_ALONE = (-1, -2)  # they are also values


def missing_doubts(users: Mapping[str, int]) -> tuple[str, ...]:
    """Return a warning for labels that look like codes of missing answers, but were counted as categories.

    >>> missing_doubts({"1": 5, "2": 9, "3": 4, "99": 2, "100": 1})
    ()
    """
    if len(users) > MOST_CODED:
        return ()
    odd = [label for label in users if looks_missing(label)]
    if odd == ["NA"] and all(len(label) == len(odd[0]) and label.isupper() for label in users):
        odd = []  # a code of countries
    odd = odd or _far_codes(users)
    if not odd or len(odd) > len(users) - 2:
        return ()
    options = " ".join(f"--missing {label}" for label in odd) if number(odd[0]) is not None else "--drop-missing"
    those = f"{listed(map(shortened, odd), most=4)} ({plural(sum(map(users.__getitem__, odd)), 'user', 'users')})"
    return (
        f"{those} {'looks' if len(odd) == 1 else 'look'} like no answer, and "
        f"{'was' if len(odd) == 1 else 'were'} counted as a category: {options} leaves these users out",
    )


def _far_codes(labels: Collection[str]) -> list[str]:
    """Return labels that are usual codes for no answer, and lie apart from all others, which are small integers."""
    values = {number(label): label for label in labels}
    if len(values) < 3 or None in values:
        return []
    rest = sorted(value for value in values if value is not None)
    below = sum(value < 0 for value in rest)
    gaps = any(rest[at + 1] - rest[at] > 1 for at in range(min(below, len(rest) - 1)))
    coded = gaps and rest[0] not in _NEVER_ALONE and all(value in _NEGATIVE_CODES for value in rest[:below])
    found = [values[value] for value in rest[: below * coded]]
    rest = rest[below * coded :]
    for at in range(2, len(rest)):
        apart = rest[at] - rest[at - 1] > max(Decimal(1), (rest[at - 1] - rest[0]) / 10)
        apart = apart and (at > 2 or rest[1] - rest[0] == 1)  # two answers are 0 and 1, or 1 and 2
        if rest[0] >= 0 and apart and all(value in _SURVEY_CODES for value in rest[at:]):
            return found + [values[value] for value in rest[at:]]
    return found


def value_of(label: str) -> Decimal:
    """Return the value of a label known to be a number.

    >>> value_of("1e2")
    Decimal('1E+2')
    """
    value = number(label)
    if value is None:
        raise ValueError(f"label {label!r} is not a number")
    return value


def by_value(labels: Iterable[str]) -> list[str]:
    """Sort labels that are all numbers by value.

    >>> by_value(["10", "9", "-1"])
    ['-1', '9', '10']
    """
    return sorted(labels, key=value_of)


def merge_equal_numbers(users: Mapping[str, int]) -> tuple[dict[str, int], tuple[str, ...]]:
    """Add up numbers written differently ("1", "1.0") under the shortest spelling, and warn of them."""
    spellings: dict[Decimal, list[str]] = {}
    for label in users:
        spellings.setdefault(value_of(label), []).append(label)
    # The shortest spelling, not the first one: the result must not depend on the order of the rows.
    merged = {
        min(same, key=lambda label: (len(label), label)): sum(users[label] for label in same)
        for same in spellings.values()
    }
    several = sorted((sorted(same) for same in spellings.values() if len(same) > 1), key=lambda s: value_of(s[0]))
    if not several:
        return merged, ()
    shown = listed((" and ".join(map(repr, same)) for same in several), most=3)
    return merged, (f"labels that are the same number were merged: {shown}",)


def refuse_repeated(source: str, labels: Sequence[str], places: Sequence[int], unit: str) -> None:
    """Raise InputError for the first label that is there again, also as the same number written differently.

    places, unit: where the labels stand ("line", "row").
    """
    numeric = all_numbers(labels)
    known: dict[str | Decimal, int] = {}
    for at, label in enumerate(labels):
        first = known.setdefault(value_of(label) if numeric else label, at)
        if first != at:
            alike = "" if labels[first] == label else f", written {shortened(labels[first])},"
            raise InputError(
                f"{source}: {unit} {places[at]}: label {shortened(label)} is on {unit} {places[first]}{alike} already; "
                "give each category once"
            )


def check_domain(domain: Sequence[str]) -> tuple[str, ...]:
    """Return the stripped labels of a domain.

    Raises InputError if a label is empty or there twice, also as the same number written differently.
    """
    labels = tuple(label.strip() for label in domain)
    if "" in labels:
        raise InputError(f"domain: label {labels.index('') + 1} is empty; give one label a line")
    refuse_repeated("domain", labels, range(1, len(labels) + 1), "place")
    return labels


def place_in_domain(users: Mapping[str, int], domain: Sequence[str]) -> tuple[dict[str, int], dict[str, int]]:
    """Return the users of the labels in the domain, in its order, and those of labels that are not in it."""
    spellings: dict[str, str] = {label: label for label in domain}
    if all_numbers(domain):
        spelled = {value_of(label): label for label in domain}
        for label in users:
            value = number(label)
            if value is not None and value in spelled:
                spellings[label] = spelled[value]
    inside = dict.fromkeys(domain, 0)
    for label in users.keys() & spellings.keys():
        inside[spellings[label]] += users[label]
    return inside, {label: count for label, count in users.items() if label not in spellings}


def refuse_outside(outside: Collection[str], domain: Sequence[str]) -> None:
    """Raise for the first label that is not in the domain.

    Raises InputError if there is one; "first" is the smallest, whatever the order of the rows.
    """
    if not outside:
        return
    label = min(outside)
    more = f" (and {plural(len(outside) - 1, 'more label', 'more labels')})" if len(outside) > 1 else ""
    hint = near_miss(label, domain) or f"; it has {listed(domain, most=6)}"
    raise InputError(
        f"label {shortened(label)}{more} is not in the domain{hint}; add it, or keep the most frequent with --keep-top"
    )


def look_alikes(labels: Iterable[str]) -> tuple[str, ...]:
    r"""Return a warning for labels that nobody can tell apart by looking at them, and that are categories of their own.

    >>> look_alikes(["Ohio", "Ohio\u200b", "Utah"])[0][:78]
    "labels that look the same are different categories: 'Ohio\\u200b' (U+200B) and "
    """
    groups: dict[str, list[str]] = {}
    names = dict.fromkeys(labels)
    for name in () if all(map(str.isascii, names)) else names:
        groups.setdefault(look(name), []).append(name)
    same = sorted(sorted(group) for group in groups.values() if len(group) > 1 and not "".join(group).isascii())
    if not same:
        return ()
    pairs = [
        f"{shortened(two)} ({code_points(two, one)}) and {shortened(one)} ({code_points(one, two)})"
        for one, two, *_ in same
    ]
    return (
        f"labels that look the same are different categories: {listed(pairs, most=3)}; if they are one, write them in "
        "the same way first (Unicode form NFC, without invisible characters)",
    )


def mixed_note(labels: Sequence[str]) -> tuple[str, ...]:
    """Say so if a few labels that are no numbers stop all others from being taken as numbers."""
    words = sorted(label for label in labels if number(label) is None)
    if not words or 10 * len(words) > len(labels):
        return ()
    shown = listed((shortened(word) for word in words), most=3)
    return (
        f"{len(words)} of {len(labels)} labels are not numbers ({shown}), so all were taken as names without order",
    )
