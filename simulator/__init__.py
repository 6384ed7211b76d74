"""Local differential privacy, computed: protocols, post-processing methods, metrics and the benchmark."""

from __future__ import annotations

from simulator._version import __version__
from simulator.metrics import METRICS, Metric
from simulator.postprocess import POSTPROCESSORS, PostProcessor
from simulator.protocols import PROTOCOLS, FrequencyOracle, Noise
from simulator.seeding import rng_for

__all__ = [
    "METRICS",
    "POSTPROCESSORS",
    "PROTOCOLS",
    "FrequencyOracle",
    "Metric",
    "Noise",
    "PostProcessor",
    "__version__",
    "rng_for",
]
