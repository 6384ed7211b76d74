"""Reports of a tree: the height that was drawn, and the number of a node there, or one bit for each node."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import cast

import numpy as np

from advisor.inputs.blocks import Block, Rows
from advisor.inputs.columns import Table
from advisor.inputs.reports.bits import bits_of, plain_bits, wrong_bits
from advisor.inputs.reports.counting import Cells, Counting, summed
from advisor.inputs.reports.settings import Settings
from advisor.inputs.reports.symbols import Column, number_of, numbers_of, two_columns
from simulator._types import IntArray
from simulator.protocols.tree import Tree

_HEIGHT_NAMES = frozenset({"height", "heights"})
_NODE_NAMES = frozenset({"node", "nodes", "bits", "report", "reports"})
_LONGEST = 7  # digits of a number that is counted without looking at it: counts go up to the largest


def count_nodes(rows: Rows, settings: Settings) -> Counting:
    """Return how the nodes of all heights are counted.

    Raises InputError for a table of one column, or of which nobody can tell what is in which.
    """
    table, tree = rows.table, cast(Tree, settings.oracle(settings.k or 0))
    height_at, node_at = two_columns(table, settings, ("height", "node"), _HEIGHT_NAMES, _NODE_NAMES)
    top = len(tree.inner)
    allowed = f"{settings} and k={tree.k} has the heights 0 (the leaves) to {top - 1}; k may be wrong"
    note = (
        f"column {table.called(height_at)} read as heights, from 0 for the leaves, column {table.called(node_at)} as "
        "what is said of the nodes there"
    )
    cells = partial(_tally, table.without_rows(), Column(height_at, "height", top, allowed), node_at, tree)
    return Counting(table.without_rows(), settings, (note,), [height_at, node_at], partial(summed, cells))


def _tally(table: Table, height: Column, node_at: int, tree: Tree, block: Block) -> Cells:
    """Tally the nodes of all heights, as `Tree.tally` would: the reports themselves would take k numbers each."""
    heights, cells = numbers_of(table, block, [height])[:, 0], block.cells(node_at)
    parts = _parts(heights, cells, tree)
    if parts is None:
        places = zip(block.places, heights.tolist(), cells, strict=True)
        parts = _parts(heights, [_plain(table, place, tree, at, cell) for place, at, cell in places], tree)
    return np.concatenate([*(parts or ()), np.bincount(heights, minlength=len(tree.inner))])


def _parts(heights: IntArray, cells: Sequence[str], tree: Tree) -> list[IntArray] | None:
    """Return how often each node of each height was reported; None if a report is not written as it should be."""
    every, result = np.array(cells, dtype=object), []
    for height, oracle in enumerate(tree.inner):
        own = every[heights == height].tolist()
        part = np.zeros(oracle.k, dtype=np.int64)
        if own and oracle.report_kind == "bits":
            bits = bits_of(own, oracle.k)
            if bits is None:
                return None
            part = bits.sum(axis=0, dtype=np.int64)
        elif own:
            joined = "".join(own)
            if "" in own or not (joined.isascii() and joined.isdecimal()) or max(map(len, own)) > _LONGEST:
                return None
            part = np.bincount(list(map(int, own)), minlength=oracle.k)
            if len(part) > oracle.k:
                return None
        result.append(part)
    return result


def _plain(table: Table, place: int, tree: Tree, height: int, cell: str) -> str:
    """Return what is said of the nodes of a height, a number in digits alone; raise InputError if it is wrong."""
    nodes = tree.inner[height].k
    if tree.inner[height].report_kind == "bits":
        cell = plain_bits(cell)
        why = wrong_bits(cell, nodes, f"height {height} has {nodes} nodes; k or eps may be wrong")
        if why:
            raise table.bad(place, why)
        return cell
    allowed = (
        f"at height {height} {tree.key} with eps={tree.epsilon:g} and k={tree.k} reports one of {nodes} nodes by its "
        f"number, from 0 to {nodes - 1}; k or eps may be wrong"
    )
    return str(number_of(table, place, cell, Column(0, "node", nodes, allowed)))
