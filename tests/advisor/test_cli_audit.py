from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

from advisor import AuditAnswer, InputError, audit
from advisor.extensions.audit.document import audit_document
from advisor.show.model import View
from advisor.show.text import plain_text
from simulator import PROTOCOLS
from simulator.hashing import DEFAULT_HASH, HASHES
from tests.advisor.conftest import Run
from tests.advisor.schemas import schema
from tests.cells import failures

SCHEMA = schema("audit")

CLIENTS = """
import random, math

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

def values_of(report, k, epsilon):
    return [report]

NUMBER = 3
"""


@pytest.fixture
def clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "audited_clients.py").write_text(CLIENTS, encoding="utf-8")
    (tmp_path / "broken_clients.py").write_text("import nothing_of_this_name\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("clients")
def test_a_pipeline_may_fail_on_leaks(run: Run) -> None:
    asked = ("--reports", "grr", "--eps", "1", "--k", "5", "--trials", "2000")
    leaky, good = ("audit", "--target", "audited_clients:leaky"), ("audit", "--target", "audited_clients:good")
    assert run(*leaky, *asked)[0] == 0
    code, out, _ = run(*leaky, *asked, "--fail-if-leaks")
    assert code == 3
    assert "LEAKS" in out
    assert run(*good, *asked, "--fail-if-leaks")[0] == 0


@pytest.mark.usefixtures("clients")
def test_a_leak_of_any_value_fails_a_pipeline_and_the_answer_says_what_was_tried(run: Run) -> None:
    asked = ("audit", "--target", "audited_clients:leaks_three", "--reports", "grr", "--k", "5", "--trials", "4000")
    code, out, _ = run(*asked, "--eps", "1", "--fail-if-leaks")
    assert code == 3
    assert re.match(
        r"audited_clients:leaks_three at ε = 1, k = 5 LEAKS: .* between values (3 and \d|\d and 3), not", out
    )
    assert "v1 and v2 are the two of all 5 values whose reports look furthest apart" in out
    assert "2,000 trials of each value" in out
    code, out, _ = run(*asked, "--eps", "1", "--values", "0,1", "--fail-if-leaks")
    assert code == 0
    assert "between values 0 and 1, the only two tried (confidence 99 %)" in out
    assert "4,000 trials of each value" in out
    _, out, _ = run(*asked, "--eps", "1,2", "--format", "json")
    SCHEMA.validate(json.loads(out))
    assert [(3 in row["values"], row["tried"]) for row in json.loads(out)["results"]] == [(True, 5), (True, 5)]


def test_one_protocol_is_told_in_a_sentence(run: Run) -> None:
    code, out, err = run("audit", "--protocol", "GRR", "--eps", "1", "--k", "10", "--trials", "50000")
    assert (code, err) == (0, "")
    first = out.splitlines()[0]
    assert first.startswith("grr at ε = 1, k = 10 loses at least 0.9")
    assert "infinitely many trials would show 1.000; the promise is at most 1" in first
    for said in ("50,000 trials", "highest bound", "agree in 1 of 1 audits"):
        assert said in out


def test_quiet_prints_finding_and_table_only(run: Run) -> None:
    _, out, _ = run("audit", "-p", "grr", "-e", "1", "--k", "10", "--trials", "1000", "-q")
    assert "agree in" not in out
    assert "highest bound" not in out


def test_json_has_the_contract_fields(run: Run) -> None:
    code, out, _ = run("audit", "--all", "--eps", "0.5,2", "--k", "4,9", "--trials", "2000", "--format", "json")
    data = json.loads(out, parse_constant=lambda constant: pytest.fail(constant))
    SCHEMA.validate(data)
    assert code == 0
    assert {"schema_version", "tool_version", "request", "seed", "summary", "results"} <= set(data)
    assert len(data["results"]) == 4 * len(PROTOCOLS)
    for row in data["results"]:
        assert {"protocol", "epsilon", "k", "trials", "alpha"} <= set(row)
        assert row["epsilon_lower_bound"] <= row["epsilon_ceiling"]
        assert row["epsilon_analytic"] <= row["epsilon"] * (1 + 1e-9)
        assert row["agrees"]
        assert not row["leaks"]


def test_same_seed_same_numbers_with_any_number_of_jobs(run: Run) -> None:
    asked = ("audit", "-p", "oue", "-e", "1", "--k", "100", "--trials", "12000", "--format", "json", "--seed", "4")
    assert run(*asked, "--jobs", "1") == run(*asked, "--jobs", "3")
    assert run(*asked)[1] != run(*asked[:-1], "5")[1]


def test_csv_has_a_line_for_each_audit(run: Run) -> None:
    _, out, _ = run("audit", "-p", "oue", "-p", "olh", "-e", "1,2", "--k", "5", "--trials", "500", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["protocol"], row["epsilon"]) for row in rows] == [
        ("oue", "1.0"),
        ("oue", "2.0"),
        ("olh", "1.0"),
        ("olh", "2.0"),
    ]


