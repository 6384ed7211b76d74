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
    PostProcessor("iso_cdf", "Isotonic CDF", iso_cdf, True, True, _CORMODE, keeps_order=False, needs=_ESTIMATE),
    PostProcessor(
        "tree_eb",
        "Tree empirical Bayes",
        tree_eb,
        True,
        True,
        "this project",
        keeps_order=False,
        needs=_ESTIMATE | {"haar"},
    ),
    PostProcessor("em", "EM", em, True, True, _LI, keeps_order=False, needs=_LIKELIHOOD),
    PostProcessor("ems", "EM with smoothing", ems, True, True, _LI, keeps_order=False, needs=_LIKELIHOOD),
    PostProcessor(
        "em_stopped",
        "EM from a smooth curve, stopped early",
        em_stopped,
        True,
        True,
        f"{_LI}; this project",
        keeps_order=False,
        needs=_LIKELIHOOD,
    ),
)

ORDERED_METHODS: dict[str, PostProcessor] = {method.name: method for method in _METHODS}
