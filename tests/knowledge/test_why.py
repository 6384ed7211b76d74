from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.describe.profile import profile_of
from knowledge.menu import METHODS
from knowledge.model import load, noises_of
from knowledge.ranking import look_up
from knowledge.tree import PAIR_TREES, pair_name
from knowledge.tree import load as load_trees
from knowledge.why import disagreement, why
from simulator import frequency_oracles
from simulator.populations import frequencies


@pytest.mark.parametrize("metric", ["l1", "emd", "kl"])
@pytest.mark.parametrize("place", [0, 3, 30])
def test_tree_and_answer_are_compared_without_contradicting_the_answer(metric: str, place: int, tiny: Path) -> None:
    profile = profile_of(frequencies("zipf", 40), 100_000)
    answer = look_up(profile, 1.0, 100_000, metric, model=load(tiny))
    row = answer.rows[place]
    reasons = why(answer, profile, noises_of(40, 1.0, 100_000), pair=(row.protocol, row.method), folder=tiny)
    method = reasons.explanation.method
    # Methods of the same protocol; or pairs, where its noise is not of one scale.
    others = {one.method: one.error for one in answer.rows if one.protocol == row.protocol}
    others |= {pair_name((one.protocol, one.method)): one.error for one in answer.rows}
    assert (method in METHODS) == (row.protocol in frequency_oracles())
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


@pytest.mark.parametrize("metric", ["emd", "quantiles", "l1"])
def test_a_protocol_for_ordered_domains_is_explained_by_the_tree_of_pairs(metric: str, tiny: Path) -> None:
    profile = profile_of(frequencies("gaussian", 40), 100_000)
    noises = noises_of(40, 1.0, 100_000)
    answer = look_up(profile, 1.0, 100_000, metric, model=load(tiny))
    reasons = why(answer, profile, noises, pair=("tree", "tree_eb"), folder=tiny)
    assert reasons.explanation.method in load_trees(tiny, PAIR_TREES)[metric].options
    errors = {pair_name((row.protocol, row.method)): row.error for row in answer.rows}
    assert reasons.ratio == pytest.approx(errors[reasons.explanation.method] / errors["tree + tree_eb"])


def test_a_pair_is_explained_among_the_pairs_that_were_asked_about(tiny: Path) -> None:
    profile = profile_of(frequencies("gaussian", 40), 100_000)
    model = load(tiny)
    one = look_up(
        profile, 1.0, 100_000, "emd", protocols=["tree", "sw"], methods=["tree_eb", "em_stopped"], model=model
    )
    reasons = why(one, profile, {}, folder=tiny)
    assert {name for name, _ in reasons.explanation.ranking} == {"tree + tree_eb", "sw + em_stopped"}
    other = look_up(profile, 1.0, 100_000, "emd", protocols=["sw"], methods=["ems"], model=model)
    assert why(other, profile, {}, folder=tiny).explanation.method == "sw + ems"
    assert why(other, profile, {}, folder=tiny).agrees