def test_markdown_of_several_budgets_is_a_matrix(run: Run, tmp_path: Path) -> None:
    asked = ("audit", "-p", "grr", "-p", "oue", "--eps", "1,2,4", "--k", "5,25", "--trials", "20000")
    _, out, _ = run(*asked, "--format", "markdown")
    lines = [line for line in out.splitlines() if line.startswith("|")]
    assert lines[0] == "| audited | k | ε = 1 | ε = 2 | ε = 4 |"
    assert len(lines) == 2 + 4
    assert "/ 4.000 (" in lines[2]
    assert "Each cell: loss ≥ / analytic (slack)" in out
    target = tmp_path / "audit.md"
    code, printed, _ = run(*asked, "-o", target)
    assert (code, printed) == (0, "")
    assert target.read_text(encoding="utf-8") == out
    assert run(*asked, "-o", target)[0] == 2
    assert run(*asked, "-o", target, "--force")[0] == 0


def test_rounds_attributes_and_hashing_alone(run: Run) -> None:
    _, out, _ = run("audit", "-p", "oue", "-e", "0.5", "--k", "10", "--rounds", "1,20", "--trials", "3000")
    assert "oue ×20" in out
    assert " 10 " in out  # 20 times 0.5 is promised
    _, out, _ = run(
        "audit", "-p", "sue", "-p", "grr", "-p", "olh", "-e", "1", "--k", "10", "--attributes", "2", "--trials", "3000"
    )
    _, kept, _ = run(
        "audit", "-p", "olh", "-e", "1", "--k", "5", "--attributes", "2", "--attack", "guess", "--trials=9"
    )
    assert "[olh] d=2" in kept
    for said in ("spl[rappor] d=2", "smp[grr] d=2", "rsfd[rappor-z] d=2", "rsfd[rappor-r] d=2", "rsfd[grr] d=2"):
        assert said in out
    assert "rsfd[olh" not in out
    _, out, _ = run("audit", "--lho", "2,4", "--k", "25", "--trials", "3000", "--format", "json")
    SCHEMA.validate(json.loads(out))
    rows = json.loads(out)["results"]
    assert [row["symbols"] for row in rows] == [2, 4]
    assert [row["epsilon"] for row in rows] == [None, None]


def test_an_attack_by_name_is_taken_where_no_data_is_fake(run: Run) -> None:
    asked = ("audit", "-p", "olh", "-e", "1", "--k", "5", "--attributes", "2", "--trials", "100", "-q")
    assert run(*asked, "--attack", "guess") == run(*asked)


def test_where_nothing_is_promised_nothing_is_compared_with_a_promise(run: Run) -> None:
    asked = ("audit", "--lho", "2,4", "--eps", "1", "--k", "10", "--trials", "20000", "-q")
    first = run(*asked)[1].splitlines()[0]
    assert first.startswith("Local hashing without perturbation (lho) promises nothing; the largest loss of 2 such")
    assert "lho g=4 at k = 10 loses at least 1." in first
    assert "than is promised" not in first
    first = run(*asked, "-p", "grr", "-p", "oue")[1].splitlines()[0]
    assert first.startswith("2 audits; none finds more than is promised (confidence 99 % each). Local hashing")
    first = run("audit", "--lho", "4", "--k", "10", "--trials", "20000", "-q")[1].splitlines()[0]
    assert first.startswith("Local hashing without perturbation (lho) promises nothing; lho g=4 at k = 10 loses at")


def test_pair_attack_comes_near_the_promise(run: Run) -> None:
    _, out, _ = run(
        "audit", "-p", "olh", "-e", "1", "--k", "50", "--attack", "pair", "--trials", "50000", "--format", "json"
    )
    (row,) = json.loads(out)["results"]
    assert row["epsilon_analytic"] == pytest.approx(1.0)
    assert row["epsilon_lower_bound"] > 0.9


def test_value_is_the_bounds_one_per_line(run: Run) -> None:
    def check(jobs: str) -> None:
        asked = ("audit", "-p", "grr", "-p", "oue", "-e", "1", "--k", "5", "--trials", "5000", "--jobs", jobs)
        code, out, _ = run(*asked, "--format", "value")
        rows = json.loads(run(*asked, "--format", "json")[1])["results"]
        assert code == 0
        assert out.splitlines() == [f"{row['epsilon_lower_bound']:.6g}" for row in rows]

    assert failures(["1", "2"], check) == {}


