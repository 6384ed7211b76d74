"""Reports of a tree: the height that was drawn, and the number of a node there, or one bit for each node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from advisor.errors import InputError
from advisor.inputs.blocks import Block, Rows, Where
from advisor.inputs.columns import Table
from advisor.inputs.reports.bits import bits_of, plain_bits, wrong_bits
from advisor.inputs.reports.counting import CellCounting, Cells
from advisor.inputs.reports.settings import Settings
from advisor.inputs.reports.symbols import Column, number_of, numbers_of
from simulator._types import IntArray
from simulator.protocols.tree import Tree

_HEIGHT_NAMES = frozenset({"height", "heights"})
_NODE_NAMES = frozenset({"node", "nodes", "bits", "report", "reports"})
_LONGEST = 7  # digits of a number that is counted without looking at it: counts go up to the largest


@dataclass(frozen=True)
class NodeCounting(CellCounting):
    """Tallies the nodes of all heights, as `Tree.tally` would: the reports themselves would take k numbers each."""

    height: Column
    node_at: int

    @property
    def columns(self) -> list[int]:
        """The columns that are read."""
        return [self.height.at, self.node_at]

    def cells(self, block: Block) -> Cells:
        """Return the tally of one block."""
        tree, where = _tree(self.settings), self.where
        heights, cells = numbers_of(where, block, [self.height])[:, 0], block.cells(self.node_at)
        parts = _parts(heights, cells, tree)
        if parts is None:
            places = zip(block.places, heights.tolist(), cells, strict=True)
            parts = _parts(heights, [_plain(where, place, tree, at, cell) for place, at, cell in places], tree)
        return np.concatenate([*(parts or ()), np.bincount(heights, minlength=len(tree.inner))])


def count_nodes(rows: Rows, settings: Settings) -> NodeCounting:
    """Return how the nodes of all heights are counted.

    Raises InputError for a table of one column, or of which nobody can tell what is in which.
    """
    table = rows.table
    tree = _tree(settings)
    height_at, node_at = _columns(table)
    top = len(tree.inner)
    allowed = f"{settings} and k={tree.k} has the heights 0 (the leaves) to {top - 1}; k may be wrong"
    note = (
        f"column {table.called(height_at)} read as heights, from 0 for the leaves, column {table.called(node_at)} as "
        "what is said of the nodes there"
    )
    height = Column(height_at, "height", top, allowed)
    return NodeCounting(Where(table).without_rows(), settings, (note,), height, node_at)


def _tree(settings: Settings) -> Tree:
    tree = settings.oracle(settings.k or 0)
    if not isinstance(tree, Tree):
        raise TypeError(f"{settings.protocol} is no tree")
    return tree


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


def _plain(where: Where, place: int, tree: Tree, height: int, cell: str) -> str:
    """Return what is said of the nodes of a height, a number in digits alone; raise InputError if it is wrong."""
    nodes = tree.inner[height].k
    if tree.inner[height].report_kind == "bits":
        cell = plain_bits(cell)
        why = wrong_bits(cell, nodes, f"height {height} has {nodes} nodes; k or eps may be wrong")
        if why:
            raise where.bad(place, why)
        return cell
    allowed = (
        f"at height {height} {tree.key} with eps={tree.epsilon:g} and k={tree.k} reports one of {nodes} nodes by its "
        f"number, from 0 to {nodes - 1}; k or eps may be wrong"
    )
    return str(number_of(where, place, cell, Column(0, "node", nodes, allowed)))
