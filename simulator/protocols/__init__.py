"""The protocols, in table order."""

from __future__ import annotations

from simulator.protocols.grr import GRR
from simulator.protocols.hadamard import HadamardResponse
from simulator.protocols.local_hashing import BLH, OLH
from simulator.protocols.oracle import FrequencyOracle, Noise
from simulator.protocols.ordered import ORDERED_PROTOCOLS
from simulator.protocols.projective_geometry import ProjectiveGeometry
from simulator.protocols.protocol import EPSILON_MAX, EPSILON_MIN, StandardProtocol
from simulator.protocols.subset import SubsetSelection
from simulator.protocols.summation import SHE, THE
from simulator.protocols.unary import OUE, RAPPOR

PROTOCOLS: dict[str, type[StandardProtocol]] = {
    "grr": GRR,
    "rappor": RAPPOR,
    "oue": OUE,
    "blh": BLH,
    "olh": OLH,
    "ss": SubsetSelection,
    "the": THE,
    "she": SHE,
    "hr": HadamardResponse,
    "pgr": ProjectiveGeometry,
    **ORDERED_PROTOCOLS,
}

__all__ = ["EPSILON_MAX", "EPSILON_MIN", "PROTOCOLS", "FrequencyOracle", "Noise", "StandardProtocol"]
