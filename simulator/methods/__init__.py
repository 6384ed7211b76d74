"""The post-processing methods, in table order.

Source, unless stated otherwise: Wang, Li, Lopuhaä-Zwakenberg, Škorić, Li, "Locally differentially private frequency
estimation with consistency", NDSS 2020.
"""

from __future__ import annotations

from functools import partial

from simulator.methods.empirical_bayes import eb_ns
from simulator.methods.expectation import PUBLISHED_DOMAIN, em, ems
from simulator.methods.maximum_likelihood import closed_form, ibu
from simulator.methods.observed import Observed, observe
from simulator.methods.power import power, power_ns
from simulator.methods.processor import NEARNESS, Methods, PostProcessor, possible, proper
from simulator.methods.recovery import drop_fakes, norm_min, recover, recover_known, subtract_fakes
from simulator.methods.simplex import base_cut, base_pos, iso_cdf, mle_apx, none, norm, norm_cut, norm_mul, norm_sub
from simulator.methods.smooth import em_stopped
from simulator.methods.tree import tree_eb
from simulator.methods.wavelet import wavelet_eb_near

_WANG = "Wang et al., NDSS 2020"
_IBU = "Agrawal, Aggarwal, PODS 2001; Pinzon et al., AAAI 2026"
_JIA = "Jia, Gong, INFOCOM 2019; Wang et al., NDSS 2020"
_JOHNSTONE = "Johnstone, Silverman, Ann. Statist. 2005; this project"
_LI = "Li, Wang, Lopuhaä-Zwakenberg, Li, Škorić, SIGMOD 2020"
_CORMODE = "Cormode, Kulkarni, Srivastava, VLDB 2019"
_CAO, _SUN = "Cao, Jia, Gong, USENIX Security 2021", "Sun et al., ICDE 2024"

_ANY = frozenset({"estimate"})  # whatever the noise is
_IID = frozenset({"estimate", "iid"})
_PSEUDO = _IID | {"pseudo_likelihood"}

_ESTIMATE, _LIKELIHOOD = _ANY | {"order"}, frozenset({"local_likelihood", "order"})

_PQ_ATTACKED = _ANY | {"attackers", "pq"}
_TARGETED = _PQ_ATTACKED | {"targets"}

_raw = partial(PostProcessor, nonnegative=False, sums_to_one=False, reference=_WANG, needs=_ANY)
_positive = partial(PostProcessor, nonnegative=True, sums_to_one=False, reference=_WANG)
_unordered = partial(proper, keeps_order=False)

_METHODS = [
    _raw("none", "Base (no post-processing)", none, unbiased=True, aliases=("base", "raw", "nopp")),
    _positive("base_pos", "Base-Pos", base_pos, needs=_ANY, aliases=("pos",)),
    _raw("post_pos", "Post-Pos", none, queries_only=True),
    # Where values have different noise, base_cut may cut the larger of two values and keep the smaller.
    _positive("base_cut", "Base-Cut", base_cut, keeps_order=False),
    _raw("norm", "Norm", norm, sums_to_one=True, unbiased=True),
    proper("norm_mul", "Norm-Mul", norm_mul, reference=_WANG, needs=_ANY),
    proper("norm_sub", "Norm-Sub (CLS)", norm_sub, reference=_WANG, needs=_ANY, aliases=("cls", "simplex")),
    _positive("norm_cut", "Norm-Cut", norm_cut, needs=_ANY),
    proper("mle_apx", "MLE-Apx", mle_apx, reference=_WANG, aliases=("mle",)),
    _positive("power", "Power", power, reference=_JIA),
    proper("power_ns", "PowerNS", power_ns, reference=_JIA),
    proper("ibu", "IBU (reports of one value)", ibu, reference=_IBU, needs=frozenset({"likelihood"})),
    proper("ibu_pseudo", "IBU on a pseudo-likelihood", closed_form, reference=_IBU, needs=_PSEUDO, short="pseudo-IBU"),
    proper("eb_ns", "Empirical Bayes", eb_ns, reference="Jiang, Zhang, Ann. Statist. 2009; this project"),
    _unordered("wavelet_eb", "Wavelet empirical Bayes", wavelet_eb_near, reference=_JOHNSTONE, needs=_IID | {"ground"}),
    # For ordered domains alone.
    _unordered("iso_cdf", "Isotonic CDF", iso_cdf, reference=_CORMODE, needs=_ESTIMATE),
    _unordered("tree_eb", "Tree empirical Bayes", tree_eb, reference="this project", needs=_ESTIMATE | {"haar"}),
    _unordered("em", "EM", em, reference=_LI, largest=PUBLISHED_DOMAIN, needs=_LIKELIHOOD),
    _unordered("ems", "EM with smoothing", ems, reference=_LI, largest=PUBLISHED_DOMAIN, needs=_LIKELIHOOD),
    _unordered(
        "em_stopped",
        "EM from a smooth curve, stopped early",
        em_stopped,
        reference=f"{_LI}; this project",
        short="Stopped EM",
        needs=_LIKELIHOOD,
    ),
    # Remedies for poisoning. Subtraction from positive estimates only may change their order.
    proper("norm_min", "Min-Norm", norm_min, reference=_CAO, needs=_ANY | {"attackers"}),
    _unordered("recover", "LDPRecover", recover, reference=_SUN, needs=_PQ_ATTACKED),
    _unordered("recover_known", "LDPRecover with known targets", recover_known, reference=_SUN, needs=_TARGETED),
    _unordered(
        "subtract_fakes",
        "Subtraction of the maximal gain",
        subtract_fakes,
        reference=f"{_SUN}; {_CAO}; this project",
        needs=_TARGETED,
    ),
    _unordered(
        "drop_fakes",
        "Fake-report detection",
        drop_fakes,
        reference=f"{_CAO}; this project",
        needs=_ANY | {"pq", "suspects"},
    ),
]

POSTPROCESSORS = Methods({method.name: method for method in _METHODS})

__all__ = ["NEARNESS", "POSTPROCESSORS", "Observed", "PostProcessor", "observe", "possible"]
