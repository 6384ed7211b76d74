"""Members from a file and from Python: ranked like the others, checked, guarded, and named where they break."""

from __future__ import annotations

import csv
import io
import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import simulator
from advisor import InputError, advise, sweep
from advisor.members import member_of_file
from simulator import POSTPROCESSORS, PROTOCOLS, PostProcessor, foreign
from simulator.foreign import REGISTERED, SOURCES
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


def lost(estimate, noise):
    return estimate * np.nan


def flat(estimate, noise):
    return estimate.sum()


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
def _clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    (tmp_path / "sample.csv").write_text(SAMPLE, encoding="utf-8")
    monkeypatch.setattr(foreign, "_packages", dict(foreign._packages))


class Done(NamedTuple):
    code: int
    stdout: str
    stderr: str


@pytest.fixture
def command(run: Callable[..., tuple[int, str, str]]) -> Callable[..., Done]:
    return lambda *words: Done(*run(*words))


QUICK = ("--reps", "4", "--max-reps", "4", "--quiet")


def test_a_method_from_a_file_is_ranked_as_the_same_method_of_ours(command) -> None:
    menu = ("--protocol", "oue", "--method", "mine.py:own_norm_sub,norm_sub")
    result = command("--eps", "1", "sample.csv", *menu, *QUICK, "--format", "json")
    rows = json.loads(result.stdout)["recommendations"]
    assert [row["ratio_to_best"] for row in rows] == [1, 1]
    assert {row["method"] for row in rows} == {"own_norm_sub", "norm_sub"}
    runs = command("--eps", "1", "sample.csv", *menu, *QUICK, "--runs", "runs.csv", "--format", "value")
    assert runs.code == 0
    with Path("runs.csv").open(encoding="utf-8") as file:
        errors = {
            method: [row["error"] for row in rows if row["method"] == method]
            for rows in [list(csv.DictReader(file))]
            for method in ("own_norm_sub", "norm_sub")
        }
    assert errors["own_norm_sub"][:4] == errors["norm_sub"][:4]


