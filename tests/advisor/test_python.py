import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from advisor import (
    AttackSettings,
    Cells,
    Cleaning,
    Collection,
    InputError,
    Simulation,
    advise,
    audit,
    choose,
    estimate,
    places,
    reports,
)
from simulator import PROTOCOLS, Channel
from simulator.seeding import rng_for

USERS = np.array([500, 300, 150, 50])
LABELS = ["home", "news", "mail", "maps"]
QUICK = Simulation(repetitions=4)
SCRIPT = Path(__file__).parents[2] / "examples" / "every_function.py"


@pytest.mark.parametrize("protocol", ["grr", "oue", "olh", "ss", "hr"])
def test_reports_in_memory_are_counted_as_their_tally(protocol):
    oracle = PROTOCOLS[protocol](4, 2.0)
    sent = oracle.perturb(np.repeat(np.arange(4), USERS), rng_for(0, "tests", "python", protocol))
    counted = reports(sent, protocol, eps=2.0, labels=LABELS, method="norm_sub", simulation=QUICK)
    tally = estimate(oracle.tally(sent), protocol, eps=2.0, labels=LABELS, method="norm_sub", simulation=QUICK)
    assert counted.request.n == tally.request.n == 1000
    assert counted.request.labels == tally.request.labels == tuple(LABELS)
    np.testing.assert_allclose(counted.intervals()["raw"], oracle.estimate(oracle.tally(sent).counts, 1000))
    pd.testing.assert_frame_equal(counted.intervals(), tally.intervals())
    assert counted.apply().equals(counted.intervals()["post_processed"])
    assert list(counted.apply(method="none")) == list(counted.intervals()["raw"])


def test_a_tally_of_unusual_parameters_is_estimated_with_them():
    oracle = PROTOCOLS["ss"](4, 2.0, subset_size=2)
    tally = oracle.tally(oracle.perturb(np.repeat(np.arange(4), USERS), rng_for(0, "tests", "python", "subset")))
    asked = {"eps": 2.0, "k": 4, "method": "norm_sub", "simulation": QUICK}
    answer = estimate(tally, "ss", collection=Collection(subset_size=2), **asked)
    np.testing.assert_allclose(answer.intervals()["raw"], oracle.estimate(tally.counts, 1000))


@pytest.mark.parametrize("k", [2, 9, 40])
def test_reports_of_a_tree_are_rows_of_a_height_and_bits(k):
    tree = PROTOCOLS["tree"](k, 1.0)
    sent = tree.perturb(np.repeat(np.arange(k), 20), rng_for(0, "tests", "tree", k))
    counted = reports(sent, "tree", eps=1.0, k=k, method="tree_eb", simulation=QUICK)
    tally = estimate(tree.tally(sent), "tree", eps=1.0, k=k, method="tree_eb", simulation=QUICK)
    pd.testing.assert_frame_equal(counted.intervals(), tally.intervals())
    with pytest.raises(InputError, match=r"line 1: .* a report is its height, then"):
        reports(sent + np.eye(1, k + 1, 1, dtype=np.uint8) * 2, "tree", eps=1.0, k=k)


def test_reports_come_as_a_series_with_its_categories_a_frame_and_a_file(tmp_path):
    places_sent = PROTOCOLS["grr"](4, 3.0).perturb(np.repeat(np.arange(4), USERS), rng_for(0, "tests", "sizes"))
    sent = pd.Series(pd.Categorical.from_codes(places_sent, ["S", "M", "L", "XL"], ordered=True), name="size")
    frame = pd.DataFrame({"user": range(1000), "size": sent.astype(str)})
    frame.to_csv(tmp_path / "sent.csv", index=False)
    answers = [
        reports(sent, "grr", eps=3.0, method="none", simulation=QUICK),
        reports(frame, "grr", eps=3.0, labels=["S", "M", "L", "XL"], column="size", method="none", simulation=QUICK),
        reports(tmp_path / "sent.csv", "grr", eps=3.0, labels=["S", "M", "L", "XL"], column="size", method="none"),
    ]
    for answer in answers:
        assert answer.request.labels == ("S", "M", "L", "XL")
        assert answer.intervals()["raw"].tolist() == answers[0].intervals()["raw"].tolist()


