"""A shuffler between users and server: the guarantee of shuffled reports, and the accuracy of a trusted server."""

from __future__ import annotations

from simulator.shuffler.amplification import Shuffler, clones_2021, clones_2023, hockey_stick
from simulator.shuffler.central import CentralHistogram

__all__ = ["CentralHistogram", "Shuffler", "clones_2021", "clones_2023", "hockey_stick"]
