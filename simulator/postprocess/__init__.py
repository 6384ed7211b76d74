"""The post-processing methods, in table order.

Unless said otherwise: Wang, Li, Lopuhaä-Zwakenberg, Škorić, Li, "Locally differentially private frequency estimation
with consistency", NDSS 2020.
"""

from __future__ import annotations

from simulator.postprocess._base import PostProcessor
from simulator.postprocess.bayesian_update import ibu, reports_one_value, supports_several_values
from simulator.postprocess.empirical_bayes import eb_ns
from simulator.postprocess.power import power, power_ns
from simulator.postprocess.simple import base_cut, base_pos, none, norm, norm_mul
from simulator.postprocess.simplex import mle_apx, norm_cut, norm_sub
from simulator.postprocess.wavelet import wavelet_eb

_WANG = "Wang et al., NDSS 2020"
_IBU = "Agrawal, Aggarwal, PODS 2001; Pinzon et al., AAAI 2026"
_JIA = "Jia, Gong, INFOCOM 2019; Wang et al., NDSS 2020"

_METHODS = [
    PostProcessor("none", "Base (no post-processing)", none, False, False, _WANG, unbiased=True),
    PostProcessor("base_pos", "Base-Pos", base_pos, True, False, _WANG),
    PostProcessor("post_pos", "Post-Pos", none, False, False, _WANG, queries_only=True),
    PostProcessor("base_cut", "Base-Cut", base_cut, True, False, _WANG),
    PostProcessor("norm", "Norm", norm, False, True, _WANG, unbiased=True),
    PostProcessor("norm_mul", "Norm-Mul", norm_mul, True, True, _WANG),
    PostProcessor("norm_sub", "Norm-Sub (CLS)", norm_sub, True, True, _WANG),
    PostProcessor("norm_cut", "Norm-Cut", norm_cut, True, False, _WANG),
    PostProcessor("mle_apx", "MLE-Apx", mle_apx, True, True, _WANG),
    PostProcessor("power", "Power", power, True, False, _JIA),
    PostProcessor("power_ns", "PowerNS", power_ns, True, True, _JIA),
    PostProcessor("ibu", "IBU (reports of one value)", ibu, True, True, _IBU, fits=reports_one_value),
    PostProcessor("ibu_pseudo", "IBU on a pseudo-likelihood", ibu, True, True, _IBU, fits=supports_several_values),
    PostProcessor("eb_ns", "Empirical Bayes", eb_ns, True, True, "Jiang, Zhang, Ann. Statist. 2009; this project"),
    PostProcessor(
        "wavelet_eb",
        "Wavelet empirical Bayes",
        wavelet_eb,
        True,
        True,
        "Johnstone, Silverman, Ann. Statist. 2005; this project",
        ordered_only=True,
        keeps_order=False,
    ),
]

POSTPROCESSORS: dict[str, PostProcessor] = {method.name: method for method in _METHODS}

__all__ = ["POSTPROCESSORS", "PostProcessor"]
