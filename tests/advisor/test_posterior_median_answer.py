"""Answers that name the posterior median: what is said, written, and refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from advisor import Advice, InputError, advise
from advisor.catalog.answer import explanation
from advisor.deployment.question import saved_pair
from advisor.rank.answer_words import summary
from advisor.rank.why import explain
from knowledge.recipes import Collection
from simulator import METRICS, PROTOCOLS
from simulator.methods.blend import POSTERIOR_MEDIAN
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from tests.advisor.conftest import Run
from tests.advisor.estimates import ALONE, share_draws
from tests.advisor.schemas import schema

K, N = 16, 20_000


def raw() -> np.ndarray:
    oracle = PROTOCOLS["grr"](K, 1.0)
    counts = apportion(frequencies("geometric", K), N)
    return oracle.estimate(oracle.sample_support(counts, rng_for(0, "tests", "posterior median answer")), N)


@pytest.fixture(autouse=True)
def _shared_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    share_draws(monkeypatch)


@pytest.fixture(scope="module")
def answer() -> Advice:
    found = advise(1.0, estimate=raw(), protocol="grr", n=N, metric="kl", ordered=True, deployable=True)
    assert found.best.method == POSTERIOR_MEDIAN
    return found


def test_it_is_listed_where_it_errs_less_than_all_others(answer: Advice) -> None:
    rows = answer.recommendations
    assert [row.method for row in rows].count(POSTERIOR_MEDIAN) == 1
    assert answer.best.error < min(row.error for row in rows[1:])
    assert sum(row.probability_best or 0 for row in rows) == pytest.approx(1)
    later = answer.next_round
    assert later is not None
    assert POSTERIOR_MEDIAN not in {row.method for row in later.recommendations}
    schema("advice").validate(json.loads(answer.to_json()))


def test_its_error_is_that_of_the_median_of_the_other_populations(answer: Advice) -> None:
    populations = answer.request.populations
    assert populations is not None
    roots = []
    for own in populations:
        others = [row / N for row in populations if (row != own).any()]
        middle = np.median(others, axis=0)
        roots.append(float(METRICS["kl"](middle / middle.sum(), own / N)) ** 0.25)  # as all divergences
    assert answer.best.error == pytest.approx(np.mean(roots) ** 4, rel=1e-9)


def test_what_is_written_is_the_median_of_the_populations_that_were_drawn(answer: Advice) -> None:
    populations = answer.request.populations
    assert populations is not None
    middle = np.median(populations, axis=0)
    # These populations are whole users.
    np.testing.assert_allclose(answer.apply(raw()), middle / middle.sum(), atol=1 / N)


def test_the_answer_says_what_it_is_and_what_the_best_method_alone_costs(answer: Advice) -> None:
    text = summary(answer)
    assert "the posterior median on this GRR estimate" in text
    assert "It is, for each category, the median of 60 populations that may be behind the estimate." in text
    alone = answer.recommendations[1]
    more = f"{100 * (alone.error / answer.best.error - 1):.0f} % more error"
    assert re.search(rf", the best single method, has {more}\.", text)
    assert explain(answer).method != POSTERIOR_MEDIAN


@pytest.mark.slow
def test_it_is_not_listed_where_results_are_to_be_unbiased() -> None:
    unbiased = advise(1.0, estimate=raw(), protocol="grr", n=N, metric="kl", ordered=True, unbiased=True, **ALONE)
    assert {row.method for row in unbiased.recommendations} == {"none", "norm"}


@pytest.mark.slow
def test_it_is_listed_where_results_are_to_be_proper() -> None:
    proper = advise(1.0, estimate=raw(), protocol="grr", n=N, metric="kl", ordered=True, proper=True, **ALONE)
    assert proper.best.method == POSTERIOR_MEDIAN


def test_it_is_explained_under_the_names_that_people_write() -> None:
    for name in ("posterior_median", "Posterior median", "posterior-median"):
        assert explanation(name).name == POSTERIOR_MEDIAN
    scope: dict[str, object] = {}
    exec(explanation("posterior_median").python, scope)  # noqa: S102 - the code that people copy
    np.testing.assert_allclose(np.sum(scope["improved"]), 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["posterior_median", "eb_ns,posterior_median"])
def test_it_is_not_compared_by_name(name: str) -> None:
    with pytest.raises(InputError, match=r"not compared by name.*leave --method out"):
        advise(1.0, estimate=raw(), protocol="grr", n=N, method=name.split(","))
    with pytest.raises(InputError, match="is no mean of methods, and cannot be blended"):
        advise(1.0, estimate=raw(), protocol="grr", n=N, method="eb_ns+posterior_median")


def test_code_is_not_written_for_it(answer: Advice, run: Run, tmp_path: Path) -> None:
    saved = tmp_path / "answer.json"
    saved.write_text(answer.to_json(), encoding="utf-8")
    assert saved_pair(str(saved))[:2] == ("grr", POSTERIOR_MEDIAN)
    code, _, err = run("code", str(saved), "--to", str(tmp_path / "made"))
    assert code == 2
    assert "the median of populations: name a method instead, --protocol grr --method eb_ns --eps 1 --k 16" in err
    with pytest.raises(ValueError, match="is the median of populations"):
        Collection("grr", POSTERIOR_MEDIAN, K, 1.0)


def test_the_methods_paragraph_does_not_say_that_it_was_simulated(answer: Advice, run: Run, tmp_path: Path) -> None:
    saved = tmp_path / "answer.json"
    saved.write_text(answer.to_json(), encoding="utf-8")
    code, text, _ = run("cite", str(saved))
    assert code == 0
    said = " ".join(text.split())
    assert "simulated each other pair" in said
    assert "The posterior median's error on each of these populations is that of the median of all others." in said
