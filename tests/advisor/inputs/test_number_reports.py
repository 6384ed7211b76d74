"""Reports of real numbers (summation with histogram encoding) add up to the nearest float, in any order."""

from __future__ import annotations

import io
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from advisor.inputs.reports.vectors import LARGEST, exact_sums, real_sums
from simulator import rng_for
from tests.advisor.inputs.made_reports import lines, made, read_file
from tests.advisor.inputs.reading import read_reports

NAMES = ("red", "green", "dark blue", "teal")


def exactly(reports: np.ndarray) -> list[float]:
    """The sums of fractions, each rounded once."""
    return [float(sum(map(Fraction, column))) for column in reports.T.tolist()]


def read(folder: Path, data: str | bytes, name: str = "reports.csv", **options):
    return read_file(folder, name, data, "she", 1.0, **options)


def test_a_header_in_another_order_than_the_domain_places_the_numbers(tmp_path: Path) -> None:
    reports = made("she", 4, 1.0)[0]
    data = ",".join(NAMES[::-1]) + "\n" + lines(reports[:, ::-1], ",")
    found = read(tmp_path, data, domain=NAMES)
    assert (found.labels, found.tally.counts.tolist()) == (NAMES, exactly(reports))


def test_the_order_of_reports_changes_no_digit_where_floats_do() -> None:
    rng = rng_for(0, "any order")
    numbers = np.concatenate([rng.laplace(scale=2e6, size=(4000, 1)), rng.laplace(scale=1e-3, size=(4000, 1))])
    sums = {float(real_sums(exact_sums(rng.permutation(numbers)), None)[0]) for _ in range(5)}
    assert sums == {math.fsum(numbers[:, 0])}
    # Else nothing is shown; sum() of Python 3.12 compensates.
    assert len({float(np.cumsum(rng.permutation(numbers[:, 0]))[-1]) for _ in range(5)}) > 1


def test_extreme_numbers_are_exact_and_tiny_ones_are_rounded_to_steps() -> None:
    for column in ([LARGEST, -LARGEST, 0.1], [2.0**-64] * 3, [-0.75, 2.0**-60, 1e9 + 2**-20], [2.0**-65 * 1.5]):
        steps = [Fraction(value) * 2**64 for value in column]
        assert int(exact_sums(np.array([column]).T)[0]) == sum(map(round, steps))


def test_whole_steps_of_a_client_are_read_as_what_they_stand_for(tmp_path: Path) -> None:
    steps = np.rint(made("she", 4, 1.0)[0] * 300).astype(np.int64)
    data = "".join(",".join(map(str, row)) + "\n" for row in steps.tolist())
    found = read(tmp_path, data, steps=300, header=False)
    assert found.tally.counts.tolist() == [float(Fraction(int(total), 300)) for total in steps.sum(axis=0)]
    odd = read(tmp_path, data, header=False)  # the option was forgotten
    assert not odd.plausible
    words = "is the sum of a report on average, 1 expected whatever users hold; the protocol, eps or --steps"
    assert words in odd.warnings[0]


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_sums_that_are_hardly_those_of_the_protocol_are_found(tmp_path: Path, share: float) -> None:
    n, k = 200, 4
    limit = 6 * math.sqrt(n * k * 2 * 2.0**2) + 12 * 2.0  # six sd of the sum, and twelve scales of the noise
    reports = np.zeros((n, k))
    reports[:, 0] = 1 + share * limit / n
    assert read(tmp_path, lines(reports, ",")).plausible == (share < 1)


def test_a_first_line_of_two_whole_steps_is_a_report() -> None:
    for data, n in ((b"0,1\n1,0\n", 2), (b"0,1,2\n0.5,0.5,0.5\n", 1), (b"a,b\n0.5,0.5\n", 1)):
        assert read_reports("-", "she", 1.0, stdin=io.BytesIO(data)).tally.n == n
