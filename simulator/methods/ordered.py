"""The methods that go with protocols for ordered domains."""

from __future__ import annotations

from functools import partial

import numpy as np

from simulator._types import FloatArray
from simulator.methods.expectation import PUBLISHED_DOMAIN, em, ems
from simulator.methods.processor import PostProcessor, proper
from simulator.methods.simplex import norm
from simulator.methods.smooth import em_stopped
from simulator.methods.tree import tree_eb
from simulator.protocols.oracle import Noise


def iso_cdf(estimate: FloatArray, noise: Noise) -> FloatArray:
    """Return the steps of the nearest cumulative distribution: running sums, isotonic regression, clipped to [0, 1].

    Cormode, Kulkarni, Srivastava, "Answering range queries under local differential privacy", VLDB 2019. Estimates are
    first moved by the same amount to sum to 1, as the last running sum is known; those of trees do so already.
    """
    from scipy.optimize import isotonic_regression  # heavy

    result = np.cumsum(norm(estimate, noise), axis=-1)
    for row in result.reshape(-1, result.shape[-1]):
        row[:-1] = np.clip(isotonic_regression(row[:-1]).x, 0.0, 1.0)
    result[..., -1] = 1.0
    return np.diff(result, axis=-1, prepend=0.0)


_LI = "Li, Wang, Lopuhaä-Zwakenberg, Li, Škorić, SIGMOD 2020"
_CORMODE = "Cormode, Kulkarni, Srivastava, VLDB 2019"
_ESTIMATE, _LIKELIHOOD = frozenset({"estimate", "order"}), frozenset({"local_likelihood", "order"})

_ordered = partial(proper, keeps_order=False)
_METHODS = (
    _ordered("iso_cdf", "Isotonic CDF", iso_cdf, reference=_CORMODE, needs=_ESTIMATE),
    _ordered("tree_eb", "Tree empirical Bayes", tree_eb, reference="this project", needs=_ESTIMATE | {"haar"}),
    _ordered("em", "EM", em, reference=_LI, largest=PUBLISHED_DOMAIN, needs=_LIKELIHOOD),
    _ordered("ems", "EM with smoothing", ems, reference=_LI, largest=PUBLISHED_DOMAIN, needs=_LIKELIHOOD),
    _ordered(
        "em_stopped",
        "EM from a smooth curve, stopped early",
        em_stopped,
        reference=f"{_LI}; this project",
        short="Stopped EM",
        needs=_LIKELIHOOD,
    ),
)

ORDERED_METHODS: dict[str, PostProcessor] = {method.name: method for method in _METHODS}