def test_a_comma_separates_domain_sizes_of_any_length(run: Run) -> None:
    _, out, _ = run("audit", "-p", "grr", "-e", "1", "--k", "10,100", "--trials", "500", "--format", "json")
    assert [row["k"] for row in json.loads(out)["results"]] == [10, 100]


def test_errors_fit_the_schema_too(run: Run) -> None:
    cells = [
        "--all --eps 1",
        "--all --eps nan --k 10",
        "--all --eps 1 --k 4 --rounds 1e300",
        "--target nothing:f --reports oue --eps 1 --k 4",
        "--nosuch",
    ]

    def check(words: str) -> None:
        code, out, err = run("audit", *words.split(), "--format", "json")
        assert code == 2
        assert json.loads(out)["error"]["message"] in err
        SCHEMA.validate(json.loads(out))

    assert failures(cells, check) == {}


def test_python_gives_the_results_of_the_command(run: Run) -> None:
    answer = audit(1.0, k=[5, 8], protocol="GRR", trials=2000, seed=3)
    _, out, _ = run(
        "audit", "-p", "grr", "--eps", "1", "--k", "5,8", "--trials", "2000", "--seed", "3", "--format", "json"
    )
    assert json.loads(answer.to_json()) == json.loads(out)
    assert answer.summary == json.loads(out)["summary"]
    assert not answer.leaks
    with pytest.raises(InputError, match="--eps is missing"):
        audit(k=5, protocol="grr")
    with pytest.raises(InputError, match="either epsilon or eps"):
        audit(1.0, eps=1.0, k=5, protocol="grr")


def test_an_audit_of_hashed_reports_names_the_hash() -> None:
    def hashed(value: int, k: int, epsilon: float) -> tuple[int, int]:
        return int(HASHES["xxh32"](np.array([value]), np.array([7]), 4)[0]), 7

    def audited(hash_name: str | None) -> AuditAnswer:
        return audit(1.0, k=20, target=hashed, reports="olh", hash=hash_name, trials=500, values=(0, 3))

    assert f"read with the hash function {DEFAULT_HASH}" in audit_words(audited(None))
    assert "read with the hash function xxh32" in audit_words(audited("xxh32"))
    assert audited("xxh32").leaks


def audit_words(answer: AuditAnswer) -> str:
    return plain_text(audit_document(answer), View())


def test_python_takes_a_client_as_a_function() -> None:
    def leaky(value: int, k: int, epsilon: float) -> int:
        return value

    answer = audit(1.0, k=5, target=leaky, reports="grr", trials=500)
    assert answer.leaks
    assert answer.results[0].protocol == "leaky"
    by_support = audit(1.0, k=5, target=leaky, support=lambda report, k, epsilon: [report], trials=500)
    assert by_support.leaks


@pytest.mark.usefixtures("clients")
def test_a_leaking_client_is_flagged_and_a_right_one_is_not(run: Run) -> None:
    asked = ("--eps", "1", "--k", "5", "--reports", "grr", "--trials", "2000")
    code, out, _ = run("audit", "--target", "audited_clients:leaky", *asked)
    assert code == 0
    assert out.startswith("audited_clients:leaky at ε = 1, k = 5 LEAKS: it loses at least 5.")
    _, out, _ = run("audit", "--target", "audited_clients:good", *asked)
    assert "LEAKS" not in out
    assert "audited_clients:good at ε = 1, k = 5 loses at least" in out
    _, by_support, _ = run(
        "audit", "--target", "audited_clients.py:leaky", "--support", "audited_clients:values_of", *asked[:4]
    )
    assert "LEAKS" in by_support


@pytest.mark.usefixtures("clients")
def test_a_target_that_cannot_be_audited_has_its_own_message(run: Run) -> None:
    cells = [
        ("nowhere_to_be_found:f", "nowhere_to_be_found cannot be imported (ModuleNotFoundError"),
        ("broken_clients:f", "broken_clients cannot be imported"),
        ("missing.py:f", "missing.py cannot be imported"),
        ("audited_clients", "must be module:function"),
        ("audited_clients:god", "has no 'god'; did you mean 'good'?"),
        ("audited_clients:NUMBER", "this is a int, a function is needed"),
        ("audited_clients:crashes", "audited_clients:crashes failed for value 0, k=5, epsilon=1: OSError: no entropy"),
        ("audited_clients:wrong", "audited_clients:wrong returned 'seven' (str) for value 0"),
    ]

    def check(cell: tuple[str, str]) -> None:
        target, said = cell
        code, out, err = run("audit", "--target", target, "--reports", "grr", "--eps", "1", "--k", "5")
        assert (code, out) == (2, "")
        assert said in err
        assert len(err.splitlines()) == 1

    assert failures(cells, check) == {}


