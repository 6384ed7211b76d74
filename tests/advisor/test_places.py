import json
from pathlib import Path

import numpy as np
import pytest

from advisor.extensions.places.answer import answer_places
from advisor.extensions.places.question import CHANNEL_METHODS, Ground, PlacesMenu, PlacesQuestion, places_request
from advisor.question.question import Question
from advisor.question.sample import simulated_frequencies
from advisor.question.settings import Cells, Columns, Simulation, Terms
from simulator import METRICS, POSTPROCESSORS
from simulator.channels import krr, optimal, planar_geometric
from simulator.methods import observe
from simulator.places import Places
from simulator.seeding import rng_for
from tests.advisor.cli_answers import answered, refused
from tests.advisor.inputs.reading import put

PLAIN = ["places", "--eps", "2", "--grid", "5x6", "--columns", "row,col"]
METRIC = [*PLAIN, "--privacy", "metric", "--radius", "2", "-m", "l1"]  # the usual metric takes most of the time
QUICK = ["--reps", "4", "--max-reps", "4", "-q"]


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    row, column = np.mgrid[:5, :6]
    counts = 4000 * np.exp(-((row - 1) ** 2) - (column - 1) ** 2) + 2000 * np.exp(-((row - 3) ** 2) - (column - 4) ** 2)
    lines = [f"{r},{c},{counts[r, c]:.0f}" for r in range(5) for c in range(6)]
    path = tmp_path_factory.mktemp("town") / "town.csv"
    path.write_text("row,col,count\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_all_channels_keep_the_same_promise_and_their_figures_are_their_own(run, town):
    answer = answered(run, *METRIC, *QUICK, town)
    rows = answer["recommendations"]
    few = answered(run, *METRIC, *QUICK, "-p", "planar-geometric", "--method", "ibu,none", town)["recommendations"]
    assert len(few) == 2
    assert {row["error"] for row in few} <= {row["error"] for row in rows}  # whatever the menu
    assert {row["protocol"] for row in rows} == {"krr", "planar_geometric", "planar_laplace"}
    assert {row["method"] for row in rows} == {*CHANNEL_METHODS}
    assert all(row["epsilon_within_radius"] <= 2 * (1 + 1e-9) for row in rows)
    counts = np.array([int(line.split(",")[2]) for line in Path(town).read_text().splitlines()[1:]])
    places = Places(5, 6)
    for channel in (krr(30, 2.0), planar_geometric(places, 1.0)):
        row = next(row for row in rows if row["protocol"] == channel.key)
        moved = channel.expected_distance(counts / counts.sum(), places.distances())
        assert row["expected_distance"] == pytest.approx(moved, rel=1e-12)
        assert row["epsilon_any_two"] == pytest.approx(channel.epsilon, rel=1e-12)
        guesses = [
            max(share * row[report] for share, row in zip(counts, channel.matrix, strict=True)) for report in range(30)
        ]
        assert row["attack_success"] == pytest.approx(sum(guesses) / counts.sum(), rel=1e-9)  # who knows the sample
    assert rows[0]["ratio_low"] <= 1 or rows[0]["ratio_to_best"] < 1.05
    assert set(answer["ibu"]) == {"krr", "planar_geometric", "planar_laplace"}
    assert all(gap <= 1e-4 for fits in answer["ibu"].values() for gap in fits["gap"])


def test_the_answer_depends_on_the_seed_only(run, town):
    words = (*METRIC, *QUICK, "-p", "krr,planar-geometric", "--method", "none", "--format", "csv", town, "--seed")
    one, again, other = (run(*words, seed)[1] for seed in ("3", "3", "4"))
    assert one == again != other


@pytest.mark.slow
def test_the_error_of_the_named_pair_is_that_of_its_repetitions_one_by_one(town):
    question = PlacesQuestion(
        sample=town,
        terms=Terms(epsilon=2.0, n=2000),
        cells=Cells(grid="5x6"),
        ground=Ground(columns="row,col"),
        simulation=Simulation(repetitions=5, max_repetitions=5),
    )
    request = places_request(question)
    advice = answer_places(request)
    best = advice.best("emd")
    protocol, metric = request.oracle(best.protocol), METRICS["emd"].with_options(ground=request.ground)
    by_hand = []
    for repetition in range(5):
        rng = rng_for(question.simulation.seed, "collect", best.protocol, repetition)
        observed = observe(protocol, protocol.sample_tally(request.counts, rng), request.domain)
        by_hand.append(float(metric(POSTPROCESSORS[best.method].apply(observed), request.truth)))
    assert best.error == pytest.approx(np.mean(by_hand), rel=1e-9)


def test_noise_that_falls_with_distance_beats_randomised_response_on_a_map_wider_than_the_radius(town):
    question = PlacesQuestion(
        sample=town,
        terms=Terms(epsilon=2.0, n=2000),
        cells=Cells(grid="5x6", radius=1.0),
        ground=Ground(columns="row,col", privacy="metric"),
        places_menu=PlacesMenu(method=("ibu",)),
        simulation=Simulation(repetitions=20),
    )
    advice = answer_places(places_request(question))
    rows = {row.protocol: row for row in advice.rankings["emd"].recommendations}
    assert rows["planar_geometric"].error_high < rows["krr"].error_low  # two 95 % intervals that do not meet


def test_pairs_that_cannot_be_told_apart_are_raced(run, town):
    asked = "--privacy metric --radius 8 -q --reps 4 --n 3000 -m l2 --method norm_mul,ibu"
    words = [*PLAIN, *asked.split(), town]
    answer = answered(run, *words, "--max-reps", "32")
    rows = answer["recommendations"]
    first = [row for row in rows if row["tier"] == 1]
    assert answer["repetitions"] == first[0]["repetitions"] == max(row["repetitions"] for row in rows) > 4
    settled = [row["ratio_low"] > 1.05 or row["ratio_low"] > 1 or row["ratio_high"] <= 1.05 for row in rows[1:]]
    assert answer["repetitions"] == 32 or all(settled)
    assert any(row["repetitions"] < answer["repetitions"] for row in rows)  # who is beaten stays behind
    assert answered(run, *words, "--max-reps", "4")["repetitions"] == 4
    assert answered(run, *words, "--max-reps", "32", "--jobs", "2")["recommendations"] == rows


def test_an_own_channel_competes_if_it_keeps_the_promise_and_a_singular_one_has_ibu_alone(run, town, tmp_path):
    def own(matrix, *words):
        np.save(tmp_path / "own.npy", matrix)
        return run(
            *METRIC, *QUICK[:-1], "-p", "krr", "--channel", tmp_path / "own.npy", town, *words, "--format", "json"
        )

    within = json.loads(own(planar_geometric(Places(5, 6), 0.9).matrix, "--method", "norm_sub,none")[1])
    row = next(row for row in within["recommendations"] if row["protocol"] == "channel")
    assert row["epsilon_per_unit"] == pytest.approx(0.9, rel=1e-9)
    assert row["epsilon_within_radius"] == pytest.approx(1.8, rel=1e-9)
    code, _, err = own(planar_geometric(Places(5, 6), 1.1).matrix)
    assert code == 2
    assert "leaks more than is promised: its largest log-ratio for places at most 2 cells apart is 2.2" in err
    code, out, err = own(np.full((30, 30), 1 / 30))
    assert code == 0
    assert "channel without matrix inversion" in err
    assert {row["method"] for row in json.loads(out)["recommendations"] if row["protocol"] == "channel"} == {"ibu"}


def test_a_line_of_numbers_needs_no_grid(run, ages):
    answer = answered(run, "places", "--privacy", "metric", "--radius", "3", "--eps", "2", *QUICK, ages)
    assert (answer["places"]["rows"], answer["unit"]) == (1, "steps")
    assert {row["method"] for row in answer["recommendations"]} == {*CHANNEL_METHODS}


def test_a_radius_within_one_cell_is_warned_of(run, town):
    few = (*QUICK, "-p", "krr", "--method", "norm_sub", town)
    short = run(*PLAIN, "--privacy", "metric", "--radius", "0.5", *few)[2]
    assert "two people on the two sides of a border are told apart as at ε = 4" in short
    assert "border" not in run(*METRIC, *few)[2]


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    at = rng_for(0, "visits").normal([[300, 200]] * 700 + [[900, 700]] * 300, 90.0)
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    np.savetxt(path, at, fmt="%.2f", delimiter=",", header="x,y", comments="")
    return str(path)


CURVE = ["places", "--grid", "3x3", "--privacy", "metric", "--radius", "400", "--eps", "2", "--method", "ibu", *QUICK]


def test_a_grid_is_cut_from_coordinates_and_metrics_of_maps_are_measured(run, visits):
    answer = answered(run, *CURVE, visits, "-p", "krr,planar-laplace", "-m", "tv,hotspots:2,rectangles")
    assert (answer["places"]["rows"], answer["places"]["unit"], answer["request"]["n"]) == (3, "units", 1000)
    assert answer["request"]["metrics"] == ["tv", "hotspots", "range"]
    halves = answered(run, *CURVE, visits, "-p", "krr,planar-laplace", "-m", "l1")["recommendations"]
    assert [row["error"] for row in answer["recommendations"]] == pytest.approx([row["error"] / 2 for row in halves])


def test_the_curve_is_that_of_the_channels_and_cloaking_keeps_nothing(run, visits, tmp_path):
    names = ["krr", "planar-geometric", "optimal", "optimal-uniform"]
    np.save(tmp_path / "own.npy", krr(9, 1.0).matrix)
    own = ("--channel", tmp_path / "own.npy")
    answer = answered(run, *CURVE, visits, *own, "-p", ",".join(names), "-m", "l1", "--curve", "1,3")
    curve = {(row["mechanism"], row["epsilon"]): row for row in answer["curve"]}
    assert len(curve) == len(answer["curve"]) == 4 * 2 + 1  # and the own one; no block is smaller
    read = places_request(
        PlacesQuestion(
            sample=visits,
            terms=Terms(epsilon=2.0),
            cells=Cells(grid="3x3", radius=400.0),
            ground=Ground(privacy="metric"),
        )
    )
    truth, distances = read.truth, read.ground.distances()
    for key, channel in (
        (("krr", 3), krr(9, 3.0)),
        (("channel", None), krr(9, 1.0)),
        (("planar_geometric", 1), planar_geometric(read.ground, 1 / 400)),
        (("optimal_uniform", 3), optimal(distances, 3 / 400, np.full(9, 1 / 9))),
    ):
        assert curve[key]["expected_distance"] == pytest.approx(channel.expected_distance(truth, distances))
        assert curve[key]["adversary_error"] == pytest.approx(channel.adversary_error(truth, distances))
    larger = [*CURVE, visits, "-p", "krr", "-m", "l1", "--curve", "1"]
    larger[larger.index("3x3")] = "4x4"
    block = answered(run, *larger)["curve"][-1]
    assert (block["mechanism"], block["epsilon_any_two"]) == ("cloaking 3x3", None)
    # Nine cells report the fifth, and the rest are cut to 1 x 3, 3 x 1 and 1 x 1.
    assert block["expected_distance"] > block["adversary_error"] > 0
    for (name, epsilon), row in curve.items():
        assert row["adversary_error"] <= row["expected_distance"] * (1 + 1e-12)
        if name == "optimal":
            assert row["expected_distance"] <= curve["planar_geometric", epsilon]["expected_distance"]
            assert row["adversary_error"] == pytest.approx(row["expected_distance"], rel=1e-3)
    row = next(row for row in answer["recommendations"] if row["protocol"] == "optimal")
    assert row["epsilon_within_radius"] <= 2 * (1 + 1e-9)
    assert any("they must be public" in warning for warning in answer["warnings"])
    large = [[word.replace("3x3", size) for word in CURVE] for size in ("40x40", "11x11")]
    assert "--curve takes at most 1,500 cells" in run(*large[0], visits, "--curve", "1")[2]
    assert "optimal takes at most 100 places" in run(*large[1], visits, "-p", "optimal")[2]


def test_coordinates_in_a_sample_lead_to_places(run, tmp_path):
    lines = [f"{13 + at % 7 / 100},{52 + at % 5 / 200},{at % 3}" for at in range(900)]
    path = put(tmp_path, "my places.csv", "lon,lat,visits\n" + "\n".join(lines))
    said = f"say ldp-advise places '{path}' --eps 1, for values name one with --column"
    assert said in refused(run, "--eps", "1", path)
    for cells, ground in ((Cells(), Ground()), (Cells(radius=1.0), Ground(privacy="metric"))):
        read = places_request(PlacesQuestion(sample=path, terms=Terms(epsilon=1.0), cells=cells, ground=ground))
        assert any("cells of 0.2 km around latitude 52.010" in note for note in read.assumptions)
    assert simulated_frequencies(Question(sample=path, columns=Columns(column=("lon",)))).k == 7
