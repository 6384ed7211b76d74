"""Questions about places on the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from advisor.extensions.places.answer import answer_places
from advisor.extensions.places.question import Ground, PlacesMenu, PlacesQuestion, Promise
from advisor.extensions.places.reading import places_request
from advisor.names import method_text
from advisor.question.settings import Simulation, Terms
from simulator import METRICS, POSTPROCESSORS
from simulator.channels import krr, planar_geometric
from simulator.methods import observe
from simulator.places import Places
from simulator.seeding import rng_for
from tests.advisor.conftest import Run
from tests.advisor.schemas import schema

METRIC = ["places", "--privacy", "metric", "--radius", "2", "--eps", "2", "--grid", "5x6", "--columns", "row,col"]
SCHEMA = schema("advice")
QUICK = ["--reps", "4", "--max-reps", "4", "-q"]


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two centres on a 5 x 6 grid."""
    row, column = np.mgrid[:5, :6]
    counts = 4000 * np.exp(-((row - 1) ** 2) - (column - 1) ** 2) + 2000 * np.exp(-((row - 3) ** 2) - (column - 4) ** 2)
    lines = [f"{r},{c},{counts[r, c]:.0f}" for r in range(5) for c in range(6)]
    path = tmp_path_factory.mktemp("town") / "town.csv"
    path.write_text("row,col,count\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def answered(run: Run, *arguments: str) -> dict[str, object]:
    code, out, err = run(*arguments, "--format", "json")
    assert code == 0, err
    answer: dict[str, object] = json.loads(out)
    SCHEMA.validate(answer)
    return answer


WHOLE: dict[str, dict[str, object]] = {}


def whole_answer(run: Run, town: str) -> dict[str, object]:
    """Return the answer with all channels and methods, which is simulated once."""
    if town not in WHOLE:
        WHOLE[town] = answered(run, *METRIC, *QUICK, town)
    return WHOLE[town]


def test_all_channels_keep_the_same_promise_and_their_figures_are_their_own(run: Run, town: str) -> None:
    answer = whole_answer(run, town)
    rows = answer["recommendations"]
    assert {row["protocol"] for row in rows} == {"krr", "planar_geometric", "planar_laplace"}
    assert all(row["epsilon_within_radius"] <= 2 * (1 + 1e-9) for row in rows)
    counts = np.array([int(line.split(",")[2]) for line in Path(town).read_text().splitlines()[1:]])
    places = Places(5, 6)
    for channel in (krr(30, 2.0), planar_geometric(places, 1.0)):
        row = next(row for row in rows if row["protocol"] == channel.key)
        moved = channel.expected_distance(counts / counts.sum(), places.distances())
        assert row["expected_distance"] == pytest.approx(moved, rel=1e-12)
        assert row["epsilon_any_two"] == pytest.approx(channel.epsilon, rel=1e-12)
    assert rows[0]["ratio_low"] <= 1 or rows[0]["ratio_to_best"] < 1.05
    assert set(answer["ibu"]) == {"krr", "planar_geometric", "planar_laplace"}
    assert all(gap <= 1e-4 for fits in answer["ibu"].values() for gap in fits["gap"])
    words = " ".join(answer["promise"])
    assert "not ε-local differential privacy" in words
    assert "Not protected" in words


@pytest.mark.slow
def test_every_format_holds_the_best_pair(run: Run, town: str) -> None:
    first = answered(run, *METRIC, *QUICK, town)["recommendations"][0]
    pair = f"{first['protocol']} {first['method']}"
    code, value, _ = run(*METRIC, *QUICK, "--format", "value", town)
    assert (code, value) == (0, pair + "\n")
    rows = list(csv.DictReader(io.StringIO(run(*METRIC, *QUICK, "--format", "csv", town)[1])))
    assert f"{rows[0]['protocol']} {rows[0]['method']}" == pair
    assert float(rows[0]["error"]) == first["error"]
    assert rows[0]["radius"] == "2.0"
    for form in ("table", "plain", "markdown"):
        code, out, _ = run(*METRIC, "--reps", "4", "--format", form, town)
        assert code == 0
        assert f"Use {first['protocol']} (truncated planar" in out
        assert f" with {method_text(first['method'])}." in out
        assert "Promise: within 2 cells" in out
        assert "krr" in out


def test_the_answer_depends_on_the_seed_only(run: Run, town: str) -> None:
    words = (*METRIC, *QUICK, "-p", "krr,planar-geometric", "--method", "none", "--format", "csv", town, "--seed")
    one, again, other = (run(*words, seed)[1] for seed in ("3", "3", "4"))
    assert one == again != other


def test_methods_of_one_channel_do_not_change_with_the_menu(run: Run, town: str) -> None:
    whole = whole_answer(run, town)["recommendations"]
    few = answered(run, *METRIC, *QUICK, "-p", "planar-geometric", "--method", "ibu,none", town)["recommendations"]
    assert len(few) == 2
    assert few[1]["error"] in [row["error"] for row in whole]


@pytest.mark.slow
def test_the_error_of_the_named_pair_is_that_of_its_repetitions_one_by_one(town: str) -> None:
    question = PlacesQuestion(
        sample=town,
        terms=Terms(epsilon=2.0, n=2000),
        ground=Ground(grid="5x6", columns="row,col"),
        simulation=Simulation(repetitions=5, max_repetitions=5),
    )
    request = places_request(question)
    advice = answer_places(request)
    best = advice.best("emd")
    mechanism, metric = advice.mechanisms[best.pair[0]], METRICS["emd"].with_options(ground=request.places)
    by_hand = []
    for repetition in range(5):
        rng = rng_for(question.simulation.seed, "collect", best.pair[0], repetition)
        observed = observe(mechanism.protocol, mechanism.protocol.sample_tally(request.counts, rng), request.domain)
        by_hand.append(float(metric(POSTPROCESSORS[best.pair[1]].apply(observed), request.truth)))
    assert best.error == pytest.approx(np.mean(by_hand), rel=1e-9)


@pytest.mark.slow
def test_plain_privacy_on_a_grid_ranks_all_protocols_with_emd_on_the_ground(run: Run, town: str) -> None:
    answer = answered(
        run, "places", "--eps", "2", "--grid", "5x6", "--columns", "row,col", *QUICK, "-m", "emd", "-m", "l1", town
    )
    rows = answer["recommendations"]
    assert {"grr", "oue", "olh"} <= {row["protocol"] for row in rows}
    assert "wavelet_eb" in {row["method"] for row in rows}
    assert all((row["expected_distance"] is None) == (row["protocol"] != "grr") for row in rows)
    assert answer["unit"] == "cells"
    assert answer["further_metrics"][0]["metric"] == "l1"
    assert 0 < answer["emd_relative_error"] < 0.03


@pytest.mark.slow
def test_why_the_first_of_a_tier_is_the_first(run: Run, town: str) -> None:
    asked = ("places", "--eps", "2", "--grid", "5x6", "--columns", "row,col", *QUICK, town)
    reasons = set()
    for menu in ((), ("-p", "grr", "-p", "oue"), ("-p", "oue"), ("-p", "oue", "-p", "olh")):
        answer = answered(run, *asked, *(menu or ()))
        tier = [row for row in answer["recommendations"] if row["tier"] == 1]
        summary = answer["summary"]
        if len(tier) == 1:
            assert "no other pair comes within 5 % of it" in summary
            continue
        reason = summary.partition("listed first because ")[2]
        reasons.add(reason)
        assert f"{len(tier) - 1} other pair" in summary
        assert ("it has the lowest error" in reason) == (
            tier[0]["ratio_to_best"] == min(row["ratio_to_best"] for row in tier)
        )
        assert ("is the shortest" in reason or "no report is shorter" in reason) or len(
            {row["report_bits"] for row in tier}
        ) == 1
    assert reasons


@pytest.mark.slow
def test_constraints_are_kept_and_what_they_remove_is_said(run: Run, town: str) -> None:
    asked = ("places", "--eps", "2", "--grid", "5x6", "--columns", "row,col", *QUICK, town)
    answer = answered(run, *asked, "--max-bits", "10", "--max-attack", "0.15", "--proper")
    for row in answer["recommendations"]:
        assert row["report_bits"] <= 10
        assert row["attack_success"] <= 0.15
        assert POSTPROCESSORS[row["method"]].nonnegative
        assert POSTPROCESSORS[row["method"]].sums_to_one
    removed = {one["constraint"]: one for one in answer["constraints"]}
    assert "oue" in removed["max-bits"]["protocols"]
    assert "grr" in removed["max-attack"]["protocols"]
    assert "none" in removed["proper"]["methods"]
    assert "post_pos" not in removed["proper"]["methods"]  # it is for queries, and not on this menu
    channels = answered(run, *METRIC, *QUICK, "--proper", town)["recommendations"]
    assert "ibu" in {row["method"] for row in channels}
    assert "none" not in {row["method"] for row in channels}
    _, out, _ = run(*asked[:7], "--reps", "4", "--max-bits", "9", town)
    assert "Constraint --max-bits 9 removed the protocols rappor, oue" in out
    code, out, err = run(*asked, "--max-bits", "1")
    assert (code, out) == (2, "")
    assert "nothing is left to rank: Constraint --max-bits 1 removed the protocols" in err


def test_a_line_of_numbers_needs_no_grid(run: Run, ages: str) -> None:
    answer = answered(run, "places", "--privacy", "metric", "--radius", "3", "--eps", "2", *QUICK, ages)
    assert answer["places"]["rows"] == 1
    assert answer["unit"] == "steps"


def test_an_own_channel_competes_if_it_keeps_the_promise(run: Run, town: str, tmp_path: Path) -> None:
    matrix = planar_geometric(Places(5, 6), 0.9).matrix
    path = tmp_path / "own.csv"
    np.savetxt(path, matrix, delimiter=",", fmt="%.17g")
    few = ("-p", "krr", "--method", "norm_sub,none")
    rows = answered(run, *METRIC, *QUICK, *few, "--channel", str(path), town)["recommendations"]
    own = next(row for row in rows if row["protocol"] == "channel")
    assert own["epsilon_per_unit"] == pytest.approx(0.9, rel=1e-9)
    assert own["epsilon_within_radius"] == pytest.approx(1.8, rel=1e-9)
    np.savetxt(path, planar_geometric(Places(5, 6), 1.1).matrix, delimiter=",", fmt="%.17g")
    code, _, err = run(*METRIC, *QUICK, "--channel", str(path), town)
    assert code == 2
    assert "leaks more than is promised: its largest log-ratio for places at most 2 cells apart is 2.2" in err


def test_a_singular_channel_is_left_to_ibu_with_a_warning(run: Run, town: str, tmp_path: Path) -> None:
    path = tmp_path / "blind.npy"
    np.save(path, np.full((30, 30), 1 / 30))
    code, out, err = run(*METRIC, *QUICK[:-1], "-p", "krr", "--channel", str(path), "--format", "json", town)
    assert code == 0
    assert "channel without matrix inversion" in err
    assert {row["method"] for row in json.loads(out)["recommendations"] if row["protocol"] == "channel"} == {"ibu"}


@pytest.mark.parametrize(
    ("picture", "begin", "with_page"),
    [("map.svg", b"<?xml", False), pytest.param("map.png", b"\x89PNG", True, marks=pytest.mark.slow)],
)
def test_a_page_and_heat_maps_are_written_and_never_over_a_file(
    run: Run, town: str, tmp_path: Path, picture: str, begin: bytes, *, with_page: bool
) -> None:
    pytest.importorskip("matplotlib")
    page, words = tmp_path / "page.html", (*METRIC, *QUICK, "-p", "krr", "--method", "norm_sub,ibu", town)
    plot = ("--plot", str(tmp_path / picture))
    assert run(*words, *plot, *(("--report", str(page)) if with_page else ()))[0] == 0
    assert (tmp_path / picture).read_bytes().startswith(begin)
    code, _, err = run(*words, *plot)
    assert code == 2
    assert "--force" in err
    if with_page:
        text = page.read_text(encoding="utf-8")
        assert "<svg" in text
        assert "Promise: within 2 cells" in text


def test_noise_that_falls_with_distance_beats_randomised_response_on_a_map_wider_than_the_radius(town: str) -> None:
    question = PlacesQuestion(
        sample=town,
        terms=Terms(epsilon=2.0, n=2000),
        ground=Ground(grid="5x6", columns="row,col"),
        privacy=Promise(privacy="metric", radius=1.0),
        places_menu=PlacesMenu(method=("ibu",)),
        simulation=Simulation(repetitions=20),
    )
    advice = answer_places(places_request(question))
    rows = {row.pair[0]: row for row in advice.rankings["emd"]}
    assert rows["planar_geometric"].high < rows["krr"].low  # two 95 % intervals that do not meet


def test_a_radius_within_one_cell_is_warned_of(run: Run, town: str) -> None:
    short = [*METRIC[:3], "--radius", "0.5", *METRIC[5:], *QUICK, "-p", "krr", "--method", "norm_sub", town]
    _, _, err = run(*short)
    assert "two people on the two sides of a border are told apart as at ε = 4" in err
    _, _, err = run(*METRIC, *QUICK, "-p", "krr", "--method", "norm_sub", town)
    assert "border" not in err


def test_pairs_that_cannot_be_told_apart_are_raced(run: Run, town: str) -> None:
    wide = ["8" if before == "--radius" else word for before, word in zip(["", *METRIC], METRIC, strict=False)]
    words = [*wide, "-q", "--reps", "4", "--n", "3000", "-m", "l2", "--method", "norm_mul,ibu", town]
    answer = answered(run, *words, "--max-reps", "32")
    rows = answer["recommendations"]
    first = [row for row in rows if row["tier"] == 1]
    assert answer["repetitions"] == first[0]["repetitions"] == max(row["repetitions"] for row in rows) > 4
    settled = [row["ratio_low"] > 1.05 or row["ratio_low"] > 1 or row["ratio_high"] <= 1.05 for row in rows[1:]]
    assert answer["repetitions"] == 32 or all(settled)
    assert any(row["repetitions"] < answer["repetitions"] for row in rows)  # who is beaten stays behind
    assert answered(run, *words, "--max-reps", "4")["repetitions"] == 4
    assert answered(run, *words, "--max-reps", "32", "--jobs", "2")["recommendations"] == rows
    code, _, err = run(*words, "--max-reps", "3")
    assert code == 2
    assert "max-reps must be at least reps" in err
