"""Findings about post-processing, checked one by one: what the page says of them, and how they are measured."""

from __future__ import annotations

import re
from pathlib import Path

import consistency
import numpy as np
import pytest
from typer.testing import CliRunner

from simulator.populations import apportion, frequencies

PAGE = Path(__file__).parents[2] / "docs" / "evidence_consistency.md"
ROW = re.compile(r"^\| ([IV]+-[A-F]) \| (.*?) \| (.*?) \| (yes|\*\*no\*\*) \|$", flags=re.MULTILINE)


def test_errors_of_all_methods_are_measured_in_all_tasks() -> None:
    errors = consistency.mean_errors(apportion(frequencies("zipf", 64, 1.5), 10_000), 1.0, 10, 0)
    assert set(consistency.ADVICE) <= set(errors)
    for by_method in errors.values():
        assert set(by_method) == set(consistency.METHODS)
    assert errors["mse"]["post_pos"] == errors["mse"]["base_pos"]
    assert errors["set 0.5"]["post_pos"] != errors["set 0.5"]["base_pos"]
    # Sets of a single value are values: 1 % of 64 is one of them.
    assert np.isclose(errors["set 0.01"]["norm_sub"], errors["mse"]["norm_sub"])


@pytest.mark.slow
def test_the_page_has_the_verdicts_of_the_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consistency, "OTHERS", consistency.OTHERS[-1:])  # the shapes of the second table take as long
    result = CliRunner().invoke(consistency.app, [])
    assert result.exit_code == 0, result.output
    shown, now = (ROW.findall(text) for text in (PAGE.read_text(encoding="utf-8"), result.stdout))
    assert len(now) == len(consistency.FINDINGS)
    assert [(sentence, holds) for _, sentence, _, holds in now] == [(row[1], row[3]) for row in shown]
    own = [line for line in result.stdout.splitlines() if line.startswith("| their Zipf data |")]
    page = PAGE.read_text(encoding="utf-8")
    assert len(own) == 3
    for line in own:
        assert line.rsplit("|", 3)[0] in page  # all but the two figures that are not whole
