"""A shuffler between users and server: what shuffled reports promise, and how accurate a trusted server would be."""

from __future__ import annotations

from simulator.shuffler.amplification import Shuffler, clones_2021, clones_2023, hockey_stick
from simulator.shuffler.central import CentralHistogram

__all__ = ["CentralHistogram", "Shuffler", "clones_2021", "clones_2023", "hockey_stick"]
