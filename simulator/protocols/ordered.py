"""The protocols for ordered domains."""

from __future__ import annotations

from simulator.protocols.haar_hadamard import HaarHadamard
from simulator.protocols.protocol import StandardProtocol
from simulator.protocols.square_wave import SquareWave
from simulator.protocols.tree import HalfTree, Tree

ORDERED_PROTOCOLS: dict[str, type[StandardProtocol]] = {
    "tree": Tree,
    "tree_half": HalfTree,
    "sw": SquareWave,
    "haar_hrr": HaarHadamard,
}
