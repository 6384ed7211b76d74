import math
from pathlib import Path

import numpy as np
import pytest

from advisor import InputError, Simulation, advise
from advisor.inputs.domain import read_sets
from simulator import METRICS
from tests.cells import failures

COUNTS = {"apple": 500, "banana": 300, "cherry": 150, "date": 50}
REPETITIONS = 400


@pytest.fixture(autouse=True)
def _folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("sets.csv").write_text("red,apple,cherry,apple\nyellow,banana,\n", encoding="utf-8")
    Path("numbers.txt").write_text("low 0 1\nall 0 1 2 3\n", encoding="utf-8")


def test_the_error_of_given_sets_is_a_double_loop():
    rng, sets = np.random.default_rng(0), ((0, 3, 5), (1,), (5, 4, 3, 2, 1, 0, 6))
    truth, estimates = rng.dirichlet(np.ones(7)), rng.normal(0.1, 0.3, size=(2, 3, 7))
    metric = METRICS["sets"].with_options(sets=sets)
    for clipped, error in ((False, metric), (True, metric.clipped_error)):
        for place in np.ndindex(2, 3):
            total = 0.0
            for members in sets:
                answer = target = 0.0
                for member in members:
                    answer += estimates[place][member]
                    target += truth[member]
                total += ((max(answer, 0.0) if clipped else answer) - target) ** 2
            assert error(estimates, truth)[place] == pytest.approx(total / 3, rel=1e-12)
    assert (metric.clipped_error(estimates, truth) < metric(estimates, truth)).any()


def test_members_are_labels_or_numbers():
    assert read_sets("sets.csv", COUNTS) == ((0, 2), (1,))
    assert read_sets("numbers.txt", map(str, range(4))) == ((0, 1), (0, 1, 2, 3))


def test_the_error_of_raw_oue_estimates_is_the_sum_of_their_variances():
    """Bits of OUE are independent, so the variance of a sum is the sum of the variances."""
    how = {"sample_counts": COUNTS, "protocol": "oue", "method": "none", "metric": "sets:sets.csv"}
    row = advise(1.0, **how, simulation=Simulation(repetitions=REPETITIONS, max_repetitions=REPETITIONS)).best
    p, q, (apple, banana, cherry, _) = 1 / 2, 1 / (math.e + 1), (count / 1000 for count in COUNTS.values())
    variances = [(f * p * (1 - p) + (1 - f) * q * (1 - q)) / (1000 * (p - q) ** 2) for f in (apple, cherry, banana)]
    expected = sum(variances) / 2  # over two sets, which have three members together
    assert abs(row.error - expected) < 5 * row.standard_error  # a false alarm in two million


def test_wrong_sets_are_refused_in_a_line(run, states):
    cells = [
        ("sets", "", "metric sets needs a file with the sets, as in sets:groups.csv"),
        ("sets:none.csv", "", "none.csv: no such file"),
        ("sets:bad.csv", "red,apple\nblue,aple\n", "bad.csv: line 2: 'aple' of set 'blue' is no category; did you"),
        ("sets:bad.csv", "red,apple\n\nblue\n", "bad.csv: line 3: set 'blue' has no members"),
        ("sets:bad.csv", "", "bad.csv: "),
        ("sets:sets.csv,sets:bad.csv", "a,apple\n", "give one of the two"),
        ("sets:sets.csv --instant", "", "predictions do not know the sets of sets.csv"),
    ]

    def check(cell):
        metric, content, words = cell
        Path("bad.csv").write_text(content, encoding="utf-8")
        code, out, err = run("--eps", "1", states, "-m", *metric.split())
        assert (code, out, err.splitlines()[-1].count("error: ")) == (2, "", 1)
        assert words in err

    assert failures(cells, check) == {}
    with pytest.raises(InputError, match="line 2: '3' of set 'all' is no category; there are 0, 1, 2"):
        advise(1.0, sample_counts=[5, 3, 2], metric="sets:numbers.txt")