def test_places_and_choices_are_those_of_the_command(tmp_path):
    frame = pd.DataFrame([(row, column) for row in range(3) for column in range(3) for _ in range(9 - row * column)])
    frame.columns = pd.Index(["row", "col"])
    frame.to_csv(tmp_path / "town.csv", index=False)
    asked = {"protocol": "grr", "method": "norm_sub", "simulation": Simulation(repetitions=4, max_repetitions=4)}
    both = ((frame, ["row", "col"]), (tmp_path / "town.csv", "row,col"))
    told = [places(source, 1.0, **asked, cells=Cells(grid="3x3"), columns=columns) for source, columns in both]
    assert told[0].best("emd") == told[1].best("emd")
    assert told[0].summary == told[1].summary
    assert choose(n=2000, k=18, within=30.0, sensitive="medium").epsilon is None
    with pytest.raises(InputError, match="n= is missing: give the number of people, for example n=2000"):
        choose(k=18)


def test_integers_are_labels_where_the_labels_are_integers_and_missing_reports_are_refused():
    sent = PROTOCOLS["grr"](4, 3.0).perturb(np.repeat(np.arange(4), USERS), rng_for(0, "tests", "ages"))
    ages = pd.Series(np.array([18, 19, 20, 21])[sent])
    named = reports(ages, "grr", eps=3.0, labels=[18, 19, 20, 21], method="none", simulation=QUICK)
    back = reports(ages.tolist(), "grr", eps=3.0, labels=["21", "20", "19", "18"], method="none", simulation=QUICK)
    assert named.apply().to_dict() == pytest.approx(back.apply().to_dict())
    for source in (
        ages.astype("Int64").mask(ages == 18),
        [*ages, None],
        ["a", ""],
        pd.DataFrame({"age": [*ages, np.nan]}),
    ):
        with pytest.raises(InputError, match="reports must hold values"):
            reports(source, "grr", eps=3.0)
    with pytest.raises(InputError, match=r"^reports: line 41"):  # and not the file that it was read from
        reports(["a"] * 40 + ["z"], "grr", eps=3.0, labels=["a", "b", "c"])


@pytest.mark.usefixtures("own_members")
def test_an_audit_of_a_matrix_looks_at_the_values_that_it_tells_apart_best():
    ring = np.exp(np.maximum(0, 1 - np.minimum(step := np.arange(6), 6 - step) / 2))
    matrix = np.array([np.roll(ring, at) for at in range(6)]) / ring.sum()
    found = audit(1.0, k=6, protocol=Channel("ring", matrix), attack=AttackSettings(attack="pair", trials=20_000))
    assert found.results[0].epsilon_analytic == pytest.approx(1.0)


GROUPED = r"attack=AttackSettings|written=ReportFormat|must sum to 1|counted by reports\(|client=ForeignClient\(target="


def test_numbers_of_numpy_are_numbers_and_labels_are_as_many_as_values():
    values = [0.52, 0.31, 0.19, -0.02]
    plain = estimate(values, "oue", eps=1, n=20_000)
    for given in (np.int64(20_000), np.int32(20_000), np.float64(20_000)):
        assert estimate(values, "oue", eps=1, n=given).best == plain.best
    with pytest.raises(InputError, match="labels must name each of the 4 categories, got 3 labels"):
        estimate(values, "oue", eps=1, n=20_000, labels=["a", "b", "c"])


@pytest.mark.usefixtures("own_members")
def test_refusals_of_a_group_name_keywords():
    for call in (
        lambda: audit(1.0, k=4, protocol="grr", attack="pair"),
        lambda: reports(["a"], "grr", eps=1.0, written={"skip_bad": True}),
        lambda: estimate(["a", "b", "a"], "grr", eps=1.0, n=3),
        lambda: audit(1.0, k=4),
        lambda: advise(1.0, sample_counts=[9] * 4, protocol=Channel("bad", np.ones((4, 4)))),
    ):
        with pytest.raises(InputError, match=GROUPED):
            call()
    with pytest.raises(InputError, match=r"give either bins= or bin_width=, not both"):
        Cleaning(bins=4, bin_width=2.0)
    with pytest.raises(InputError, match=r"simulation must be simulation=Simulation\(\.\.\.\), with Simulation from"):
        advise(1.0, k=8, simulation=4)


@pytest.mark.slow
def test_a_script_with_every_function_runs_and_has_right_types(tmp_path):
    command = [sys.executable, str(SCRIPT)]
    assert subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.count("\n") >= 12
    types = ["-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", str(tmp_path), str(SCRIPT)]
    pytest.importorskip("mypy", reason="needs the extra 'dev'")
    done = subprocess.run([sys.executable, *types], cwd=SCRIPT.parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
