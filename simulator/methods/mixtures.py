"""Mixtures fitted row by row: what the empirical-Bayes methods share."""

from __future__ import annotations

from simulator._types import FloatArray


def mix(weights: FloatArray, kernel: FloatArray) -> FloatArray:
    """Multiply each row of weights ``(rows, a)`` by ``(a, b)`` on its own.

    One product for the whole batch would be faster, but the digits of a row would depend on how many others there are.
    """
    return (weights[:, None, :] @ kernel)[:, 0, :]
