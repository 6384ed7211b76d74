"""What look-ups cover: methods, metrics and ranges."""

from __future__ import annotations

import numpy as np

METHODS = (
    "none",
    "base_pos",
    "post_pos",
    "base_cut",
    "norm",
    "norm_mul",
    "norm_sub",
    "norm_cut",
    "mle_apx",
    "power",
    "power_ns",
    "ibu",  # one formula goes by both names, ibu and ibu_pseudo
    "eb_ns",
    "wavelet_eb",
)
ALIASES = {"ibu_pseudo": "ibu"}
MEASURED = ("l1", "mse", "l2", "kl", "js", "emd", "topk", "set", "range")
METRICS = (*MEASURED[:1], "mae", *MEASURED[1:])  # mae is l1 / k
ORDERED_METHODS = frozenset({"wavelet_eb"})
ORDERED_METRICS = frozenset({"emd", "range"})
QUERY_METHODS, QUERY_METRICS = frozenset({"post_pos"}), frozenset({"set", "range"})
UNBOUNDED = frozenset({"none", "post_pos", "norm", "base_pos", "base_cut"})  # results may lie anywhere
REPAIRED = frozenset({"kl", "js"})  # metrics that bring every result to the simplex first
FREE = np.array([[method in UNBOUNDED and metric not in REPAIRED for metric in MEASURED] for method in METHODS])

EPSILON, DOMAIN, USERS = (0.1, 16.0), (2, 250_000), (1_000, 1_000_000_000)  # what the advice covers
SIMULATED_DOMAIN = 4096  # largest domain that is simulated


def applies(method: str, metric: str, *, ordered: bool) -> bool:
    """Tell whether a simulated method has an error in the metric, on a domain with or without an order."""
    if not ordered and (method in ORDERED_METHODS or metric in ORDERED_METRICS):
        return False
    return method not in QUERY_METHODS or metric in QUERY_METRICS
