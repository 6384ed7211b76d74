"""The study of small samples: who is compared with what."""

from __future__ import annotations

import pytest
from families import Truth
from judge_samples import METRIC_NAMES, POSTERIORS, choices

from simulator.populations import frequencies


@pytest.mark.slow
def test_a_choice_from_a_small_sample_is_compared_with_the_best_pair_where_all_is_known() -> None:
    found = list(choices(Truth("geometric k=64", True, frequencies("geometric", 64)), (300,)))
    assert [(one.posterior, one.metric) for one in found] == [(p, m) for p in POSTERIORS for m in METRIC_NAMES]
    assert min(one.ratio for one in found) >= 1
    curve, no_order = (next(one for one in found if (one.posterior, one.metric) == (p, "l1")) for p in POSTERIORS)
    assert curve.ratio < no_order.ratio  # 1.0 and 2.0
