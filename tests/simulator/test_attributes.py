"""Ways to collect several attributes: what they promise and how exact they are, against all reports of all tuples."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from simulator import PROTOCOLS
from simulator.attributes import (
    fake_support,
    hidden_variance,
    losses,
    one_attribute_loss,
    published_budget,
    report_budget,
)
from tests.cells import failures

VARIANTS = [("grr", None), ("rappor", "z"), ("rappor", "r"), ("oue", "z"), ("oue", "r")]
FAKED = [(*one, realistic) for one in VARIANTS for realistic in (False, True) if one[1] != "z" or not realistic]
PRIORS = {2: [0.7, 0.3], 3: [0.6, 0.3, 0.1]}


def reports_of(key: str, k: int, epsilon: float) -> tuple[list[tuple[int, ...]], np.ndarray, np.ndarray]:
    """Return all reports as supports, their probabilities ``(k, reports)``, and those of the report of no value."""
    oracle = PROTOCOLS[key](k, epsilon)
    p, q = oracle.p, oracle.q  # type: ignore[attr-defined]
    if key == "grr":
        return (
            [tuple(row) for row in np.eye(k, dtype=int).tolist()],
            np.full((k, k), q) + (p - q) * np.eye(k),
            np.zeros(k),
        )
    bits = list(itertools.product((0, 1), repeat=k))
    table = np.prod([[[q if b else 1 - q for b in row] for row in bits]] * k, axis=-1)
    zero = table[0].copy()
    for value in range(k):
        table[value] *= [p / q if row[value] else (1 - p) / (1 - q) for row in bits]
    return bits, table, zero


def sent(key: str, fake: str | None, k: int, epsilon: float, d: int, prior: list[float] | None) -> np.ndarray:
    """Return the probabilities of all tuples of reports, for every tuple of values: ``(tuples, sent)``."""
    _, own, zero = reports_of(key, k, epsilon)
    shares = np.full(k, 1 / k) if prior is None else np.array(prior)
    faked = shares if fake is None else zero if fake == "z" else shares @ own
    rows = []
    for values in itertools.product(range(k), repeat=d):
        total = np.zeros(len(faked) ** d)
        for drawn in range(d):
            parts = [own[values[place]] if place == drawn else faked for place in range(d)]
            product = parts[0]
            for part in parts[1:]:
                product = np.multiply.outer(product, part).reshape(-1)
            total += product / d
        rows.append(total)
    return np.array(rows)


def test_estimates_are_unbiased_and_have_their_variance() -> None:
    """Over all that users can send: support of the first attribute, of five users who hold values of all kinds."""

    def check(cell: tuple) -> None:
        (key, fake, realistic), (k, d) = cell
        epsilon, prior = 1.3, PRIORS[k] if realistic else None
        supports = np.array(reports_of(key, k, epsilon)[0])
        table = sent(key, fake, k, epsilon, d, prior)
        first = table.reshape(len(table), len(supports), -1).sum(axis=2) @ supports
        tuples = list(itertools.product(range(k), repeat=d))
        users = [0, 1, len(tuples) - 1, len(tuples) // 2, 1]
        n, chances = len(users), first[users]
        frequency = np.bincount([tuples[user][0] for user in users], minlength=k) / n
        oracle = PROTOCOLS[key](k, epsilon)
        fakes = fake_support(oracle, fake, None if prior is None else np.array(prior))  # type: ignore[arg-type]
        estimate = (d * chances.sum(axis=0) / n - oracle.q - (d - 1) * fakes) / (oracle.p - oracle.q)  # type: ignore[attr-defined]
        assert estimate == pytest.approx(frequency, abs=1e-12)
        scale = d / (n * (oracle.p - oracle.q))  # type: ignore[attr-defined]
        variance = (chances * (1 - chances)).sum(axis=0) * scale**2
        assert hidden_variance(oracle, frequency, n, d, fakes) == pytest.approx(variance, rel=1e-12)  # type: ignore[arg-type]

    assert failures(itertools.product(FAKED, [(2, 2), (3, 2), (2, 3), (3, 3)]), check) == {}


def test_the_published_variance_is_that_of_users_drawn_from_a_population() -> None:
    k, d, n, epsilon = 3, 2, 50, 1.3
    oracle = PROTOCOLS["grr"](k, epsilon)
    p, q = oracle.p, oracle.q  # type: ignore[attr-defined]
    f = np.array([0.5, 0.3, 0.2])
    sigma = (q + f * (p - q) + (d - 1) / k) / d
    published = d**2 * sigma * (1 - sigma) / (n * (p - q) ** 2)
    ours = hidden_variance(oracle, f, n, d, fake_support(oracle, None))  # type: ignore[arg-type]
    assert published == pytest.approx(ours + f * (1 - f) / n, rel=1e-12)


def test_what_is_promised_is_the_largest_loss_of_all_tuples() -> None:
    def check(cell: tuple) -> None:
        (key, fake, realistic), (k, d) = cell
        epsilon = 1.0
        table = np.log(sent(key, fake, k, epsilon, d, PRIORS[k] if realistic else None))
        tuples = list(itertools.product(range(k), repeat=d))
        worst = {True: 0.0, False: 0.0}
        for a, b in itertools.permutations(range(len(tuples)), 2):
            one = sum(x != y for x, y in zip(tuples[a], tuples[b], strict=True)) == 1
            worst[one] = max(worst[one], float((table[a] - table[b]).max()))
        whole, single = losses("rsrfd" if realistic else "rsfd", k, epsilon, d, fake)
        assert max(worst.values()) == pytest.approx(whole, rel=1e-9)
        if realistic:  # depends on the prior: never above what is said, and above that of even fakes
            assert one_attribute_loss(k, epsilon, d, fake) < worst[True] < single
        else:
            assert worst[True] == pytest.approx(single, rel=1e-9)

    assert failures(itertools.product(FAKED, [(2, 2), (3, 2), (3, 3)]), check) == {}


def test_the_figures_of_two_attributes_and_ten() -> None:
    # Published for users who differ in one attribute; what tuples that differ in both lose is enumerated elsewhere too.
    assert published_budget(1.0, 2) == pytest.approx(1.490, abs=5e-4)
    table = np.log(sent("grr", None, 3, published_budget(1.0, 2), 2, None))
    assert max(float((a - b).max()) for a, b in itertools.permutations(table, 2)) == pytest.approx(1.490, abs=5e-4)
    k, d, zero = 10, 10, np.zeros(10)
    budget = published_budget(1.0, d)
    hidden = PROTOCOLS["grr"](k, budget)
    fakes = fake_support(hidden, None)  # type: ignore[arg-type]
    rsfd = hidden_variance(hidden, zero, 1, d, fakes)[0]  # type: ignore[arg-type]
    every = PROTOCOLS["grr"](k, 1.0).variance(0.0, 1)  # type: ignore[attr-defined]
    sampled = d * hidden.variance(0.0, 1)  # type: ignore[attr-defined]
    assert [rsfd, every, sampled] == pytest.approx([21.25, 3.63, 0.887], rel=1e-3)


def test_the_budget_of_a_report_is_what_the_promise_leaves() -> None:
    def check(cell: tuple) -> None:
        fake, promise, solution = cell
        k, d, epsilon = 5, 4, 0.8
        budget = report_budget(solution, k, epsilon, d, fake, promise)
        lost = dict(zip(("tuple", "attribute"), losses(solution, k, budget, d, fake), strict=True))[promise]
        assert lost == pytest.approx(epsilon, rel=1e-9)
        if solution == "rsfd" and promise == "attribute" and fake != "r":
            assert budget == pytest.approx(math.log(d * math.expm1(epsilon) + 1), rel=1e-9)

    cells = itertools.product([None, "z", "r"], ["tuple", "attribute"], ["smp", "spl", "rsfd", "rsrfd"])
    assert failures(cells, check) == {}
