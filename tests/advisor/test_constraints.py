from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from advisor import InputError, advise
from simulator import POSTPROCESSORS, PROTOCOLS, frequency_oracles
from simulator.domain import Attackers, Domain
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from tests.advisor.cli_answers import QUICK, SCHEMA
from tests.advisor.conftest import Run
from tests.cells import failures

COUNTS = apportion(frequencies("zipf", 30), 20_000)


@pytest.mark.parametrize("instant", [False, True])
def test_what_is_left_keeps_every_constraint(instant: bool) -> None:
    limits = {"max_bits": 29, "max_attack": 0.26, "server_cost": 400_000}
    quick = {} if instant else {"repetitions": 4, "max_repetitions": 4}
    advice = advise(1.0, sample_counts=COUNTS, proper=True, instant=instant, **limits, **quick)
    assert advice.recommendations
    for row in advice.recommendations:
        oracle, method = PROTOCOLS[row.protocol](30, 1.0), POSTPROCESSORS[row.method]
        assert row.report_bits <= 29
        assert row.attack_success <= 0.26
        assert oracle.server_operations(20_000) <= 400_000
        assert method.nonnegative
        assert method.sums_to_one
    removed = {removal.constraint: removal for removal in advice.request.removals}
    assert set(removed) == {"max-bits", "max-attack", "server-cost", "proper"}
    assert "oue" in removed["max-bits"].protocols
    assert "olh" in removed["server-cost"].protocols
    assert "none" in removed["proper"].methods
    menu = {row.protocol for row in advice.recommendations} | {name for r in removed.values() for name in r.protocols}
    assert menu == set(PROTOCOLS)


def test_unbiased_methods_are_and_others_are_not() -> None:
    """Mean of many estimates against the truth, with a z-bound that fails once in a million methods.

    The least of the biases is 10 standard errors here, and one of a quarter of the sd of an estimate would be seen.
    """
    oracle, n, repetitions = PROTOCOLS["oue"](8, 0.5), 400, 500
    counts = np.array([300, 60, 20, 10, 5, 5, 0, 0])
    rng = rng_for(0, "unbiased")
    raw = oracle.estimate(oracle.sample_support(np.broadcast_to(counts, (repetitions, 8)), rng), n)
    for name, method in POSTPROCESSORS.items():
        if method.queries_only or not method.accepts(oracle.noise(n), 8):
            continue
        result = method(raw, oracle.noise(n), Domain(attackers=Attackers(0.1, (0,))))
        z = (result.mean(axis=0) - counts / n) / (result.std(axis=0) / repetitions**0.5)
        assert (np.abs(z).max() < 5.5) == method.unbiased, name


def test_unbiased_leaves_raw_and_norm() -> None:
    advice = advise(1.0, sample_counts=COUNTS, unbiased=True, repetitions=4, max_repetitions=4)
    assert {row.method for row in advice.recommendations} == {"none", "norm"}


def test_nothing_left_is_said_and_is_no_error(run: Run, states: str) -> None:
    for extra in ((states,), ("--k", "40"), (states, "--instant")):
        code, out, _ = run("--eps", "1", "--proper", "--unbiased", *extra)
        assert code == 0
        assert out.startswith("Nothing is left to rank: --proper removed the methods none, ")
        assert "--unbiased removed the methods base_pos" in out
        for output_format in ("plain", "markdown"):
            code, text, _ = run("--eps", "1", "--proper", "--unbiased", *extra, "--format", output_format)
            assert code == 0
            assert "Nothing is left to rank" in text
        code, text, _ = run("--eps", "1", "--max-bits", "1", *extra, "--format", "json")
        data = json.loads(text)
        SCHEMA.validate(data)
        assert code == 0
        assert data["recommendations"] == []
        assert data["constraints"][0]["constraint"] == "max-bits"
        assert set(data["constraints"][0]["protocols"]) == set(frequency_oracles())
        assert run("--eps", "1", "--max-bits", "1", *extra, "--format", "value")[:2] == (0, "")
        code, text, _ = run("--eps", "1", "--max-bits", "1", *extra, "--format", "csv")
        assert (code, len(text.splitlines())) == (0, 1)


