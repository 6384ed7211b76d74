"""The protocols, in table order."""

from __future__ import annotations

from simulator.protocols.grr import GRR
from simulator.protocols.hadamard import HadamardResponse
from simulator.protocols.local_hashing import BLH, OLH
from simulator.protocols.oracle import EPSILON_MAX, EPSILON_MIN, FrequencyOracle, Noise
from simulator.protocols.projective_geometry import ProjectiveGeometry
from simulator.protocols.subset import SubsetSelection
from simulator.protocols.summation import SHE
from simulator.protocols.thresholding import THE
from simulator.protocols.unary import OUE, RAPPOR

PROTOCOLS: dict[str, type[FrequencyOracle]] = {
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
}

__all__ = ["EPSILON_MAX", "EPSILON_MIN", "PROTOCOLS", "FrequencyOracle", "Noise"]
