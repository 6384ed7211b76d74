"""Halving an ordered domain again and again: node i of height t holds the values v with ``v >> t == i``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simulator._types import FloatArray, RealArray


def height_of(k: int) -> int:
    """Return the height of the node that holds all of k values."""
    return (k - 1).bit_length()


def nodes_at(k: int, height: int) -> int:
    """Return how many nodes of a height hold some of k values; the last may hold fewer than the others."""
    return -(-k >> height)


def node_counts(k: int) -> list[int]:
    """Return how many nodes each height has, from the leaves to the two below the root."""
    return [nodes_at(k, height) for height in range(height_of(k))]


def halves(nodes: RealArray) -> tuple[RealArray, RealArray]:
    """Return the left and the right halves ``(..., ceil(m/2))`` of the nodes above ``(..., m)``; none counts as 0."""
    left, right = nodes[..., 0::2], nodes[..., 1::2]
    if right.shape[-1] < left.shape[-1]:
        right = np.concatenate([right, np.zeros_like(left[..., -1:])], axis=-1)
    return left, right


def merged(nodes: RealArray) -> RealArray:
    """Return the sums of the nodes at the next height ``(..., ceil(m/2))``."""
    left, right = halves(nodes)
    return left + right


def sums_at(values: RealArray, height: int) -> RealArray:
    """Return the sums ``(..., nodes)`` of values ``(..., k)`` in each node of a height."""
    for _ in range(height):
        values = merged(values)
    return values


def doubled(parents: RealArray, below: int) -> RealArray:
    """Return for each of the nodes ``(..., below)`` at the next lower height the entry of its parent."""
    return np.repeat(parents, 2, axis=-1)[..., :below]


def parts(k: int, height: int) -> FloatArray:
    """Return for each node below a height its part of an estimate of its parent: half, or all without a sibling."""
    below = nodes_at(k, height - 1)
    result = np.full(below, 0.5)
    if below % 2:
        result[-1] = 1.0
    return result


def divided(parents: RealArray, difference: RealArray, nodes: int) -> RealArray:
    """Return the nodes ``(..., nodes)`` below: left half ``(parent + difference) / 2``, right half the rest.

    A parent without a right half is its left half.
    """
    result = np.repeat(parents, 2, axis=-1)
    result[..., 0::2] += difference
    result[..., 1::2] -= difference
    result /= 2
    if nodes % 2:
        result[..., nodes - 1] = parents[..., -1]
    return result[..., :nodes]


def differences(values: FloatArray) -> list[FloatArray]:
    """Return all Haar differences, left half less right half, of values ``(..., k)``, the finest first."""
    result = []
    while values.shape[-1] > 1:
        left, right = halves(values)
        result.append(left - right)
        values = left + right
    return result


def rebuilt(details: Sequence[FloatArray], k: int) -> FloatArray:
    """Return the values ``(..., k)`` with sum 1 that have these Haar differences, the finest first."""
    result = np.ones((*details[0].shape[:-1], 1))
    for height in reversed(range(len(details))):
        result = divided(result, details[height], nodes_at(k, height))
    return result
