"""The same users again and again: protocols that remember a permanent randomisation of each value.

A collection plan, not a protocol: it is made of two, the first step at the budget of all rounds together.
"""

from __future__ import annotations

from typing import TypeAlias

from simulator.memoisation.bit_flips import DBitFlipPM
from simulator.memoisation.changes import Changes, Moments
from simulator.memoisation.families import LOLOHA, BiLOLOHA, LongitudinalGRR, LongitudinalOUE, LongitudinalRAPPOR
from simulator.memoisation.repeated import TwoSteps

Repeated: TypeAlias = TwoSteps | DBitFlipPM
"""A protocol with devices that remember."""

MEMOISED: dict[str, type[TwoSteps]] = {
    kind.key: kind for kind in (LongitudinalGRR, LongitudinalRAPPOR, LongitudinalOUE, BiLOLOHA, LOLOHA)
}
"""Protocols of the table with a permanent and an instantaneous step, by the key of the protocol."""

__all__ = ["MEMOISED", "Changes", "DBitFlipPM", "Moments", "Repeated", "TwoSteps"]
