"""Closed forms of what shuffling gives, as a check of the numerical bound: they are above it."""

from __future__ import annotations

import math


def clones_2021(local: float, n: int, delta: float) -> float | None:
    """Return the central budget by Feldman, McMillan, Talwar, "Hiding among the clones", FOCS 2021, Theorem III.1.

    None where n is too small for it.
    """
    if local > math.log(n / (16 * math.log(2 / delta))):
        return None
    odds = math.exp(local)
    spread = 8 * math.sqrt(odds * math.log(4 / delta) / n) + 8 * odds / n
    return math.log1p(math.tanh(local / 2) * spread)


def clones_2023(local: float, n: int, delta: float) -> float | None:
    """Return the central budget by Feldman, McMillan, Talwar, "Stronger privacy amplification by shuffling", SODA 2023.

    Their Theorem 3.2 for any protocol. None where n is too small for it.
    """
    share = 1 / (math.exp(local) + 1)
    if n <= 8 * math.log(4 / delta) / share:
        return None
    spread = math.sqrt(32 * math.log(4 / delta) / (share * (n - 1))) + 4 / (share * (n - 1))
    return math.log1p(math.tanh(local / 2) * spread)


def blanket_share(local: float, k: int) -> float:
    """Return the share of GRR reports that hold nothing of their user's value.

    Balle, Bell, Gascón, Nissim, "The privacy blanket of the shuffle model", CRYPTO 2019, Section 5.1.
    """
    return k / (math.exp(local) + k - 1)
