import json
import math

import jsonschema
import numpy as np
import pytest

from advisor import AttackSettings, Memoisation, Subjects, audit, memoise
from advisor.extensions.rounds.answer import CLOSE, SAME_TOTAL
from simulator import PROTOCOLS
from simulator.memoisation import MEMOISED
from simulator.seeding import rng_for
from tests.advisor.cli_answers import csv_rows
from tests.advisor.schemas import schema
from tests.advisor.test_cli_audit import SCHEMA as AUDIT_SCHEMA
from tests.simulator.memoised_law import replay_rounds, values_of

SCHEMA = schema("rounds")
ASKED = ("rounds", "--eps", "1", "--eps-forever", "2", "--rounds", "30")
SHARES = np.array([0.4, 0.3, 0.2, 0.1])
COUNTS = [40_000, 30_000, 20_000, 10_000]


def test_csv_and_a_value_are_those_of_json_which_keeps_to_its_schema(run):
    data = json.loads(run(*ASKED, "--k", "16", "--format", "json")[1])
    rows = csv_rows(run(*ASKED, "--k", "16", "--format", "csv")[1])
    assert [row["protocol"] for row in rows] == [row["protocol"] for row in data["approaches"]]
    assert {row["noise"] for row in rows} == {"memoised", "fresh, same round", "fresh, same total"}
    assert run(*ASKED, "--k", "16", "--format", "value")[1] == f"memoised {data['protocol']}\n"
    one_round = json.loads(run(*ASKED[:-1], "1", "--k", "2", "--format", "json")[1])
    refused = json.loads(run(*ASKED, "--k", "16", "--changes", "2", "--format", "json")[1])
    assert "error" in refused
    for made in (data, one_round, refused):
        SCHEMA.validate(made)
        with pytest.raises(jsonschema.ValidationError):
            SCHEMA.validate(made | {"schema_version": 0})


def test_the_command_for_a_round_ranks_the_post_processing_of_its_protocol(run):
    (line,) = [one for one in run(*ASKED, "--k", "16", "--format", "plain")[1].splitlines() if "post-processing" in one]
    ranking = json.loads(run(*line.partition(": ")[2].split()[1:], "--instant", "--format", "json")[1])
    assert (ranking["request"]["k"], ranking["request"]["n"]) == (16, 100_000)
    assert {row["protocol"] for row in ranking["recommendations"]} == {line.split("--protocol ")[1].split()[0]}


@pytest.mark.parametrize("replays", [60, pytest.param(400, marks=pytest.mark.slow)])
def test_errors_are_those_of_devices_that_report_round_by_round(replays):
    """The average of 6 rounds, replayed with values that change; 5 standard errors, of an eighth of the sd or less."""
    answer = memoise(1, epsilon_forever=2, rounds=6, changes=0.2, sample_counts=COUNTS, n=500)
    for row in answer.memoised:
        if row.protocol == "dbitflip":
            continue
        member, rng = MEMOISED[row.protocol](4, 2.0, 1.0), rng_for(0, "memoise", row.protocol)
        errors = []
        for _ in range(replays):
            values = values_of(answer.question.changes, 500, rng)
            truth = np.eye(4)[values].mean(axis=(0, 1))
            estimate = member.estimate(replay_rounds(member, values, 1, rng)[0], 500).mean(axis=0)
            errors.append(np.abs(estimate - truth).mean())
        assert abs(np.mean(errors) - row.error_average) < 5 * np.std(errors) / math.sqrt(replays)


def test_a_round_has_the_error_of_the_one_shot_protocol():
    answer = memoise(1, epsilon_forever=2, rounds=6, sample_counts=COUNTS)
    for row in answer.memoised:
        if row.protocol in ("grr", "oue", "rappor", "blh"):
            sd = np.sqrt(PROTOCOLS[row.protocol](4, 1.0).variance(SHARES, 100_000))
            assert row.error_round == pytest.approx(math.sqrt(2 / math.pi) * sd.mean(), rel=1e-9)


def test_what_is_spent_is_memos_times_the_permanent_budget_and_fresh_noise_adds_up():
    answer = memoise(1, epsilon_forever=2, rounds=30, changes=0.1, sample_counts=COUNTS)
    most = {"grr": 4, "oue": 4, "rappor": 4, "blh": 2, "olh": 4, "dbitflip": 1}
    for row in answer.memoised:
        assert row.spent_most == 2 * most[row.protocol]
        assert row.epsilon_round <= row.spent_mean <= row.spent_most
        assert row.epsilon_round <= row.revealed <= 2 + 1e-9
    held = 1 - (1 - SHARES) * (1 - answer.question.changes.redraw * SHARES) ** 29
    assert next(row for row in answer.memoised if row.protocol == "oue").spent_mean == pytest.approx(2 * held.sum())
    assert (answer.same_round.spent_mean, answer.same_round.revealed) == (30, 30)
    assert answer.same_round.error_average == pytest.approx(answer.same_round.error_round / math.sqrt(30))
    lowest = min(row.error_round for row in answer.memoised)
    assert answer.memory.error_round <= CLOSE * lowest
    total = next(row for row in answer.fresh if row.noise == SAME_TOTAL)
    assert total.spent_mean == pytest.approx(answer.memory.spent_mean)
    assert total.epsilon_round * 30 == pytest.approx(total.spent_mean)
    kept = memoise(1, epsilon_forever=2, rounds=30, changes=0, sample_counts=COUNTS)
    assert {row.spent_most for row in kept.memoised if row.protocol != "dbitflip"} == {2}  # one memo is all there is


def test_few_rounds_and_values_that_change_all_the_time_want_fresh_noise():
    assert not memoise(1, epsilon_forever=2, rounds=2, changes=0, k=8).memoise  # the same spending, a larger error
    assert memoise(1, epsilon_forever=2, rounds=3, changes=0, k=8).memoise


# Audits

AUDIT = ("audit", "--k", "10", "--eps", "1", "--trials", "5000")


def test_audits_of_devices_that_remember_stop_at_the_permanent_budget(run):
    words = (*AUDIT, "--all", "--memoize", "--eps-forever", "2", "--rounds", "1,10,100")
    code, out, _ = run(*words, "--format", "json")
    assert code == 0
    data = json.loads(out)
    AUDIT_SCHEMA.validate(data)
    pairs, bits = data["results"][:-3], data["results"][-3:]
    assert [row["protocol"] for row in pairs] == [name for name in MEMOISED for _ in range(6)]
    # Repeated bits have no second step, and no fresh noise to compare with.
    assert {(row["protocol"], row["epsilon_guaranteed"], row["agrees"]) for row in bits} == {("dbitflip", 1, True)}
    for memoised, fresh in zip(pairs[::2], pairs[1::2], strict=True):
        assert memoised["epsilon_guaranteed"] == (1 if memoised["rounds"] == 1 else memoised["epsilon_forever"])
        assert memoised["epsilon_lower_bound"] <= 2
        assert fresh["epsilon_forever"] is None
        assert fresh["epsilon_guaranteed"] == fresh["rounds"] == memoised["rounds"]
        assert memoised["agrees"]
        assert fresh["agrees"]
    found = audit(
        1,
        k=10,
        protocol="olh",
        subjects=Subjects(rounds=100),
        memoisation=Memoisation(memoize=True, epsilon_forever=2),
        attack=AttackSettings(trials=20_000),
    )
    assert 1.5 < found.results[0].epsilon_lower_bound < 2
    assert found.results[1].epsilon_lower_bound > 5
