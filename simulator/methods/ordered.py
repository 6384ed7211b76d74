"""The methods that go with protocols for ordered domains."""

from __future__ import annotations

from simulator.methods.expectation import em, ems
from simulator.methods.isotonic import iso_cdf
from simulator.methods.processor import PostProcessor
from simulator.methods.smooth import em_stopped
from simulator.methods.tree import tree_eb

_LI = "Li, Wang, Lopuhaä-Zwakenberg, Li, Škorić, SIGMOD 2020"
_CORMODE = "Cormode, Kulkarni, Srivastava, VLDB 2019"
_ESTIMATE, _LIKELIHOOD = frozenset({"estimate", "order"}), frozenset({"local_likelihood", "order"})

_METHODS = (
    PostProcessor(
        "iso_cdf",
        "Isotonic CDF",
        iso_cdf,
        nonnegative=True,
        sums_to_one=True,
        reference=_CORMODE,
        keeps_order=False,
        needs=_ESTIMATE,
    ),
    PostProcessor(
        "tree_eb",
        "Tree empirical Bayes",
        tree_eb,
        nonnegative=True,
        sums_to_one=True,
        reference="this project",
        keeps_order=False,
        needs=_ESTIMATE | {"haar"},
    ),
    PostProcessor(
        "em", "EM", em, nonnegative=True, sums_to_one=True, reference=_LI, keeps_order=False, needs=_LIKELIHOOD
    ),
    PostProcessor(
        "ems",
        "EM with smoothing",
        ems,
        nonnegative=True,
        sums_to_one=True,
        reference=_LI,
        keeps_order=False,
        needs=_LIKELIHOOD,
    ),
    PostProcessor(
        "em_stopped",
        "EM from a smooth curve, stopped early",
        em_stopped,
        nonnegative=True,
        sums_to_one=True,
        reference=f"{_LI}; this project",
        keeps_order=False,
        needs=_LIKELIHOOD,
    ),
)

ORDERED_METHODS: dict[str, PostProcessor] = {method.name: method for method in _METHODS}
