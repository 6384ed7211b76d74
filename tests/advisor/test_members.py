import csv
import json
import shlex
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import simulator
from advisor import InputError, Simulation, advise, sweep
from advisor.members import member_of_file
from simulator import POSTPROCESSORS
from simulator.foreign import REGISTERED
from tests.advisor.cli_answers import csv_rows, refused
from tests.cells import failures

MINE = """
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from simulator import FrequencyOracle, Metric, PostProcessor
from simulator.protocols import PROTOCOLS

def soft(estimate, noise):
    return np.sign(estimate) * np.maximum(np.abs(estimate) - noise.sd, 0.0)

def own_norm_sub(estimate, noise):
    from simulator import POSTPROCESSORS

    return POSTPROCESSORS["norm_sub"](estimate, noise)

def largest(estimate, truth):
    return np.abs(estimate - truth).max(axis=-1)

def soft_by(estimate, noise, *, factor=0.5):
    return np.sign(estimate) * np.maximum(np.abs(estimate) - factor * noise.sd, 0.0)

def lost(estimate, noise):
    return estimate * np.nan

def smoothed(estimate, noise):
    k = estimate.shape[-1]
    return estimate @ (0.8 * np.eye(k) + 0.2 / k)

def wrong_first(estimate, truth):
    return (estimate.argmax(axis=-1) != truth.argmax()).astype(float)

def nothing(estimate, truth):
    return np.nan * estimate.sum(axis=-1)

def norm_cut(estimate, noise):
    return estimate * 1.0

def base(estimate, noise):
    return estimate * 1.0

def moody(estimate, noise):
    if estimate.shape[-1] == 5:
        raise RuntimeError("not five,\\nplease")
    return estimate * 1.0

def negative(estimate, truth):
    return -np.abs(estimate - truth).sum(axis=-1)

SIMPLEX = PostProcessor(
    "simplex_of_mine", "Mine", own_norm_sub, nonnegative=True, sums_to_one=True, reference="this file"
)
BOASTS = PostProcessor("boasts", "Boasts", soft, nonnegative=True, sums_to_one=True, reference="this file")

class Empty(FrequencyOracle):
    pass

@dataclass(frozen=True)
class Falls(PROTOCOLS["rappor"]):
    key = "falls"

    def sample_support(self, counts, rng):
        return 1 + "one"

@dataclass(frozen=True)
class Flipped(PROTOCOLS["rappor"]):
    key = "flipped"

@dataclass(frozen=True)
class Biased(PROTOCOLS["rappor"]):
    key = "biased"

    def sample_support(self, counts, rng):
        return super().sample_support(counts, rng) + counts.sum(axis=-1, keepdims=True) // 50
"""
SAMPLE = "colour,count\n" + "".join(f"c{at},{1000 // (at + 1)}\n" for at in range(5))


pytestmark = pytest.mark.usefixtures("own_members")


