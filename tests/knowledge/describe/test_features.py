"""What describes a histogram looks at its result, as the flags of single precision are raised without a reason too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from knowledge.describe import features
from knowledge.describe.profile import profile_of
from simulator import PROTOCOLS

PROFILE = profile_of(np.array([0.5, 0.3, 0.15, 0.05]))
NOISE = PROTOCOLS["oue"](4, 1.0).noise(1_000)


def test_a_flag_that_a_matrix_product_raises_is_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = features.describe([PROFILE], [NOISE]).features
    order_figures = features.order_figures

    def raising(*arguments: Any) -> Any:
        assert np.isnan(np.array(np.inf) - np.array(np.inf))  # raises the flag
        return order_figures(*arguments)

    monkeypatch.setattr(features, "order_figures", raising)
    np.testing.assert_array_equal(features.describe([PROFILE], [NOISE]).features, expected)


def test_a_feature_that_is_not_finite_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    order_figures = features.order_figures

    def broken(*arguments: Any) -> Any:
        order = order_figures(*arguments)
        return order._replace(figures=order.figures | {"log_lost": np.array([[np.nan]], dtype=np.float32)})

    monkeypatch.setattr(features, "order_figures", broken)
    with pytest.raises(FloatingPointError, match="log_lost"):
        features.describe([PROFILE], [NOISE])
