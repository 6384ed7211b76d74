"""Figures of others beside ours: which agree, and that the page shows what the script prints."""

from __future__ import annotations

from pathlib import Path

import outside_figures
import pytest
from typer.testing import CliRunner

PAGE = Path(__file__).parents[2] / "docs" / "evidence_outside.md"


def test_the_faulty_subsets_have_the_error_of_simulated_ones() -> None:
    """User by user, with the own value among what a subset without it is filled from."""
    import numpy as np

    k, n, epsilon, repetitions = 12, 200, 1.0, 400
    size, odds = 4, np.exp(epsilon)  # ceil(12 / (e + 1)) = 4
    p = size * odds / (size * odds + k - size)
    q = (p * (size - 1) + (1 - p) * size) / (k - 1)
    rng, truth = np.random.default_rng(5), np.eye(k)[0] * n
    errors = []
    for _ in range(repetitions):
        order = rng.random((n, k))
        order[:, 0] = np.where(rng.random(n) <= p, -1.0, order[:, 0])  # put in first, or as likely as any other
        chosen = np.argsort(order, axis=1)[:, :size]
        estimate = (np.bincount(chosen.ravel(), minlength=k) - n * q) / (p - q)
        errors.append(((estimate - truth) ** 2).mean())
    expected = outside_figures.squared_error_of_their_subsets(k, n, epsilon)
    chance = np.std(errors) / repetitions**0.5
    assert abs(np.mean(errors) - expected) < 4 * chance  # false alarms: 1 in 16,000
    honest = outside_figures.squared_error("ss", k, n, epsilon)
    assert expected > honest + 8 * chance  # and the fault would be seen


@pytest.mark.slow
def test_what_does_not_agree_is_what_the_page_explains() -> None:
    rows = [*outside_figures.simulations(), *outside_figures.deployments(), *outside_figures.shuffles()]
    differ = [(row.what.rsplit(", ", 1)[-1], row.published) for row in rows if not row.agrees]
    assert differ == [
        ("hr", 689.6),
        ("pgr", 1378.4),
        ("ss", 18_290),
        ("δ = 1e-6: closed form", 0.5378),
        ("δ = 1e-6: today's bound", 0.1675),
    ]


@pytest.mark.slow
def test_the_page_shows_the_rows_that_the_script_prints() -> None:
    result = CliRunner().invoke(outside_figures.app, [])
    assert result.exit_code == 0, result.output
    *lines, last = [line for line in result.stdout.splitlines() if line]
    page = PAGE.read_text(encoding="utf-8").splitlines()
    assert len(lines) > 30
    assert [line for line in lines if line not in page] == []
    assert last.startswith("ldp-advise ")
