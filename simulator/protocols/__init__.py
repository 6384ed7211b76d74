"""The protocols, in table order."""

from __future__ import annotations

from simulator.protocols.grr import GRR
from simulator.protocols.haar_hadamard import HaarHadamard
from simulator.protocols.hadamard import HadamardResponse
from simulator.protocols.local_hashing import BLH, OLH
from simulator.protocols.oracle import FrequencyOracle, Noise
from simulator.protocols.projective_geometry import ProjectiveGeometry
from simulator.protocols.protocol import EPSILON_MAX, EPSILON_MIN, StandardProtocol
from simulator.protocols.square_wave import SquareWave
from simulator.protocols.subset import SubsetSelection
from simulator.protocols.tree import HalfTree, Tree
from simulator.protocols.unary import OUE, RAPPOR, SHE, THE

ORDERED_PROTOCOLS: dict[str, type[StandardProtocol]] = {
    kind.key: kind for kind in (Tree, HalfTree, SquareWave, HaarHadamard)
}
"""Those for ordered domains alone."""

_CATEGORIES = (GRR, RAPPOR, OUE, BLH, OLH, SubsetSelection, THE, SHE, HadamardResponse, ProjectiveGeometry)
PROTOCOLS: dict[str, type[StandardProtocol]] = {kind.key: kind for kind in _CATEGORIES} | ORDERED_PROTOCOLS

__all__ = ["EPSILON_MAX", "EPSILON_MIN", "PROTOCOLS", "FrequencyOracle", "Noise", "StandardProtocol"]