def test_constraints_that_bite_are_named_below_the_table(run: Run, states: str) -> None:
    _, out, _ = run("--eps", "1", *QUICK, "--max-bits", "3", "--max-attack", "0.99", states)
    assert "Constraint --max-bits 3 removed the protocols rappor, oue, blh, olh, the, she." in out
    assert "Constraint --max-attack 0.99 removed nothing." in out


def test_an_empty_advice_has_no_best() -> None:
    advice = advise(1.0, k=50, proper=True, unbiased=True)
    assert advice.recommendations == ()
    assert advice.ties == ()
    with pytest.raises(LookupError, match="Nothing is left to rank: --proper"):
        _ = advice.best
    assert len(advice.to_frame()) == 0
    assert "Nothing is left" in advice._repr_html_()


def test_for_an_estimate_constraints_on_methods_hold_now_and_those_on_protocols_in_the_next_round() -> None:
    estimate = np.array([0.6, 0.25, 0.2, -0.05, 0.02, -0.01])
    asked = {"estimate": estimate, "protocol": "oue", "n": 1000, "repetitions": 4, "ordered": False}
    advice = advise(1.0, **asked, proper=True, max_bits=4)
    assert {row.protocol for row in advice.recommendations} == {"oue"}
    assert advice.next_round is not None
    for row in (*advice.recommendations, *advice.next_round.recommendations):
        assert POSTPROCESSORS[row.method].sums_to_one
    assert all(row.report_bits <= 4 for row in advice.next_round.recommendations)
    alone = advise(1.0, **asked, max_bits=1)
    assert alone.recommendations
    assert alone.next_round is None
    assert advise(1.0, **asked, proper=True, unbiased=True).recommendations == ()


def test_bad_bounds_are_told() -> None:
    cells = [
        ({"max_bits": 0}, "max-bits must be a whole number of at least 1"),
        ({"max_attack": 1.5}, "max-attack must be a number above 0 and below 1, got 1.5"),
        ({"server_cost": 0.5}, "server-cost must be a whole number"),
    ]

    def check(cell: tuple[dict[str, float], str]) -> None:
        limits, said = cell
        with pytest.raises(InputError, match=said):
            advise(1.0, sample_counts=COUNTS, **limits)  # type: ignore[arg-type]

    assert failures(cells, check) == {}


def test_output_files_are_written_for_nothing_too(run: Run, states: str, tmp_path: Path) -> None:
    target = tmp_path / "answer.json"
    assert run("--eps", "1", "--max-bits", "1", states, "-o", target)[0] == 0
    assert json.loads(target.read_text(encoding="utf-8"))["recommendations"] == []


def test_nothing_left_draws_no_picture_and_the_page_says_so(run: Run, tmp_path: Path) -> None:
    picture, page = tmp_path / "empty.png", tmp_path / "empty.html"
    code, out, err = run("--eps", "1", "--k", "64", "--max-bits", "3", "--plot", picture, "--report", page)
    assert code == 0
    assert out.startswith("Nothing is left to rank")
    assert "nothing to show" in err
    assert not picture.exists()
    assert "Nothing is left to rank" in page.read_text(encoding="utf-8")


def test_what_leaves_nothing_says_which_bound_keeps_a_protocol(run: Run, states: str) -> None:
    for words in ("--max-bits 1", "--max-attack 0.01", "--server-cost 1"):
        out = run("--eps", "1", *words.split(), "-p", "oue,grr", *QUICK, states)[1]
        assert out.startswith("Nothing is left")
        (enough,) = re.findall(r"\((--[a-z-]+ [\d.]+) keeps one\)", out)
        assert not run("--eps", "1", *enough.split(), "-p", "oue,grr", *QUICK, states)[1].startswith("Nothing is left")
