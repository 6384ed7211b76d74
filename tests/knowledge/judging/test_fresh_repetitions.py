"""Choices that are told apart by fresh repetitions, against errors simulated with nothing but a loop."""

from __future__ import annotations

import math

import numpy as np
import pytest

from knowledge.judging import scores as module
from knowledge.judging.scores import ENOUGH, FIRST, LEAST, PairComparison, log_ratios
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator._types import FloatArray
from simulator.benchmark import simulate
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for

COUNTS = apportion(frequencies("zipf", 20), 10_000)
NORM, NONE, GRR = ("oue", "norm"), ("oue", "none"), ("grr", "none")


def slow_mean(metric: str, pair: tuple[str, str], repetitions: int) -> tuple[float, float]:
    """Mean error of a pair and its standard error, one collection after the other."""
    oracle, rng, n = PROTOCOLS[pair[0]](20, 1.0), rng_for(5, "slow", *pair), int(COUNTS.sum())
    errors = []
    for _ in range(repetitions):
        estimate = oracle.estimate(oracle.sample_support(COUNTS, rng), n)
        errors.append(METRICS[metric](POSTPROCESSORS[pair[1]](estimate, oracle.noise(n)), COUNTS / n))
    return float(np.mean(errors)), float(np.std(errors, ddof=1)) / repetitions**0.5


@pytest.mark.parametrize("metric", ["l1", "topk"])
def test_ratios_are_those_of_a_loop(metric: str) -> None:
    wanted = [PairComparison(metric, NONE, GRR), PairComparison(metric, NORM, NONE)]
    found = log_ratios(COUNTS, 1.0, wanted, math.log(1.05))
    for one in wanted:
        (error, own), (other, others) = (slow_mean(metric, pair, 400) for pair in (one.choice, one.other))
        # The ratios ratio has at most the error of 40 repetitions: three times that of the loop's 400.
        bound = 4 * (1 + 3) * math.hypot(own / error, others / other)
        assert abs(found[one] - math.log(error / other)) < bound


def test_clear_ratios_take_few_repetitions_and_close_ones_many(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: dict[tuple[str, str], int] = {}

    def counted(experiment: object, first: int, repetitions: int, **given: object) -> object:
        for pair in given["pairs"]:  # type: ignore[attr-defined]
            assert taken.get(pair, 0) == first
            taken[pair] = first + repetitions
        return simulate(experiment, first, repetitions, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "simulate", counted)
    monkeypatch.setattr(module, "CATEGORIES", 20 * 2 * LEAST)
    monkeypatch.setattr(module, "ENOUGH", 0.0)
    clear = PairComparison("l2", GRR, ("oue", "norm_sub"))
    ratio = log_ratios(COUNTS, 1.0, [clear], math.log(1.05))[clear]
    assert taken == {GRR: FIRST, ("oue", "norm_sub"): FIRST}
    assert ratio > math.log(1.05)
    taken.clear()
    # Held against the very ratio that all repetitions give, no smaller number of them is clear.
    with monkeypatch.context() as patched:
        patched.setattr(module, "CLEAR", math.inf)
        final = log_ratios(COUNTS, 1.0, [clear], 0.0)[clear]
    taken.clear()
    assert log_ratios(COUNTS, 1.0, [clear], final) == {clear: final}
    assert set(taken.values()) == {2 * LEAST}  # 20 categories


def test_what_is_known_to_a_percent_is_simulated_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    errors: list[float] = []

    def counted(experiment: object, first: int, repetitions: int, **given: object) -> object:
        taken.append(first + repetitions)
        return simulate(experiment, first, repetitions, **given)  # type: ignore[arg-type]

    def known(*blocks: FloatArray) -> tuple[float, float]:
        _, error = ratio_of(*blocks)
        errors.append(error)
        return 0.0, error  # at the very limit, where no number of repetitions would be clear

    ratio_of = module._log_ratio
    monkeypatch.setattr(module, "simulate", counted)
    monkeypatch.setattr(module, "_log_ratio", known)
    one = PairComparison("l1", GRR, ("oue", "norm_sub"))
    assert log_ratios(COUNTS, 1.0, [one], 0.0) == {one: 0.0}
    assert FIRST < taken[-1] < module.CATEGORIES // 20
    assert errors[-1] <= ENOUGH < errors[-2]


def test_nothing_to_tell_and_the_same_pair_twice() -> None:
    assert log_ratios(COUNTS, 1.0, [PairComparison("l1", NORM, NORM)], math.log(1.05)) == {
        PairComparison("l1", NORM, NORM): 0.0
    }


def test_the_answer_does_not_depend_on_the_workers_but_on_the_seed() -> None:
    one = PairComparison("kl", ("oue", "norm_sub"), ("ss", "norm_sub"))
    alone = log_ratios(COUNTS, 1.0, [one], 1.0, seed=3)
    assert alone == log_ratios(COUNTS, 1.0, [one], 1.0, seed=3, jobs=2)
    assert alone != log_ratios(COUNTS, 1.0, [one], 1.0, seed=4)
