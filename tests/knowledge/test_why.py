from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.describe.profile import profile_of
from knowledge.model import load, noises_of
from knowledge.ranking import look_up
from knowledge.why import disagreement, why
from simulator.populations import frequencies


@pytest.mark.parametrize("metric", ["l1", "emd", "kl"])
@pytest.mark.parametrize("place", [0, 3, 30])
def test_tree_and_answer_are_compared_without_contradicting_the_answer(metric: str, place: int, tiny: Path) -> None:
    profile = profile_of(frequencies("zipf", 40), 100_000)
    answer = look_up(profile, 1.0, 100_000, metric, model=load(tiny))
    row = answer.rows[place]
    reasons = why(answer, profile, noises_of(40, 1.0, 100_000), pair=(row.protocol, row.method), folder=tiny)
    method = reasons.explanation.method
    others = {one.method: one.error for one in answer.rows if one.protocol == row.protocol}
    assert reasons.ratio == pytest.approx(others[method] / row.error)
    assert reasons.agrees == (abs(reasons.ratio - 1) < 1e-3)
    words = disagreement(method, reasons.ratio)
    assert words.startswith("The answer follows the model")
    assert ("more error" in words) == (reasons.ratio >= 1)


def test_by_default_the_lowest_predicted_error_is_explained(tiny: Path) -> None:
    profile = profile_of(frequencies("zipf", 40), 100_000)
    answer = look_up(profile, 1.0, 100_000, "l1", model=load(tiny))
    reasons = why(answer, profile, noises_of(40, 1.0, 100_000), folder=tiny)
    assert reasons == why(answer, profile, noises_of(40, 1.0, 100_000), pair=answer.best[:2], folder=tiny)
    assert reasons.ratio >= 1
