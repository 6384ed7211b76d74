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
    running = np.cumsum(norm(estimate, noise), axis=-1)
    k = running.shape[-1]
    rising = np.clip(isotonic(running[..., :-1].reshape(-1, k - 1)), 0.0, 1.0)
    ends = np.broadcast_to([0.0, 1.0], (len(rising), 2))
    return np.diff(np.concatenate([ends[:, :1], rising, ends[:, 1:]], axis=1), axis=1).reshape(estimate.shape)


def isotonic(rows: FloatArray) -> FloatArray:
    """Return for each row ``(rows, m)`` the nondecreasing row with the least squared distance.

    Adjacent violators are pooled (Ayer, Brunk, Ewing, Reid, Silverman, 1955), in all rows at once: blocks whose means
    fall from one to the next belong together whatever else is pooled, so each round pools all of them.
    """
    m = rows.shape[1]
    means, sizes = rows.ravel(), np.ones(rows.size)
    starts = np.arange(rows.size)
    while len(starts) > 1:
        falls = (means[:-1] > means[1:]) & (starts[1:] % m != 0)
        if not falls.any():
            break
        kept = np.flatnonzero(np.concatenate([[True], ~falls]))
        totals = np.add.reduceat(means * sizes, kept)
        sizes = np.add.reduceat(sizes, kept)
        means, starts = totals / sizes, starts[kept]
    return np.repeat(means, np.diff(np.append(starts, rows.size))).reshape(rows.shape)


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