def test_bad_options_are_one_line_and_exit_2(run: Run) -> None:
    cells = [
        ("", "--k, --eps and --protocol are missing: give the domain size"),
        ("--all --eps 1", "--k is missing"),
        ("--all --k 5", "--eps is missing"),
        ("--lho 2 --all --k 5", "--eps is missing"),
        ("--eps 1 --k 5", "--protocol is missing: give what to audit: --protocol NAME, --all"),
        ("--all --eps 1 --k 1", "k must be a whole number of at least 2"),
        ("--all --eps 1 --k 2M", "k must be at most"),
        ("--all --eps 0 --k 5", "eps must be a number above 0"),
        ("--all --eps 1,x --k 5", "eps must be a number, got 'x'"),
        ("--all --eps 1 --k 5 --alpha 2", "alpha must be a number above 0 and below 1, got '2'"),
        ("--all --eps 1 --k 5 --attack best", "attack must be one of guess, pair"),
        ("--all --eps 1 --k 5 --attack both", "attack both needs --target"),
        ("--all --eps 1 --k 5 --trials 0", "trials must be a whole number of at least 1"),
        ("--all --eps 1 --k 5 --values 1,5", "two different ones of 0..4"),
        ("--all --eps 1 --k 5 --values 1", "values must be two different ones"),
        ("--protocol orr --eps 1 --k 5", "did you mean"),
        ("--all --protocol oue --eps 1 --k 5", "either --all or --protocol"),
        ("--all --eps 1 --k 5 --reports oue --symbols 3", "--reports, --symbols needs --target"),
        ("--all --eps 1 --k 5 --solution spl", "--solution needs --attributes"),
        ("--all --eps 1 --k 5 --attributes 2 --solution split", "solution must be one of spl, smp, rsfd"),
        ("--protocol olh --eps 1 --k 5 --attributes 2 --solution rsfd", "fake data for grr, rappor, oue only"),
        ("--all --eps 1 --k 5 --rounds 2 --attributes 2", "either --rounds or --attributes"),
        ("--all --eps 1 --k 5 --rounds 2 --attack pair", "--rounds does not go with --attack pair"),
        (
            "-p grr --eps 1 --k 5 --attributes 2 --solution rsfd --attack guess",
            "does not go with --solution rsfd, where",
        ),
        (
            "-p grr --eps 1 --k 5 --attributes 2 --attack guess",
            "--attack guess does not go with --solution rsfd, rsrfd",
        ),
        ("--all --eps 1 --k 5 --rounds 1e300", "rounds must be a whole number of at least 1 and at most 1,000,000"),
        ("--all --eps 1 --k 5 --attributes 1e300", "attributes must be a whole number of at least 2 and at most 1,000"),
        ("--all --eps 1 --k 1000000 --attributes 1000", "attributes times k must be at most 100,000,000"),
        ("--all --eps 1e-5 --k 5 --attributes 20", "eps / attributes must be at least 1e-06"),
        ("--k 5 --lho 1e300", "lho must be a whole number of at least 2 and at most 2,147,483,648"),
        ("--target a:b --eps 1 --k 5", "--reports PROTOCOL or --support"),
        ("--target a:b --all --jobs 2 --eps 1 --k 5 --reports oue", "--all, --jobs does not go with --target"),
        ("--target a:b --eps 1 --k 5 --reports oue --hash xxh32", "--hash is for reports of blh or olh"),
        ("--all --eps 1 --k 5 --format txt", "format must be one of table, plain, markdown, csv, json, value"),
    ]

    def check(cell: tuple[str, str]) -> None:
        asked, said = cell
        code, out, err = run("audit", *asked.split())
        assert (code, out) == (2, "")
        assert said in err
        assert len(err.splitlines()) == 1

    assert failures(cells, check) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "--all --eps 32 --k 2,30 --rounds 2,1000",
        "--all --eps 1e-6 --k 2,30 --rounds 2,1000",
        "--all --eps 1e-6,32 --k 2,1000",
        "-p grr -p oue -p rappor --eps 32 --k 4 --attributes 2,1000",
        "-p grr --eps 1 --k 4 --alpha 1e-300",
        "--lho 2,2147483648 --k 2,30",
    ],
)
@pytest.mark.filterwarnings("error")
def test_extremes_are_answered_without_a_warning_of_numpy(run: Run, words: str) -> None:
    code, out, err = run("audit", *words.split(), "--trials", "20", "--format", "json")
    assert (code, err) == (0, "")
    SCHEMA.validate(json.loads(out))
    assert not json.loads(out)["results"][0]["leaks"]
