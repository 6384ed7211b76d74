"""The domain that is simulated: k categories in order, with the users of each; files of categories, and of sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import count, islice

import numpy as np

from advisor.errors import InputError, listed, near_miss
from advisor.inputs.head import Expected, FileLayout, empty
from advisor.inputs.histogram import RawHistogram
from advisor.inputs.labels import (
    OTHER_LABEL,
    by_value,
    check_domain,
    look_alikes,
    merge_equal_numbers,
    mixed_note,
    place_in_domain,
    plural,
    refuse_outside,
    refuse_repeated,
    shortened,
    value_of,
)
from advisor.inputs.numbers import LARGEST_TOTAL, all_numbers, is_grouped
from advisor.inputs.orders import Fit, recognised
from advisor.inputs.table import opened_rows

SHOWN = 4  # number of labels shown from the start of an order; the last label is shown too
MOST_LOOKED_AT = 10_000  # maximum of labels among which an order is searched without a request


@dataclass(frozen=True)
class Arrangement:
    """Labels in order, and whether the order has a meaning."""

    labels: tuple[str, ...]
    ordered: bool  # whether the order means something
    note: str  # the decision, in a sentence
    warnings: tuple[str, ...] = ()  # what the reader should check


def arranged(labels: Sequence[str], *, from_file: bool, ordered: bool | None) -> Arrangement:
    """Return labels in order; not all of them are plain numbers.

    labels: distinct labels; with `from_file`, their order is the order in the user's file.
    ordered: whether the order means something; None: it does for ranges of numbers and for numbers with units.

    A conventional order (`advisor.inputs.orders`) has priority over the order of the file, and both over the alphabet.
    Without an order, labels stay in place.
    """
    listing = tuple(labels) if from_file else tuple(sorted(labels))
    looks = ordered or (ordered is None and len(listing) <= MOST_LOOKED_AT)
    order, other = (recognised(listing) if looks else None) or (None, None)
    plain = "in the order of the file" if from_file and list(listing) != sorted(listing) else "in alphabetical order"
    if ordered and order is not None:
        return _by_order(order, other, listing, from_file=from_file)
    if ordered:
        return Arrangement(
            listing,
            True,
            f"labels are names, taken as ordered {plain} (--domain FILE gives another order)",
            (
                f"the labels fit no order that is known here, so --ordered takes them {plain}: {shown_order(listing)}. "
                "Distances, ranges and smoothing go by this order: if it is wrong, give the right one with --domain "
                "FILE, one label per line",
            ),
        )
    if order is not None and order.numeric and not order.outside:
        return Arrangement(
            _directed(order, listing, from_file=from_file),
            True,
            f"labels are {order.name}: put in order and taken as ordered (--unordered says otherwise)",
            order.doubts,
        )
    hint, mixed = "", mixed_note(listing) if ordered is None else ()
    if order is not None and order.labels != [label for label in listing if label in order.keys]:
        hint = f"; they look like {order.name}, which --ordered puts in order"
    if order is not None and order.numeric:
        mixed = (
            f"{len(order.outside)} of {len(listing)} labels are not {order.name} "
            f"({listed(map(shortened, order.outside), most=3)}), so all were taken as names without order (--ordered "
            "puts them in order, these last)",
        )
    where = f" (listed {plain}{hint})" if hint else ""
    return Arrangement(listing, False, f"names have no order{where}", mixed)


def given_order(names: Sequence[str]) -> bool:
    """Return whether a given domain is ordered by default: ranges of numbers that always rise, or always fall."""
    order = recognised(names)
    if order is None or not order[0].numeric or order[0].outside:
        return False
    return list(names) in (order[0].labels, order[0].labels[::-1])


def shown_order(labels: Sequence[str]) -> str:
    """Return the first labels of an order and the last label.

    >>> shown_order(["a", "b", "c", "d", "e", "f", "g"]), shown_order(["a", "b"])
    ("'a', 'b', 'c', 'd', …, 'g'", "'a', 'b'")
    """
    names = [shortened(label) for label in (*labels[:SHOWN], *labels[max(SHOWN, len(labels) - 1) :])]
    if len(labels) > SHOWN + 1:
        names.insert(SHOWN, "…")
    return ", ".join(names)


def _by_order(order: Fit, other: Fit | None, listing: tuple[str, ...], *, from_file: bool) -> Arrangement:
    """Return labels in their conventional order, followed by the labels without a place in it."""
    placed = _directed(order, listing, from_file=from_file)
    warnings = list(order.doubts)
    if other is not None:
        warnings.append(
            f"the labels can be {order.name} or {other.name}: taken as {order.name}, {shown_order(placed)} "
            "(--domain FILE gives another order)"
        )
    same = [
        (one, two)
        for one, two in zip(order.labels, order.labels[1:], strict=False)
        if order.keys[one] == order.keys[two]
    ]
    if same:
        pairs = listed((f"{shortened(one)} and {shortened(two)}" for one, two in same), most=3)
        warnings.append(f"some labels have the same place in the order, and stay apart as categories: {pairs}")
    if order.outside:
        names = listed(map(shortened, order.outside), most=3)
        one = len(order.outside) == 1
        warnings.append(
            f"{names} {'has' if one else 'have'} no place among {order.name}, and {'stands' if one else 'stand'} at "
            "the end of the order: distances, ranges and smoothing that reach there mean little (leave those users "
            "out, or give the order with --domain FILE)"
        )
    note = f"labels are {order.name}, taken as ordered: {shown_order(placed)}"
    if order.cyclic:
        note += "; a line, not a circle: the first and the last are farthest apart"
    return Arrangement((*placed, *order.outside), True, note, tuple(warnings))


def _directed(order: Fit, listing: tuple[str, ...], *, from_file: bool) -> tuple[str, ...]:
    """Return the labels that fit, in order; the order of the file is kept if it is the same line or circle.

    Alphabetical order in a file does not count as an order: programs sort so, and rows without counts are listed so.
    """
    rising = tuple(order.labels)
    if not from_file or list(listing) == sorted(listing):
        return rising
    own = tuple(label for label in listing if label in order.keys)
    at = rising.index(own[0])
    turned = (*rising[at:], *rising[:at])
    return own if own == rising[::-1] or (order.cyclic and own == turned) else rising


_LONGEST_INTEGER = 10**15  # maximum of integer labels whose gaps are filled


@dataclass
class _Draft:
    """The domain under construction: users per category in order, with assumptions and warnings."""

    users: dict[str, int]
    numeric: bool
    ordered: bool  # whether the order means something by default
    assumptions: list[str]
    warnings: list[str]


def build_domain(
    histogram: RawHistogram,
    *,
    k: int | None = None,
    domain: Sequence[str] | None = None,
    keep_top: int | None = None,
    other: bool = False,
    ordered: bool | None = None,
    transactions: bool = False,
) -> RawHistogram:
    """Return a histogram over a domain: order its labels, keep the frequent ones, add those that nobody reported.

    At least one user is in it. Categories without a name are "(unseen 1)", "(unseen 2)", … Bins are a domain already.

    Labels are numbers only if all of them are; leading zeros mark a code. Numbers are sorted by value. Names are in
    the order of the domain if it is given, otherwise in the order of `arranged`. For raw values the order of the rows
    never matters.

    histogram: where the data declare the order of its labels, it is kept.
    k, domain: number of categories, at least 2, `(other)` included; all categories; None for the observed categories.
    keep_top, other: keep the most frequent labels only (ties in the order of the domain); other users are dropped, or
        put into a last category `(other)`.
    ordered: whether the order means something; None: the data say so, or the labels are numbers or ranges of them.
    transactions: whether `OTHER_LABEL` holds the users of transactions without a kept item; they are dropped unless
        `other`.

    Raises InputError if labels, k and domain contradict each other, or if fewer than two categories or no user remain.

    >>> built = build_domain(RawHistogram(("10", "8", "9"), np.array([1, 2, 3]), from_histogram=False), k=4)
    >>> built.labels, built.counts.tolist(), built.ordered
    (('8', '9', '10', '11'), [2, 3, 1, 0], True)
    """
    if (bins := histogram.bins) is not None:
        return replace(histogram, ordered=True, assumptions=(*histogram.assumptions, bins.sentence))
    if domain is not None and k is not None:
        if keep_top is not None:
            raise InputError("--k: cannot be used with both --domain and --keep-top; leave it out")
        if k != len(domain):
            raise InputError(f"--k: got {k}, but the domain has {len(domain)} labels; leave out --k")
    histogram = histogram.over_categories() if domain is None else histogram
    ordered = histogram.ordered if ordered is None else ordered
    users = _users(histogram)
    without = users.pop(OTHER_LABEL, 0) if transactions else 0
    if other and OTHER_LABEL in users:
        raise InputError(f"{OTHER_LABEL!r} is a label already; rename it, or leave out --other")
    rising = all_numbers(users) and list(users) == by_value(users)
    if domain is None and histogram.ordered and not rising:
        draft, outside = _Draft(users, False, True, [], []), dict[str, int]()
    else:
        draft, outside = _arranged(users, domain, from_histogram=histogram.from_histogram, ordered=ordered)
    size = len(draft.users)
    rest = _keep(draft, outside, keep_top)
    if without:
        rest[OTHER_LABEL] = without
    merges = other and bool(rest)
    is_ordered = draft.ordered if ordered is None else ordered
    if k is not None:
        _pad(draft, k - merges, ordered=is_ordered, merges=merges)
    elif draft.numeric and domain is None:
        draft.assumptions.extend(_gaps_note(list(draft.users)))
    if merges:
        is_ordered = _merge(draft, rest, ordered=ordered)
    elif rest:
        if len(draft.users) < 2 <= size:
            raise InputError(f"--keep-top {keep_top} leaves 1 of {size:,} labels; keep 2, or add --other")
        draft.warnings.append(_dropped_warning(draft.users, rest))
    if len(draft.users) < 2:
        got = f"only the label {shortened(next(iter(draft.users)))}" if draft.users else "no label"
        raise InputError(
            f"the data have {got}; a domain needs at least 2 categories: name those nobody reported with "
            "--domain FILE, or give their number with --k"
        )
    placed = np.fromiter(draft.users.values(), dtype=np.int64, count=len(draft.users))
    if placed.sum() < 1:
        raise InputError("no user is left in the domain; at least one is needed")
    return replace(
        histogram,
        labels=tuple(draft.users),
        counts=placed,
        ordered=is_ordered,
        assumptions=(*histogram.assumptions, *draft.assumptions),
        warnings=(*histogram.warnings, *draft.warnings, *look_alikes((*users, *draft.users))),
    )


def _thousands_doubt(labels: Iterable[str]) -> tuple[str, ...]:
    """Return a warning for numbers whose points may all stand between groups of thousands: 500, 750, 1.000."""
    pointed = [label for label in labels if "." in label]
    if not pointed or not all(is_grouped(label, ".") or (label.isdigit() and len(label) < 4) for label in labels):
        return ()
    value = pointed[0].replace(".", "")
    return (f"{pointed[0]} is read as a number with decimals; if it is {value}, write {value} in the file",)


def _dropped_warning(users: Mapping[str, int], rest: Mapping[str, int]) -> str:
    dropped = sum(rest.values())
    share = dropped / (dropped + sum(users.values()) or 1)
    what = "without a kept item" if list(rest) == [OTHER_LABEL] else "with labels that are not kept"
    text = f"{plural(dropped, 'user', 'users')} {what} ({share:.1%} of all) dropped"
    return f"{text}; --other keeps them as one category"


def _users(histogram: RawHistogram) -> dict[str, int]:
    users: dict[str, int] = {}
    for label, number in zip(histogram.labels, histogram.counts.tolist(), strict=True):
        if label in users:
            raise InputError(f"labels: {shortened(label)} is there twice; add up its counts")
        users[label] = number
    if sum(users.values()) > LARGEST_TOTAL:
        raise InputError(f"counts: add up to more than {LARGEST_TOTAL} (2^53) users")
    return users


def _arranged(
    users: Mapping[str, int], domain: Sequence[str] | None, *, from_histogram: bool, ordered: bool | None
) -> tuple[_Draft, dict[str, int]]:
    """Put the labels in order; return them and the users of labels outside of the domain."""
    if domain is not None:
        names = check_domain(domain)
        numeric = all_numbers(names)
        sort = numeric and ordered is not False
        inside, outside = place_in_domain(users, by_value(names) if sort else names)
        how = "by value" if sort else "in the order of the domain file"
        note = f"{len(names)} categories given as the domain, {how}"
        return _Draft(inside, numeric, numeric or given_order(names), [note], []), outside
    if all_numbers(users):
        merged, warnings = merge_equal_numbers(users)
        warnings += _thousands_doubt(users)
        note = "all labels are numbers: sorted by value"
        note += ", but taken as names without order, as asked" if ordered is False else " and taken as ordered"
        placed = {label: merged[label] for label in by_value(merged)}
        return _Draft(placed, True, True, [note], list(warnings)), {}
    order = arranged(list(users), from_file=from_histogram, ordered=ordered)
    placed = {label: users[label] for label in order.labels}
    return _Draft(placed, False, order.ordered, [order.note], list(order.warnings)), {}


def _keep(draft: _Draft, outside: dict[str, int], keep_top: int | None) -> dict[str, int]:
    """Reduce the draft to its most frequent labels; return the users of labels that are removed or outside."""
    if keep_top is None:
        refuse_outside(outside, list(draft.users))
        return {}
    # sorted is stable: ties stay in the order of the domain.
    ranked = sorted(draft.users, key=lambda label: -draft.users[label])
    cut = set(ranked[keep_top:])
    rest = {label: number for label, number in draft.users.items() if label in cut} | outside
    draft.users = {label: number for label, number in draft.users.items() if label not in cut}
    if rest:
        draft.assumptions.append(f"the {len(draft.users)} most frequent of {len(ranked)} labels are kept")
    return rest


def _pad(draft: _Draft, k: int, *, ordered: bool, merges: bool) -> None:
    """Add unobserved categories: the integers missing between the labels, otherwise categories without a name."""
    size = len(draft.users)
    if k < size:
        extra = f" ({OTHER_LABEL} is one of them)" if merges else ""
        raise InputError(
            f"--k: got {k + merges}, but the data have {size + merges} categories{extra}; "
            f"allowed: at least {size + merges}, or keep fewer with --keep-top"
        )
    if k == size:
        return
    ends = _integer_ends(list(draft.users)) if draft.numeric else None
    span = 0 if ends is None else ends[1] - ends[0] + 1
    if ends is not None and k >= span:
        low, high = ends
        present = set(map(value_of, draft.users))
        draft.users |= {str(value): 0 for value in range(low, low + k) if Decimal(value) not in present}
        draft.users = {label: draft.users[label] for label in by_value(draft.users)}
        inside = f"{span - size} unobserved integers between {low} and {high}"
        above = f"the integers {high + 1} to {low + k - 1} above the largest label seen"
        added = " and ".join(text for text, applies in ((inside, span > size), (above, k > span)) if applies)
        draft.assumptions.append(f"{k} categories between {low} and {low + k - 1}: {added} were added")
        return
    names = (name for place in count(1) if (name := f"(unseen {place})") not in draft.users)
    draft.users |= dict.fromkeys(list(islice(names, k - size)), 0)
    added = plural(k - size, "unobserved category", "unobserved categories")
    note = f"{added} without a name added at the end (--domain FILE says which they are)"
    if ends is not None:
        note += f"; the labels leave out more than that many integers between {ends[0]} and {ends[1]}"
    draft.assumptions.append(note)
    if ordered:
        draft.warnings.append(
            f"{plural(k - size, 'category', 'categories')} without a name stand at the end of the order; their true "
            "place matters for emd and range queries: give it with --domain FILE"
        )


def _gaps_note(labels: Sequence[str]) -> tuple[str, ...]:
    """Return a note if integers between the smallest and the largest label are missing from the categories."""
    ends = _integer_ends(labels)
    if ends is None or ends[1] - ends[0] + 1 == len(labels):
        return ()
    span = ends[1] - ends[0] + 1
    return (
        f"only the {len(labels)} integers seen between {ends[0]} and {ends[1]} are categories "
        f"(--k {span} adds the {span - len(labels)} between them)",
    )


def _integer_ends(labels: Sequence[str]) -> tuple[int, int] | None:
    """Return the smallest and the largest label if all (numeric) labels are integers up to `_LONGEST_INTEGER`."""
    values = [value_of(label) for label in labels]
    if not values or any(abs(value) > _LONGEST_INTEGER or value != value.to_integral_value() for value in values):
        return None
    return int(min(values)), int(max(values))


def _merge(draft: _Draft, rest: dict[str, int], *, ordered: bool | None) -> bool:
    """Add the last category for the users of the other labels; return whether the domain is still ordered."""
    if OTHER_LABEL in draft.users:
        raise InputError(f"{OTHER_LABEL!r} is a label of the domain already; rename it, or leave out --other")
    number = sum(rest.values())
    draft.users[OTHER_LABEL] = number
    draft.assumptions.append(
        f"{plural(number, 'user', 'users')} with other labels are merged into the last category {OTHER_LABEL}"
    )
    if ordered is None and draft.ordered:
        draft.warnings.append(
            f"{OTHER_LABEL} has no place among the {'numbers' if draft.numeric else 'ranges'}, so the domain is taken "
            "as unordered (ask for the order, or leave out --other, to keep it)"
        )
        return False
    if ordered:
        draft.warnings.append(
            f"{OTHER_LABEL} stands last in the order, though its users may belong anywhere: "
            "emd and range queries that reach it mean little"
        )
    return bool(ordered)


def read_domain(path: str) -> tuple[str, ...]:
    """Return the labels of a domain file: one label per line, no header, blank lines skipped.

    path: a text file or its gzip, or a Parquet file of one column; "-" for standard input.

    The labels are in the order of the file, without surrounding whitespace. Raises InputError if the file cannot be
    read as UTF-8 text, is empty, or holds a label twice.
    """
    with opened_rows(path, Expected("labels", FileLayout(header=False), single=True)) as rows:
        table = rows.table
        if table.width > 1:
            raise InputError(
                f"{table.source}: has {table.width} columns; a domain is one column with one label a {table.unit}"
            )
        block = rows.in_one_block([0])
    found = {place: label for place, label in zip(block.places, block.cells(0), strict=True) if label}
    labels = tuple(found.values())
    if not labels:
        raise empty(table.source)
    refuse_repeated(table.source, labels, tuple(found), table.unit)
    return labels


def read_sets(path: str, labels: Iterable[str]) -> tuple[tuple[int, ...], ...]:
    """Return the places of the members of each set; in a line, its name comes before its members.

    path: CSV or text, without a header.
    labels: of the categories, in their order.

    Raises InputError if the file cannot be read, a set is empty, or a member is no category.
    """
    places = {label: place for place, label in enumerate(labels)}
    sets: list[tuple[int, ...]] = []
    with opened_rows(path, Expected("sets", FileLayout(header=False), items=True)) as rows:
        for block in rows.blocks(even=False):
            for line, (name, *cells) in zip(block.places, block.rows(), strict=True):
                members = dict.fromkeys(cell for cell in cells if cell)
                if not members:
                    raise rows.table.bad(line, f"set {shortened(name)} has no members: name them after it")
                if unknown := [cell for cell in members if cell not in places]:
                    miss = near_miss(unknown[0], places) or f"; there are {listed(places, most=9)}"
                    raise rows.table.bad(line, f"{shortened(unknown[0])} of set {shortened(name)} is no category{miss}")
                sets.append(tuple(places[cell] for cell in members))
    return tuple(sets)
