"""The study of tallies: what is chosen is compared with the best, and what is said with what is true."""

from __future__ import annotations

import pytest
from families import Truth
from judge_tallies import METRIC_NAMES, POPULATIONS, choices

from simulator.populations import frequencies


@pytest.mark.slow
def test_a_choice_from_a_tally_is_compared_with_the_best_method() -> None:
    found = list(choices(Truth("bimodal k=64", True, frequencies("bimodal", 64)), 1.0, 100_000))
    assert [(one.made, one.metric) for one in found] == [(p, m) for p in POPULATIONS for m in METRIC_NAMES]
    assert min(one.ratio for one in found) >= 1
    drawn, as_smooth = (next(one for one in found if one.made == ("sw", made)) for made in ("curves", "bootstrap"))
    assert as_smooth.predicted < drawn.predicted < 1.5  # populations that are too smooth promise too much
