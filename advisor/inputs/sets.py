"""The sets of categories that queries are about, from a file of the user."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.errors import listed, near_miss
from advisor.inputs.head import Expected, FileLayout
from advisor.inputs.labels import shortened
from advisor.inputs.table import opened_rows


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