def test_every_row_of_runs_says_what_was_simulated(command) -> None:
    command("--eps", "2", "sample.csv", "--n", "5000", "--seed", "7", "--protocol", "grr", *QUICK, "--runs", "runs.csv")
    with Path("runs.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    said = {tuple(row[name] for name in ("eps", "n", "k", "seed", "version")) for row in rows}
    assert said == {("2.0", "5000", "5", "7", simulator.__version__)}


def test_a_protocol_and_a_metric_from_a_file_are_ranked(command) -> None:
    result = command(
        "--eps",
        "1",
        "sample.csv",
        "--protocol",
        "mine.py:Flipped,rappor",
        "--method",
        "mine.py:SIMPLEX",
        "--metric",
        "mine.py:largest",
        *QUICK,
        "--format",
        "json",
    )
    answer = json.loads(result.stdout)
    assert answer["request"]["metric"] == "largest"
    assert {(row["protocol"], row["method"]) for row in answer["recommendations"]} == {
        ("flipped", "simplex_of_mine"),
        ("rappor", "simplex_of_mine"),
    }


def test_a_member_that_breaks_its_contract_is_named_in_one_line(command) -> None:
    cells = [
        ("--method", "lost", "mine.py:lost: it breaks its contract: lost, noise of grr"),
        ("--method", "flat", "the result must be a numpy array, got "),
        ("--method", "lost", "(a method is called as f(estimate, noise), with estimates (..., k) in an array"),
        ("--method", "BOASTS", "claims nonnegative"),
        ("--method", "norm_cut", "the name norm_cut is taken by 'norm_cut': rename it"),
        ("--method", "Flipped", "this is a class, a method is a function or a PostProcessor"),
        ("--method", "sotf", "mine.py has no 'sotf'; did you mean 'soft'?"),
        ("--method", "nope", "mine.py has no 'nope'; it defines soft, own_norm_sub, largest"),
        (
            "--method",
            "soft,moodi",
            "unknown method 'moodi': mine.py has none, and none is published; did you mean 'moody",
        ),
        ("--method", "soft,zebra", "; nor is it in mine.py, which has soft, own_norm_sub"),
        ("--method", "soft,base", "method 'base' can be none, which is called so for short, or that of mine.py: write"),
        ("--method", "", "method mine.py: name what is in the file, mine.py:soft, mine.py:own_norm_sub"),
        ("--protocol", "Empty", "lacks the text key, the text title, the text reference, attack_success, p, perturb"),
        ("--protocol", "Falls", "raised TypeError: unsupported operand type(s) for +: 'int' and 'str' (mine.py, line "),
        ("--metric", "negative", "mine.py:negative: it breaks its contract"),
        ("--metric", "SIMPLEX", "this is a method, a metric is needed"),
        ("--protocol", "soft", "this is a function, a protocol is needed"),
        ("--protocol", "Biased", "mine.py:Biased: it breaks its contract: biased (k="),
    ]

    def check(cell: tuple[str, str, str]) -> None:
        option, name, words = cell
        result = command("--eps", "1", "sample.csv", option, f"mine.py:{name}", *QUICK)
        assert result.code == 2
        assert result.stdout == ""
        (line,) = result.stderr.splitlines()
        assert words in line
        assert not REGISTERED.keys() - {"soft"}

    assert failures(cells, check) == {}


@pytest.mark.parametrize(
    "menu", ["norm_sub,mine.py:soft,own_norm_sub,Norm-Cut", "mine.py:soft,own_norm_sub,norm_cut,cls"]
)
def test_a_name_behind_one_of_a_file_is_looked_for_in_it(command, menu: str) -> None:
    words = ("--eps", "1", "sample.csv", "--protocol", "oue", *QUICK, "--format", "json")
    assert "unknown method 'own_norm_sub'" in command(*words, "--method", "own_norm_sub,mine.py:soft").stderr
    answer = json.loads(command(*words, "--method", menu).stdout)
    assert {row["method"] for row in answer["recommendations"]} == {"soft", "own_norm_sub", "norm_cut", "norm_sub"}
    assert REGISTERED["own_norm_sub"] == "mine.py:own_norm_sub"
    twice = json.loads(command(*words, "--method", "mine.py:soft", "--method", "own_norm_sub,soft").stdout)
    assert {row["method"] for row in twice["recommendations"]} == {"soft", "own_norm_sub"}


def test_a_method_of_ones_own_has_a_row_wherever_it_stands(command) -> None:
    words = ("--eps", "1", "sample.csv", "--protocol", "oue,olh", "--method", "all,mine.py:soft", "--top", "1", *QUICK)
    rows = [line.split() for line in command(*words).stdout.splitlines()]
    assert [row for row in rows if row[2:3] == ["soft"]], rows


def test_a_method_of_ones_own_that_the_usual_choice_beats_is_not_named_without_that(command) -> None:
    Path("many.csv").write_text("label,count\n" + "".join(f"v{at},{1000 // (at + 1)}\n" for at in range(60)))
    words = ("--eps", "1", "many.csv", "--protocol", "oue", "--method", "mine.py:moody", *QUICK)
    answer = command(*words, "--n", "20000").stdout.splitlines()
    assert any("is not among the pairs asked for and has " in line for line in answer[:4]), answer[:4]


def test_files_that_are_not_there_or_do_not_load_are_one_line(command) -> None:
    Path("broken.py").write_text("import nothing_of_that_name\n", encoding="utf-8")
    for name, words in (("gone.py:soft", "there is no file gone.py"), ("broken.py:soft", "ModuleNotFoundError")):
        result = command("--eps", "1", "sample.csv", "--method", name)
        assert (result.code, result.stdout) == (2, "")
        assert words in result.stderr
        assert len(result.stderr.splitlines()) == 1


@pytest.mark.filterwarnings("always::simulator.foreign.PluginWarning")
def test_one_that_fails_in_the_simulation_is_left_out_and_named(command) -> None:
    menu = ("--protocol", "oue", "--method", "mine.py:moody,norm_sub")
    result = command("--eps", "1", "sample.csv", *menu, *QUICK)
    assert result.code == 0
    assert "warning: mine.py:moody is left out: RuntimeError: not five, please\n" in result.stderr
    assert "moody" not in result.stdout


@pytest.mark.parametrize(
    "option",
    [
        "--method mine.py:soft",
        "--protocol mine.py:Flipped",
        pytest.param("--metric mine.py:largest", marks=pytest.mark.slow),  # simulates all pairs
    ],
)
def test_a_prediction_says_what_to_type_instead(command, option: str) -> None:
    result = command("--eps", "2", "--k", "16", *option.split())
    assert result.code == 2
    (line,) = result.stderr.splitlines()
    assert "cannot be predicted, only simulated: give a sample, or simulate an assumed shape" in line
    words = line.partition("for example ldp-advise ")[2].split()
    assert words[:5] == ["sweep", "--eps", "2", "--n", "100000"]
    again = command(*words, "--reps", "2", "--quiet")
    assert (again.code, again.stderr) == (0, "")


def test_the_commands_of_an_answer_name_members_with_their_files(command) -> None:
    menu = ("--protocol", "grr,mine.py:Flipped", "--method", "norm_sub,mine.py:soft", "--metric", "mine.py:largest")
    result = command("--eps", "0.5", "--n", "50", "sample.csv", *menu, *QUICK, "--format", "json")
    words = shlex.split(json.loads(result.stdout)["worth_it_with"]["command"])
    for option, names in zip(menu[::2], menu[1::2], strict=True):
        assert set(words[words.index(option) + 1].split(",")) == set(names.split(","))
    again = command(*words[1:], "--max-reps", "10", "--quiet")
    assert again.code == 0


def test_all_and_one_of_your_own(command) -> None:
    words = ("--eps", "1", "sample.csv", "--protocol", "oue", *QUICK, "--format", "json")
    every = json.loads(command(*words).stdout)["recommendations"]
    both = json.loads(command(*words, "--method", "all,mine.py:soft").stdout)["recommendations"]
    assert {row["method"] for row in both} == {row["method"] for row in every} | {"soft"}
    named = json.loads(command(*words, "--method", "all").stdout)["recommendations"]
    assert len(named) == len(both)  # it is in the table of this process


def test_a_saved_answer_is_cited_without_the_file(command) -> None:
    menu = ("--protocol", "oue,mine.py:Flipped", "--method", "mine.py:soft,norm_sub")
    command("--eps", "1", "sample.csv", *menu, *QUICK, "--output", "answer.json")
    for name in ("soft", "flipped"):
        for table in (PROTOCOLS, POSTPROCESSORS):
            table.pop(name, None)
        for known in (REGISTERED, SOURCES):
            known.pop(name, None)
    Path("mine.py").unlink()
    data = json.loads(command("cite", "answer.json", "--format", "json").stdout)
    assert set(data["methods"]) == {"soft", "norm_sub"}
    assert "soft (own code)" in data["paragraph"]
    assert "mine" not in data["bibtex"]


@pytest.mark.slow
def test_the_code_of_an_explanation_runs_elsewhere(command) -> None:
    def check(name: str) -> None:
        result = command("explain", f"mine.py:{name}", "--format", "json")
        code = json.loads(result.stdout)["python"]
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")

    assert failures(["soft", "Flipped"], check) == {}


def test_python_takes_functions_as_they_are() -> None:
    def unit(estimate: np.ndarray, noise: simulator.Noise) -> np.ndarray:
        return halfway(estimate, noise)

    def largest(estimate: np.ndarray, truth: np.ndarray) -> np.ndarray:
        return np.abs(estimate - truth).max(axis=-1)

    few = {"repetitions": 4, "max_repetitions": 4}
    sample = {"sample_counts": [500, 300, 200], "protocol": "grr"}
    advice = advise(1.0, method=[unit, "norm_sub"], metric=largest, **sample, **few)
    assert {row.method for row in advice.recommendations} == {"unit", "norm_sub"}
    assert advice.metric == "largest"
    assert advise(1.0, method=unit, **sample, **few).best.method == "unit"
    with pytest.raises(InputError, match="its name must be lower-case words"):
        advise(1.0, method=lambda estimate, _: estimate, **sample)


def test_a_sweep_lists_the_error_of_every_pair_and_keeps_no_cells_of_a_changing_member(command) -> None:
    words = ("sweep", "--eps", "1,2", "--n", "2000", "--k", "8", "--protocol", "oue,grr", "--reps", "3", "--quiet")
    result = command(*words, "--method", "mine.py:soft,norm_sub", "--jobs", "2", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    pairs = [row for row in rows if row["rank_among"] == "pair"]
    assert {(row["eps"], row["protocol"], row["method"]) for row in pairs} == {
        (epsilon, protocol, method)
        for epsilon in ("1.0", "2.0")
        for protocol in ("oue", "grr")
        for method in ("soft", "norm_sub")
    }
    for winner in (row for row in rows if row["rank_among"] == "all"):
        assert float(winner["error"]) == min(float(row["error"]) for row in pairs if row["eps"] == winner["eps"])
    refused = command(*words, "--method", "mine.py:soft", "--resume", "cells.jsonl")
    assert refused.code == 2
    assert "--resume does not go with mine.py:soft" in refused.stderr
    assert not Path("cells.jsonl").exists()


def halfway(estimate: np.ndarray, noise: simulator.Noise) -> np.ndarray:
    del noise
    return (estimate + 1 / estimate.shape[-1]) / 2


def test_python_registers_the_same_and_may_do_so_again() -> None:
    assert simulator.register(halfway, "method") == "halfway"
    first = advise(
        1.0, sample_counts=[500, 300, 200], protocol="grr", method="halfway", repetitions=4, max_repetitions=4
    )
    assert first.best.method == "halfway"

    def halfway_again(estimate: np.ndarray, noise: simulator.Noise) -> np.ndarray:
        return halfway(estimate, noise) * 1.0

    halfway_again.__name__ = "halfway"
    assert simulator.register(halfway_again, "method") == "halfway"
    assert POSTPROCESSORS["halfway"].function is halfway_again
    assert sweep(epsilons=1, users=1000, sizes=4, protocol="grr", method="halfway", repetitions=2).cells
    with pytest.raises(InputError, match="cannot be predicted, only simulated"):
        advise(1.0, k=16, method="halfway")


def test_the_example_of_a_protocol_keeps_its_contract() -> None:
    file = Path(__file__).parents[2] / "examples/sampled_bit.py"
    assert member_of_file("protocol", f"{file}:SampledBit") == "one_bit"


def test_python_is_told_what_is_wrong() -> None:
    named = PostProcessor("Half Way", "Half", halfway, nonnegative=False, sums_to_one=False, reference="here")
    for member, kind, words in (
        (halfway, None, "say which kind of member it is"),
        (halfway, "methods", "say which kind of member it is, one of protocol, method, metric"),
        (named, None, "its name must be lower-case words"),
        (lambda estimate: estimate, "method", "its name must be lower-case words"),
        (POSTPROCESSORS["norm"], None, "the name norm is taken"),
        (3, "metric", "this is a int, a metric is needed"),
    ):
        with pytest.raises(ValueError, match=words):
            simulator.register(member, kind)
    assert not REGISTERED
