import json
import math
import os
import random
import runpy
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from advisor import AttackSettings, ForeignClient, InputError, Simulation, audit
from advisor.extensions.audit.answer import answer, answer_apart, reports_of
from advisor.extensions.code.collection import CodedCollection, client_file
from advisor.extensions.code.reports import module_of
from simulator import PROTOCOLS
from tests.advisor.cli_answers import refused
from tests.advisor.schemas import schema
from tests.advisor.test_process import COMMAND
from tests.cells import failures, over
from tests.simulator.law import accept, two_sided

SCHEMA = schema("audit")

CLIENTS = """
import math, os, random, signal, sys, time

def good(value, k, epsilon):
    p = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    return value if random.random() < p else random.choice([v for v in range(k) if v != value])

def leaky(value, k, epsilon):
    return value

def leaks_three(value, k, epsilon):
    return value if value == 3 else good(value, k, epsilon)

def crashes(value, k, epsilon):
    raise OSError("no entropy")

def wrong(value, k, epsilon):
    return "seven"

def leaves(value, k, epsilon):
    os._exit(0)

def leaves_late(value, k, epsilon):
    return os._exit(0) if value == 4 else value

def aborts(value, k, epsilon):
    os.abort()

def interrupts(value, k, epsilon):
    raise KeyboardInterrupt

NUMBER = 3
"""


APART = "advisor.extensions.audit.command.answer_apart"


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch):
    """Another process takes half a second: tests that are about it put it back."""
    monkeypatch.setattr(APART, answer)