@pytest.fixture(autouse=True)
def _clean(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    (tmp_path / "sample.csv").write_text(SAMPLE, encoding="utf-8")


QUICK = "sample.csv --reps 4 --max-reps 4 --quiet"
ASKED = f"--eps 1 {QUICK}"


@pytest.fixture
def command(run):
    return lambda line: run(*line.split())


def test_a_method_from_a_file_has_the_errors_of_the_same_method_of_ours(command):
    menu = "--protocol oue --method mine.py:own_norm_sub,norm_sub --n 5000 --seed 7 --runs runs.csv"
    rows = json.loads(command(f"{ASKED} {menu} --format json")[1])["recommendations"]
    assert [(row["method"], row["ratio_to_best"]) for row in sorted(rows, key=lambda row: row["method"])] == [
        ("norm_sub", 1),
        ("own_norm_sub", 1),
    ]
    with Path("runs.csv").open(encoding="utf-8") as file:
        runs = list(csv.DictReader(file))
    own, ours = ([row["error"] for row in runs if row["method"] == name] for name in ("own_norm_sub", "norm_sub"))
    assert own[:4] == ours[:4]
    said = {tuple(row[name] for name in ("eps", "n", "k", "seed", "version")) for row in runs}
    assert said == {("1.0", "5000", "5", "7", simulator.__version__)}


def test_a_protocol_and_a_metric_from_a_file_are_ranked(command):
    menu = "--protocol mine.py:Flipped,rappor --method mine.py:SIMPLEX --metric mine.py:largest"
    answer = json.loads(command(f"{ASKED} {menu} --format json")[1])
    assert answer["request"]["metric"] == "largest"
    pairs = {(row["protocol"], row["method"]) for row in answer["recommendations"]}
    assert pairs == {("flipped", "simplex_of_mine"), ("rappor", "simplex_of_mine")}


def test_methods_take_the_parameters_that_they_declare(command):
    menu = "--protocol oue --method mine.py:soft,mine.py:soft_by:factor=1,base_cut:keep=2"
    rows = json.loads(command(f"{ASKED} {menu} --format json")[1])["recommendations"]
    errors = {row["method"]: row["error"] for row in rows}
    assert set(errors) == {"soft", "soft_by:factor=1", "base_cut:keep=2"}
    assert errors["soft"] == errors["soft_by:factor=1"]
    simulated = json.loads(command("--eps 1 --k 8 --method base_cut:alpha=.05 -p oue --format json")[1])
    assert (simulated["source"], simulated["recommendations"][0]["method"]) == ("simulation", "base_cut:alpha=0.05")
    with pytest.raises(InputError, match="norm has no parameters, got 'x=1'; methods with parameters are base_cut, po"):
        advise(1.0, k=8, method="norm:x=1")
    assert [row.method for row in advise(1.0, k=8, method=["Power:prior=gaussian"], protocol="oue").ties] == [
        "power:prior=gaussian"
    ]


def test_a_member_that_breaks_its_contract_or_is_not_there_is_named_in_one_line(command):
    cells = [
        ("--method", "lost", "mine.py:lost: it breaks its contract: lost, noise of grr"),
        ("--method", "BOASTS", "claims nonnegative"),
        ("--method", "norm_cut", "the name norm_cut is taken by 'norm_cut': rename it"),
        ("--method", "sotf", "mine.py has no 'sotf'; did you mean 'soft'?"),
        ("--method", "soft,moodi", "'moodi': mine.py has none, and none is published; did you mean 'moody"),
        ("--method", "soft,base", "method 'base' can be none, which is called so for short, or that of mine.py: write"),
        ("--method", "", "method mine.py: name what is in the file, mine.py:soft, mine.py:own_norm_sub"),
        ("--protocol", "Empty", "lacks the text key, the text title, the text reference, attack_success, p, perturb"),
        ("--protocol", "Falls", "raised TypeError: unsupported operand type(s) for +: 'int' and 'str' (mine.py, line "),
        ("--metric", "negative", "mine.py:negative: it breaks its contract"),
        ("--metric", "nothing", "nothing: an error is finite and at least 0, got [nan]"),
        ("--metric", "SIMPLEX", "this is a method, a metric is a function or a Metric"),
        ("--protocol", "Biased", "mine.py:Biased: it breaks its contract: biased (k="),
    ]

    def check(cell):
        option, name, words = cell
        assert words in refused(command, f"{ASKED} {option} mine.py:{name}")
        waiting = {"negative", "nothing"}  # metrics and matrices are checked with the k of a question
        assert not REGISTERED.keys() - {"soft", "lost", *waiting}

    assert failures(cells, check) == {}
    Path("broken.py").write_text("import nothing_of_that_name\n", encoding="utf-8")
    for name, words in (("gone.py:soft", "there is no file gone.py"), ("broken.py:soft", "ModuleNotFoundError")):
        assert words in refused(command, f"{ASKED} --method {name}")


def test_two_members_of_one_name_are_no_answer_about_one_of_them(command):
    Path("other.py").write_text(MINE, encoding="utf-8")
    both = f"{ASKED} --protocol oue --method mine.py:soft,other.py:soft"
    words = "two members are called soft, 'mine.py:soft' and 'other.py:soft': rename one of them"
    assert words in refused(command, both)
    assert command(f"{ASKED} --protocol oue --method mine.py:soft,soft,mine.py:soft")[0] == 0


def test_a_matrix_product_rounds_in_another_way_in_a_batch(command):
    assert command(f"{ASKED} --protocol oue --method mine.py:smoothed")[0] == 0


def test_without_data_equal_values_come_in_any_order(command):
    """The categories of the sample fall, so the first of equal values would be the most frequent one."""
    out = command(f"{ASKED} --protocol oue --metric mine.py:wrong_first --format json")[1]
    assert json.loads(out)["error_without_data"] == pytest.approx(0.8, abs=4 * (0.16 / 20) ** 0.5)


def test_what_was_asked_for_and_has_no_row_is_named_and_so_is_the_menu(command):
    code, out, err = command(
        f"{ASKED.replace('--quiet', '')} --ordered --protocol sw,oue --method norm_sub,mine.py:soft"
    )
    assert (code, "sw" in out) == (0, False)
    assert "warning: sw is not compared: no method asked for goes with it (norm_sub, soft)\n" in err
    often = "--eps 1 sample.csv --n 1500 --reps 100 --max-reps 100 --quiet --protocol oue --method"
    out = command(f"{often} mine.py:own_norm_sub,none")[1]
    assert "no other pair asked for comes within 5 % of its error" in out  # but norm_sub does
    out = command(f"{often} norm_sub,none")[1]
    assert "no other pair comes within 5 % of its error" in out


@pytest.mark.filterwarnings("always::simulator.foreign.PluginWarning")
def test_one_that_fails_in_the_simulation_is_left_out_and_named(command):
    code, out, err = command(f"{ASKED} --protocol oue --method mine.py:moody,norm_sub")
    assert code == 0
    assert "warning: mine.py:moody is left out: RuntimeError: not five, please\n" in err
    assert "moody" not in out


@pytest.mark.slow
def test_the_commands_of_an_answer_name_members_with_their_files(command):
    menu = ("--protocol", "grr,mine.py:Flipped", "--method", "norm_sub,mine.py:soft", "--metric", "mine.py:largest")
    out = command(f"--eps 0.5 --n 50 {QUICK} {' '.join(menu)} --format json")[1]
    words = shlex.split(json.loads(out)["worth_it_with"]["command"])
    for option, names in zip(menu[::2], menu[1::2], strict=True):
        assert set(words[words.index(option) + 1].split(",")) == set(names.split(","))
    assert command(f"{' '.join(words[1:])} --max-reps 10 --quiet")[0] == 0


def test_python_takes_functions_as_they_are():
    def unit(estimate, noise):
        return halfway(estimate, noise)

    def largest(estimate, truth):
        return np.abs(estimate - truth).max(axis=-1)

    few = {"simulation": Simulation(repetitions=4, max_repetitions=4)}
    sample = {"sample_counts": [500, 300, 200], "protocol": "grr"}
    advice = advise(1.0, method=[unit, "norm_sub"], metric=largest, **sample, **few)
    assert {row.method for row in advice.recommendations} == {"unit", "norm_sub"}
    assert advice.metric == "largest"
    with pytest.raises(InputError, match="breaks its contract"):
        advise(1.0, metric=unit, **sample, **few)  # the wrong keyword, once
    again = advise(1.0, method=unit, **sample, **few)
    assert again.best.method == "unit"
    assert again.apply([0.5, 0.3, 0.2], method=unit).tolist() == again.apply([0.5, 0.3, 0.2]).tolist()
    with pytest.raises(InputError, match="its name must be lower-case words"):
        advise(1.0, method=lambda estimate, _: estimate, **sample)


def test_a_sweep_lists_the_error_of_every_pair_and_keeps_no_cells_of_a_changing_member(command):
    asked = "sweep --eps 1,2 --n 2000 --k 8 --protocol oue,grr --reps 3 --quiet --method"
    rows = csv_rows(command(f"{asked} mine.py:soft,norm_sub --jobs 2 --format csv")[1])
    pairs = [row for row in rows if row["rank_among"] == "pair"]
    every = set(product(("1.0", "2.0"), ("oue", "grr"), ("soft", "norm_sub")))
    assert {(row["eps"], row["protocol"], row["method"]) for row in pairs} == every
    for winner in (row for row in rows if row["rank_among"] == "all"):
        assert float(winner["error"]) == min(float(row["error"]) for row in pairs if row["eps"] == winner["eps"])
    assert "--resume does not go with mine.py:soft" in refused(command, f"{asked} mine.py:soft --resume cells.jsonl")
    assert not Path("cells.jsonl").exists()


def halfway(estimate, noise):
    del noise
    return (estimate + 1 / estimate.shape[-1]) / 2


def test_python_registers_the_same_and_may_do_so_again():
    assert simulator.register(halfway, "method") == "halfway"
    few = {"protocol": "grr", "simulation": Simulation(repetitions=4, max_repetitions=4)}
    assert advise(1.0, sample_counts=[500, 300, 200], method="halfway", **few).best.method == "halfway"

    def halfway_again(estimate, noise):
        return halfway(estimate, noise) * 1.0

    halfway_again.__name__ = "halfway"
    assert simulator.register(halfway_again, "method") == "halfway"
    assert POSTPROCESSORS["halfway"].function is halfway_again
    assert sweep(eps=1, n=1000, k=4, protocol="grr", method="halfway", simulation=Simulation(repetitions=2)).cells
    with pytest.raises(InputError, match="cannot be predicted, only simulated"):
        advise(1.0, k=16, method="halfway")


def test_the_example_of_a_protocol_keeps_its_contract():
    file = Path(__file__).parents[2] / "examples/sampled_bit.py"
    assert member_of_file("protocol", f"{file}:SampledBit") == "one_bit"
