"""Coverage of look-ups: methods, metrics and ranges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

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
    "ibu",  # both names, ibu and ibu_pseudo, have the same formula
    "eb_ns",
    "wavelet_eb",
)
ALIASES = {"ibu_pseudo": "ibu"}
# Methods and metrics of a build. Data that was built before knows those of its provenance; mae, which is l1 / k, goes
# with them.
MEASURED = ("l1", "mse", "l2", "kl", "js", "emd", "topk", "set", "range", "mean", "quantiles", "ks")
ORDERED_METHODS = frozenset({"wavelet_eb", "iso_cdf", "tree_eb", "em", "ems", "em_stopped"})
ORDERED_METRICS = frozenset({"emd", "range", "mean", "quantiles", "ks"})
QUERY_METHODS, QUERY_METRICS = frozenset({"post_pos"}), frozenset({"set", "range"})
UNBOUNDED = frozenset({"none", "post_pos", "norm", "base_pos", "base_cut"})  # results may lie anywhere
BOUNDED = frozenset({"kl", "js", "quantiles"})  # metrics that are bounded for any result

EPSILON, DOMAIN, USERS = (0.1, 16.0), (2, 250_000), (1_000, 1_000_000_000)  # ranges covered by the advice
SIMULATED_DOMAIN = 4096  # largest domain that is simulated

Labels = tuple[str, str]  # protocol and method


@dataclass(frozen=True)
class ErrorTable:
    """Table of predictions: errors of pairs in metrics."""

    pairs: tuple[Labels, ...]  # without a protocol where its noise is all that matters
    metrics: tuple[str, ...]

    @classmethod
    def of(cls, names: Iterable[str], metrics: tuple[str, ...]) -> ErrorTable:
        """Return the table of pairs by name: a method, or protocol and method with a plus between."""
        return cls(tuple((protocol, method) for protocol, _, method in (n.rpartition("+") for n in names)), metrics)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the pairs, as `of` takes them."""
        return tuple("+".join(filter(None, pair)) for pair in self.pairs)

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """Whether nothing bounds the error ``(pairs, metrics)``."""
        return np.array([[m in UNBOUNDED and metric not in BOUNDED for metric in self.metrics] for _, m in self.pairs])

    @cached_property
    def competing(self) -> NDArray[np.bool_]:
        """Whether the method is made for the metric ``(pairs, metrics)``."""
        return np.array([[applies(m, metric, ordered=True) for metric in self.metrics] for _, m in self.pairs])


CATEGORIES = ErrorTable.of(METHODS, MEASURED)
# Ordered domains have separate cells: with more methods for the same protocols, and two for comparison, and with
# protocols whose error does not depend on a single noise scale.
ORDERED_DOMAIN = 2048
LEAVES = ErrorTable.of(("norm_sub", "eb_ns", "iso_cdf", "tree_eb"), MEASURED)
_LINEAR = ("none", "base_pos", "post_pos", "norm", "norm_mul", "norm_sub", "norm_cut", "iso_cdf", "tree_eb")
CURVES = ErrorTable(
    (
        *((protocol, method) for protocol in ("tree", "tree_half", "haar_hrr") for method in _LINEAR),
        *(("sw", method) for method in ("em", "ems", "em_stopped")),
    ),
    MEASURED,
)
CURVE_PROTOCOLS = tuple(dict.fromkeys(protocol for protocol, _ in CURVES.pairs))
COVERED = frozenset(method for _, method in (*CATEGORIES.pairs, *LEAVES.pairs, *CURVES.pairs))


def applies(method: str, metric: str, *, ordered: bool) -> bool:
    """Return whether a simulated method has an error in the metric, on a domain with or without an order."""
    if not ordered and (method in ORDERED_METHODS or metric in ORDERED_METRICS):
        return False
    return method not in QUERY_METHODS or metric in QUERY_METRICS
