"""An estimate to ask about, and a quick answer to it."""

from __future__ import annotations

import numpy as np

from advisor import Advice, advise
from simulator import PROTOCOLS
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from tests.advisor.schemas import schema

SCHEMA = schema("advice")
K, N = 10, 20_000
FEW = ("none", "norm_sub", "power_ns")
QUICK = {"method": FEW, "repetitions": 6}
ALONE = {"max_bits": 1}  # leaves no protocol for the next round, whose simulation takes longest


def raw(protocol: str = "oue", k: int = K, n: int = N, shape: str = "zipf", epsilon: float = 1.0) -> np.ndarray:
    oracle = PROTOCOLS[protocol](k, epsilon)
    rng = rng_for(0, "tests", "estimate answer", protocol, k, n, shape)
    return oracle.estimate(oracle.sample_support(apportion(frequencies(shape, k), n), rng), n)


def quick(estimate: object = None, protocol: object = "oue", n: object = N, **options: object) -> Advice:
    values = raw() if estimate is None else estimate
    return advise(1.0, estimate=values, protocol=protocol, n=n, **(QUICK | options))  # type: ignore[arg-type]
