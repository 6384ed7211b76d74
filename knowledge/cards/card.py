"""What a card holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Card:
    """What is known of one member."""

    # The definition. k categories, n users; e: raw estimate of a frequency, s: its noise sd at frequency 0, f̃: the
    # result, f: the truth.
    formula: str
    good_for: str  # when it is a good choice
    pitfalls: str  # what goes wrong with it, or with the ways it is often written
    # What it takes, in a few words: for a protocol the size of a report and the server's work for n of them, for a
    # method or a metric the work per estimate
    cost: str
