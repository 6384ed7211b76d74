from __future__ import annotations

from statistics import NormalDist

import pytest
from scipy import stats

from simulator._normal import normal_quantile
from tests.cells import failures

SHARES = [
    1e-300,
    1e-100,
    1e-20,
    1e-9,
    1e-3,
    0.02425,
    0.2,
    0.4999999,
    0.5,
    0.5000001,
    0.7,
    0.95,
    0.975,
    1 - 1e-9,
    1 - 1e-15,
]


def test_quantiles_are_those_of_the_standard_library_and_of_scipy() -> None:
    def check(share: float) -> None:
        # Near 1/2 the quantile itself is near 0, and known as well as 1/2 is.
        assert normal_quantile(share) == pytest.approx(NormalDist().inv_cdf(share), rel=1e-13, abs=1e-15)
        assert normal_quantile(share) == pytest.approx(stats.norm.ppf(share), rel=1e-12, abs=1e-15)

    assert failures(SHARES, check) == {}


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, 1.1, float("nan")])
def test_what_is_no_probability_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="above 0 and below 1"):
        normal_quantile(share)
