import ldp3
import ldp3_platform
import numpy as np
import pytest

from simulator import frequency_oracles
from simulator.methods.simplex import norm_cut


@pytest.mark.parametrize("protocol", ["blh", "olh", "oue", "rappor"])
def test_the_variance_of_the_platform_is_k_times_too_small(protocol):
    counts = np.arange(1, 51) * 1000
    right = frequency_oracles()[protocol](50, 0.7).noise(int(counts.sum())).variance_at_zero
    # OLH: the platform has the optimal g = e^epsilon + 1 as it is, ours rounds it.
    expected = pytest.approx(right / 50, rel=0.01 if protocol == "olh" else 1e-9)
    assert ldp3_platform.variance(protocol, 0.7, counts) == expected


def test_the_norms_of_the_platform_are_other_ones():
    estimate = np.array([[0.6, 0.3, 0.2, 0.1, -0.2], [0.5, 0.2, 0.1, 0.1, -0.1]])
    found = ldp3_platform.norm_cut(estimate)
    np.testing.assert_allclose(found[0], np.array([6, 3, 2, 0, 0]) / 11)
    np.testing.assert_allclose(found[1], estimate[1] / 0.8)  # never past 1: all are kept
    np.testing.assert_allclose(norm_cut(estimate[:1], None), [[0.6, 0.3, 0, 0, 0]])
    estimate = np.array([[0.9, 0.6], [0.9, -0.1], [1.9, 0.3]])
    projected = np.array([[0.65, 0.35], [1.0, 0.0], [1.0, 0.0]])
    np.testing.assert_array_equal(
        ldp3_platform.norm_sub(estimate, projected), [estimate[0], projected[1], projected[2]]
    )
    found = ldp3_platform.kl(np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]]), np.array([0.5, 0.25, 0.25]))
    assert found == pytest.approx([0.5 * np.log(2), 0.2 * np.log(0.4) + 0.3 * np.log(1.2) + 0.5 * np.log(2)])
    assert ldp3_platform._exponent(0.5, 1000) == 1.01


def slow_power(counts, n, variance, exponent):
    """One count after the other, as the platform's source says."""
    values = np.arange(1, n + 1, dtype=float)
    result = []
    for count in counts:
        at = 10 * round(count / 10) + 5
        window = values[max(0, int(at) - 25_000) : min(n, int(at) + 25_000)]
        likelihood = np.exp(-((at - window) ** 2) / 2 / variance)
        likelihood[likelihood == 0] = 1e-32
        result.append(float((likelihood * window ** (1 - exponent)).sum() / (likelihood * window**-exponent).sum()))
    return result


@pytest.mark.parametrize("sd", [20.0, 300.0])
def test_the_power_of_the_platform_is_its_sums_one_by_one(sd):
    n = 60_000
    # Far below 0, where the end of the window becomes negative; where nothing but the floor is left; on both sides of
    # what the likelihood reaches; and near the top.
    counts = np.array([-31_000.0, -25_004.0, -9_000.0, -700.0, -12.0, 3.0, 900.0, 24_000.0, 55_000.0])
    exponent = ldp3_platform._exponent(float(counts.mean()), n)
    values = np.arange(1, n + 1, dtype=float)
    assert abs((values ** (1 - exponent)).sum() / (values**-exponent).sum() - counts.mean()) < 0.011
    found = ldp3_platform.power(counts[None] / n, n, (sd / n) ** 2)[0] * n
    np.testing.assert_allclose(found, slow_power(counts.tolist(), n, sd**2, exponent), rtol=1e-9)


@pytest.mark.slow
def test_the_study_computes_a_table_in_every_way(monkeypatch, capsys):
    rows = [row for row in ldp3.published() if row.table in (1, 2)]
    monkeypatch.setattr(ldp3, "published", lambda: rows)
    ldp3.compare(repetitions=2)
    printed = capsys.readouterr().out
    assert all(printed.count(f"| {way} |") >= 5 for way in ldp3.WAYS)  # a row for each setting of the second table
    assert "no file of it: bms_pos, kosarak, adult.\n" in printed
