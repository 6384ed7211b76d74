"""Reports of a tree: the height that was drawn, and the number of a node there, or one bit for each node."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np

from advisor.errors import InputError
from advisor.inputs.blocks import Block, Rows
from advisor.inputs.columns import Table
from advisor.inputs.reports.bits import bits_of, wrong_bits
from advisor.inputs.reports.settings import Collected, Settings, place_names
from advisor.inputs.reports.symbols import Column, number_of, numbers_of
from simulator import Tally
from simulator._types import IntArray
from simulator.protocols.tree import Tree

_HEIGHT_NAMES = frozenset({"height", "heights"})
_NODE_NAMES = frozenset({"node", "nodes", "bits", "report", "reports"})
_LONGEST = 7  # digits of a number that is counted without looking at it: counts go up to the largest


def collect_nodes(rows: Rows, settings: Settings) -> Collected:
    """Tally the nodes of all heights.

    Raises InputError for a height that the tree does not have, and for what is not said of its nodes as it should be.
    """
    table, k = rows.table, settings.k or 0
    tree = settings.oracle(k)
    if not isinstance(tree, Tree):
        raise TypeError(f"{settings.protocol} is no tree")
    height_at, node_at = _columns(table)
    top = len(tree.inner)
    allowed = f"{settings} and k={k} has the heights 0 (the leaves) to {top - 1}; k may be wrong"
    height = Column(height_at, "height", top, allowed)
    tally = reduce(add, (_tally(rows, block, height, node_at, tree) for block in rows.blocks([height_at, node_at])))
    note = (
        f"column {table.called(height_at)} read as heights, from 0 for the leaves, column {table.called(node_at)} as "
        "what is said of the nodes there"
    )
    return Collected(settings.domain or place_names(k), tally, (note,))


def _columns(table: Table) -> tuple[int, int]:
    if table.width < 2:
        raise InputError(f"{table.source}: has 1 column; a report of a tree is a height and its node, in two columns")
    names = ["".join(filter(str.isalnum, name.casefold())) for name in table.names or ()]
    heights = [at for at, name in enumerate(names) if name in _HEIGHT_NAMES]
    nodes = [at for at, name in enumerate(names) if name in _NODE_NAMES]
    if len(heights) == 1 and (len(nodes) == 1 or table.width == 2):
        return heights[0], nodes[0] if len(nodes) == 1 else 1 - heights[0]
    if heights or nodes:
        raise InputError(
            f"{table.source}: cannot tell which columns hold height and node among {table.columns()}; name one height "
            "and one node"
        )
    return 0, 1


def _tally(rows: Rows, block: Block, height: Column, node_at: int, tree: Tree) -> Tally:
    """Return the tally of a block, as `Tree.tally` would: the reports themselves would take k numbers each."""
    heights, cells = numbers_of(rows, block, [height])[:, 0], block.cells(node_at)
    parts = _parts(heights, cells, tree)
    if parts is None:
        places = zip(block.places, heights.tolist(), cells, strict=True)
        parts = _parts(heights, [_plain(rows, place, tree, at, cell) for place, at, cell in places], tree)
    return Tally(np.concatenate([*(parts or ()), np.bincount(heights, minlength=len(tree.inner))]), len(block))


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


def _plain(rows: Rows, place: int, tree: Tree, height: int, cell: str) -> str:
    """Return what is said of the nodes of a height, a number in digits alone; raise InputError if it is wrong."""
    nodes = tree.inner[height].k
    if tree.inner[height].report_kind == "bits":
        why = wrong_bits(cell, nodes, f"height {height} has {nodes} nodes; k or eps may be wrong")
        if why:
            raise rows.bad(place, why)
        return cell
    allowed = (
        f"at height {height} {tree.key} with eps={tree.epsilon:g} and k={tree.k} reports one of {nodes} nodes by its "
        f"number, from 0 to {nodes - 1}; k or eps may be wrong"
    )
    return str(number_of(rows, place, cell, Column(0, "node", nodes, allowed)))
