"""In which order categories stand that nobody gave an order, and whether it means something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from advisor.errors import listed
from advisor.inputs.labels import mixed_note, shortened
from advisor.inputs.orders import Fit, recognised

SHOWN = 4  # labels of an order that are shown, and the last
MOST_UNASKED = 10_000  # labels of which an order is looked for where nobody asked for one


@dataclass(frozen=True)
class Arrangement:
    """Labels in order."""

    labels: tuple[str, ...]
    ordered: bool  # whether the order means something
    note: str  # what was decided, in a sentence
    warnings: tuple[str, ...] = ()  # what the reader should look at


def arranged(labels: Sequence[str], *, from_file: bool, ordered: bool | None) -> Arrangement:
    """Put labels that are not all plain numbers in order.

    labels: distinct labels, in the order of the file if that is the user's (`from_file`).
    ordered: whether the order means something; None: that of ranges of numbers, and of numbers with units, does.

    An order that people mean (`advisor.inputs.orders`) comes before that of the file, and both before the alphabet.
    Without an order nothing is put in another place.
    """
    listing = tuple(labels) if from_file else tuple(sorted(labels))
    looks = ordered or (ordered is None and len(listing) <= MOST_UNASKED)
    order = recognised(listing) if looks else None
    plain = "in the order of the file" if from_file and list(listing) != sorted(listing) else "in alphabetical order"
    if order is not None and ordered is None and order[0].numeric and not order[0].outside:
        return Arrangement(
            _directed(order[0], listing, from_file=from_file),
            True,
            f"labels are {order[0].name}: put in order and taken as ordered (--unordered says otherwise)",
            order[0].doubts,
        )
    if order is not None and ordered:
        return _by_order(*order, listing, from_file=from_file)
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
    sorts = order is not None and order[0].labels != [label for label in listing if label in order[0].keys]
    hint = f"; they look like {order[0].name}, which --ordered puts in order" if order is not None and sorts else ""
    note = f"labels are names: no order between them (listed {plain}{hint})"
    mixed = mixed_note(listing) if ordered is None else ()
    if order is not None and ordered is None and order[0].numeric:
        outside, name = order[0].outside, order[0].name
        mixed = (
            f"{len(outside)} of {len(listing)} labels are not {name} ({listed(map(shortened, outside), most=3)}), so "
            "all were taken as names without order (--ordered puts them in order, these last)",
        )
    return Arrangement(listing, False, note, mixed)


def given_order(names: Sequence[str]) -> bool:
    """Tell whether a domain whose order was given has one unasked: ranges of numbers that rise, or fall, throughout."""
    order = recognised(names)
    if order is None or not order[0].numeric or order[0].outside:
        return False
    return list(names) in (order[0].labels, order[0].labels[::-1])


def shown_order(labels: Sequence[str]) -> str:
    """Return the first labels of an order and the last.

    >>> shown_order(["a", "b", "c", "d", "e", "f", "g"]), shown_order(["a", "b"])
    ("'a', 'b', 'c', 'd', …, 'g'", "'a', 'b'")
    """
    names = [shortened(label) for label in (*labels[:SHOWN], *labels[max(SHOWN, len(labels) - 1) :])]
    if len(labels) > SHOWN + 1:
        names.insert(SHOWN, "…")
    return ", ".join(names)


def _by_order(order: Fit, other: Fit | None, listing: tuple[str, ...], *, from_file: bool) -> Arrangement:
    """Return labels in the order that people mean, and at its end those without a place in it."""
    placed = _directed(order, listing, from_file=from_file)
    warnings = list(order.doubts)
    if other is not None:
        warnings.append(
            f"the labels can be {order.name} or {other.name}: taken as {order.name}, {shown_order(placed)} "
            "(--domain FILE gives another order)"
        )
    same = [(one, two) for one, two in zip(order.labels, order.labels[1:], strict=False)
            if order.keys[one] == order.keys[two]]  # fmt: skip
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
    """Return the labels that fit in order; a file's own order stays where it is the same line, or the same circle.

    A file in alphabetical order has none of its own: programs write it so, and rows without counts are listed so.
    """
    rising = tuple(order.labels)
    if not from_file or list(listing) == sorted(listing):
        return rising
    own = tuple(label for label in listing if label in order.keys)
    at = rising.index(own[0])
    turned = (*rising[at:], *rising[:at])
    return own if own == rising[::-1] or (order.cyclic and own == turned) else rising