@pytest.fixture
def clients(tmp_path, monkeypatch):
    (tmp_path / "audited_clients.py").write_text(CLIENTS, encoding="utf-8")
    (tmp_path / "no_client.py").write_text("import os; os._exit(0)\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("clients")
def test_a_leak_of_any_value_fails_a_pipeline(run):
    asked = ("audit", "--target", "audited_clients:leaks_three", "--reports", "grr", "--k", "5", "--trials", "4000")
    assert run(*asked, "--eps", "1", "--fail-if-leaks")[0] == 3
    assert run(*asked, "--eps", "1", "--values", "0,1", "--fail-if-leaks")[0] == 0
    _, out, _ = run(*asked, "--eps", "1,2", "--format", "json")
    SCHEMA.validate(json.loads(out))
    assert [(3 in row["values"], row["tried"]) for row in json.loads(out)["results"]] == [(True, 5), (True, 5)]


def test_same_seed_same_numbers_with_any_number_of_jobs(run):
    asked = ("audit", "-p", "oue", "-e", "1", "--k", "100", "--trials", "12000", "--format", "json", "--seed", "4")
    assert run(*asked, "--jobs", "1") == run(*asked, "--jobs", "3")
    assert run(*asked)[1] != run(*asked[:-1], "5")[1]


def test_an_attack_is_the_one_that_was_named_or_it_is_refused(run):
    asked = "audit -p olh -e 1 --k 5 --attributes 2 --trials 100 -q"
    assert run(*asked.split(), "--attack", "guess") == run(*asked.split())
    fake, memoised = "--attributes 2 --solution rsfd", "--memoize --eps-forever 2 --rounds 3"

    def attacks(words):
        out = run("audit", *f"-p grr -e 1 --k 5 --trials 100 --format json {words}".split())[1]
        return {row["attack"] for row in json.loads(out)["results"]}

    kept = {"--attack guess": "guess", "--attack pair": "pair", f"{fake} --attack guess": "guess"}
    kept |= {f"{fake} --attack likelihood": "likelihood", f"{memoised} --attack likelihood": "likelihood"}
    kept |= {
        "": "guess",
        fake: "likelihood",
        memoised: "likelihood",
        "--attributes 2 --attack likelihood": "likelihood",
    }
    assert {words: attacks(words) for words in kept} == {words: {attack} for words, attack in kept.items()}


def test_fake_data_at_the_published_budget_is_attacked_as_published_and_attributes_may_have_sizes(run):
    """At ε = 4 and d = 2: ε′ = 4.684, of which Algorithm 3 shows 1.06 in a binary domain, and 3.51 of 100 values."""
    asked = "audit -p grr --eps 4 --attributes 2 --solution rsfd --k 2,100 --amplified --trials 50k --format json"
    guessed, likely = (json.loads(run(*asked.split(), *more)[1])["results"] for more in (["--attack", "guess"], []))
    assert [round(row["epsilon_guaranteed"], 3) for row in guessed] == [4.684, 4.684]
    assert [round(row["epsilon_one_attribute"], 3) for row in guessed] == [4, 4]
    for row, shown in zip(guessed, (1.06, 3.51), strict=True):
        assert row["agrees"]
        assert row["epsilon_analytic"] - row["epsilon_slack"] <= shown <= row["epsilon_analytic"]
    assert all(row["epsilon_lower_bound"] > 3.6 for row in likely)
    words = "audit -p grr,oue -e 1 --sizes 3,5,12 --trials 500 --attack guess --format json"
    rows = json.loads(run(*words.split())[1])["results"]
    assert {(row["k"], tuple(row["sizes"]), row["attributes"]) for row in rows} == {(12, (3, 5, 12), 3)}


def test_runs_have_the_mean_and_the_deviation_of_their_seeds(run):
    asked = "audit -p grr,oue -e 0.5,1,2 --k 4,8 --trials 400 --format json"
    single = [json.loads(run(*asked.split(), "--seed", str(seed))[1])["results"] for seed in (7, 8, 9)]
    out = run(*asked.split(), "--seed", "7", "--runs", "3")[1]
    SCHEMA.validate(json.loads(out))
    for row, *each in zip(json.loads(out)["results"], *single, strict=True):
        bounds = [one["epsilon_lower_bound"] for one in each]
        assert row["epsilon_lower_bound"] == bounds[0]
        found = (row["epsilon_lower_bound_mean"], row["epsilon_lower_bound_sd"])
        assert found == pytest.approx((np.mean(bounds), np.std(bounds, ddof=1)))


def test_python_gives_the_results_of_the_command(run):
    answer = audit(1.0, k=[5, 8], protocol="GRR", attack=AttackSettings(trials=2000), simulation=Simulation(seed=3))
    words = "audit -p grr --eps 1 --k 5,8 --trials 2000 --seed 3 --format json"
    data = json.loads(run(*words.split())[1])
    assert json.loads(answer.to_json()) == data
    assert (answer.summary, answer.leaks) == (data["summary"], False)
    with pytest.raises(InputError, match="eps= is missing"):
        audit(k=5, protocol="grr")


def test_python_takes_a_client_as_a_function():
    def leaky(value, k, epsilon):
        return value

    for how in ({"reports": "grr"}, {"support": lambda report, k, epsilon: [report]}):
        answer = audit(1.0, k=5, client=ForeignClient(target=leaky, **how), attack=AttackSettings(trials=500))
        assert (answer.leaks, answer.results[0].protocol) == (True, "leaky")


@pytest.mark.usefixtures("clients")
@over(
    [
        ("nowhere_to_be_found:f", "nowhere_to_be_found cannot be imported (ModuleNotFoundError"),
        ("audited_clients", "must be module:function"),
        ("audited_clients:god", "has no 'god'; did you mean 'good'?"),
        ("audited_clients:NUMBER", "this is a int, a function is needed"),
        ("audited_clients:crashes", "audited_clients:crashes failed for value 0, k=5, epsilon=1: OSError: no entropy"),
        ("audited_clients:wrong", "audited_clients:wrong returned 'seven' (str) for value 0"),
    ]
)
def test_a_target_that_cannot_be_audited_has_its_own_message(target, said, *, run):
    assert said in refused(run, "audit", "--target", target, "--reports", "grr", "--eps", "1", "--k", "5")


@over(
    [("audited_clients.py:leaves_late", "exit code 0")],
    slow=[
        ("audited_clients:leaves", "exit code 0"),
        ("audited_clients:aborts", "SIGABRT"),
        ("audited_clients:interrupts", "KeyboardInterrupt"),
        ("audited_clients:leaky --support no_client.py:f", "exit code 0"),
    ],
)
def test_a_client_that_leaves_passes_no_pipeline(target, said, *, run, clients, monkeypatch):
    monkeypatch.setattr(APART, answer_apart)
    how = "" if "--support" in target else "--reports grr"
    err = refused(run, "audit", *f"--target {target} {how} --eps 1 --k 5 --trials 50 --fail-if-leaks".split())
    assert f"{target.partition(' ')[0]} " in err
    assert said in err


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@over(
    [
        "--all --eps 32 --k 2,30 --rounds 2,1000",
        "--all --eps 1e-6 --k 2,30 --rounds 2,1000",
        "--all --eps 1e-6,32 --k 2,1000",
        "-p grr -p oue -p rappor --eps 32 --k 4 --attributes 2,1000",
        "-p grr --eps 1 --k 4 --alpha 1e-300",
        "--lho 2,2147483648 --k 2,30",
    ]
)
def test_extremes_are_answered_without_a_warning_of_numpy(words, *, run):
    code, out, err = run("audit", *words.split(), "--trials", "20", "--format", "json")
    assert (code, err) == (0, "")
    SCHEMA.validate(json.loads(out))
    assert not json.loads(out)["results"][0]["leaks"]


K = 20  # of the reports in files


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Reports of four values by a right client, as numbers and as bits, and by clients that leak value 7."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    for value in (0, 1, 3, 7):
        numbers = PROTOCOLS["grr"](K, 1.0).perturb(np.full(3_000, value), rng)
        leaking = np.full(3_000, 7) if value == 7 else numbers
        bits = PROTOCOLS["oue"](K, 1.0).perturb(np.full(3_000, value), rng)
        own = np.where(np.arange(K) == 7, value == 7, 0) | bits
        for name, reports in (("right", numbers), ("leak", leaking)):
            Path(f"{name}{value}.txt").write_text("".join(f"{report}\n" for report in reports))
        for name, reports in (("bits", bits), ("own", own)):
            Path(f"{name}{value}.txt").write_text("".join(f"{''.join(map(str, report))}\n" for report in reports))
    Path("few.txt").write_text("1\n0\n")
    Path("empty.txt").write_text("\n")
    Path("unlike.txt").write_text("".join(f"{number}\n" for number in range(9_000)))


def of(name):
    return ["--files", *(f"{name}{value}.txt" for value in (0, 1, 3, 7)), "--eps", "1"]


AS_GRR, AS_OUE = ("--reports", "grr", "--k", str(K)), ("--reports", "oue", "--k", str(K))


@pytest.mark.usefixtures("files")
def test_a_client_that_leaks_one_value_is_found_by_its_files(run):
    assert run("audit", *of("leak"), "--fail-if-leaks")[::2] == (3, "")
    assert run("audit", *of("leak"), *AS_GRR, "--fail-if-leaks")[0] == 3
    code, out, _ = run("audit", *of("own"), *AS_OUE, "--fail-if-leaks", "--format", "json")
    assert code == 3
    SCHEMA.validate(json.loads(out))
    (row,) = json.loads(out)["results"]
    assert (row["files"][0], row["looked_for"][0], row["tried"], row["trials"]) == ("own7.txt", 7, 4, 1_500)


@pytest.mark.usefixtures("files")
def test_a_right_client_is_not_whatever_the_order_of_its_lines(run):
    """Flagged by chance once in a hundred times each; the seed is fixed."""
    for value in (0, 1, 3, 7):
        path = Path(f"right{value}.txt")
        Path(f"sorted{value}.txt").write_text("\n".join(sorted(path.read_text().split())))

    def check(cell):
        name, how = cell
        code, out, _ = run("audit", *of(name), *how, "--fail-if-leaks")
        assert (code, "LEAKS" in out) == (0, False)
        assert run("audit", *of(name), *how)[1] == out

    assert failures([("right", ()), ("sorted", ()), ("right", AS_GRR), ("bits", AS_OUE)], check) == {}


@over(PROTOCOLS)
def test_lines_are_read_as_the_clients_write_them(key):
    k, epsilon = 12, 1.0
    client = module_of(client_file(CodedCollection(key, "em_stopped" if key == "sw" else "none", k, epsilon)))
    entropy = random.Random(1).randbytes  # noqa: S311 - tests have to be repeatable
    reports = [client.randomised(value, entropy) for value in range(k) for _ in range(5)]
    read = reports_of([client.line(report) for report in reports], key, k, epsilon)
    assert [np.array(one).tolist() for one in read] == [np.array(one).tolist() for one in reports]


EXAMPLES = Path(__file__).parents[2] / "examples"


def counts_of(run, target, support, values, k, trials):
    """Let an example be audited at ε = 2 for two values, and return how often v1 was named."""
    asked = f"--support {EXAMPLES}/{support} --eps 2 --k {k} --values {values} --trials {trials} --attack pair"
    out = run("audit", "--target", f"{EXAMPLES}/{target}", *asked.split(), "--format", "json")[1]
    return json.loads(out)["results"][0]["hits"], json.loads(out)["results"][0]["confusions"]


def test_a_count_mean_sketch_loses_its_budget_where_cells_differ(run):
    """The attacker sees two cells of RAPPOR, or one: p² against q² in those functions that tell the values apart."""
    sketch, trials, p = "count_mean_sketch.py", 4000, 1 / (1 + math.exp(-1))
    example = runpy.run_path(str(EXAMPLES / sketch))
    cell = example["cell"]
    apart = np.mean([cell(function, 0) != cell(function, 1) for function in range(example["FUNCTIONS"])])
    found = counts_of(run, f"{sketch}:send", f"{sketch}:supported", "0,1", 5, trials)
    for count, chance in zip(found, (apart * p**2, apart * (1 - p) ** 2), strict=True):
        assert accept(two_sided((count - trials * chance) / math.sqrt(trials * chance * (1 - chance))))
    assert math.log(p**2 / (1 - p) ** 2) == pytest.approx(2)


def test_an_attacker_who_knows_the_frequencies_names_the_most_probable_value(run):
    """Of SHE, against a sum over the score of one cell: those of all others are lower."""
    epsilon, k, trials, edges = 2.0, 4, 3000, np.linspace(0, 1, 4001)
    logs = np.log(1 / np.arange(1, k + 1))
    scores = np.concatenate([[-1.0], edges[1:] + edges[:-1] - 1, [1.0]]) * epsilon / 2  # of cells to 0, between, from 1

    def below(own, limits):  # how likely the score of a cell is below limits
        inside = stats.laplace.cdf((limits / (epsilon / 2) + 1) / 2, loc=own, scale=2 / epsilon)
        return np.where(limits > epsilon / 2, 1.0, np.where(limits > -epsilon / 2, inside, 0.0))

    for v1, v2 in ((0, 1), (3, 0)):
        found = counts_of(run, "known_prior.py:send", "known_prior.py:named", f"{v1},{v2}", k, trials)
        for count, held in zip(found, (v1, v2), strict=True):
            masses = np.diff(stats.laplace.cdf([*edges, np.inf], loc=held == v1, scale=2 / epsilon), prepend=0.0)
            others = [below(held == other, scores + logs[v1] - logs[other]) for other in range(k) if other != v1]
            chance = float(masses @ np.prod(others, axis=0))
            assert accept(two_sided((count - trials * chance) / math.sqrt(trials * chance * (1 - chance))))


@pytest.mark.slow
def test_what_an_audited_client_prints_is_not_in_the_answer(tmp_path):
    (tmp_path / "loud.py").write_text(
        "print('loading')\ndef client(value, k, epsilon):\n    print('called')\n    return value\n", encoding="utf-8"
    )
    target = ["--target", "loud.py:client", "--reports", "grr", "--trials", "2"]
    done = subprocess.run(
        [*COMMAND, "audit", *target, "--eps", "1", "--k", "4", "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert json.loads(done.stdout)["request"]["target"] == "loud.py:client"
    assert all(word in done.stderr for word in ("loading", "called"))
