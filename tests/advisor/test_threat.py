import csv

import pytest

from advisor import Simulation, Threat, advise
from simulator import POSTPROCESSORS
from simulator.populations import apportion, frequencies

COUNTS = apportion(frequencies("zipf", 40), 20_000)
ASKED = {"sample_counts": COUNTS, "protocol": "oue", "simulation": Simulation(repetitions=4, max_repetitions=4)}


@pytest.fixture(scope="module")
def feared():
    return advise(1.0, **ASKED, threat=0.1)


def test_remedies_are_ranked_with_a_threat_only_and_lower_the_error_under_the_attack(feared):
    plain = advise(1.0, **ASKED)
    remedies = {name for name, method in POSTPROCESSORS.items() if method.is_remedy}
    assert not remedies & {row.method for row in plain.recommendations}
    assert plain.defence is None
    ranked = {row.method: row for row in feared.recommendations}
    assert remedies & ranked.keys() == {"norm_min", "recover", "drop_fakes"}
    assert feared.best.method == "drop_fakes"
    assert ranked["drop_fakes"].error < 0.3 * ranked["norm_sub"].error
    # Sun et al. spread what they take off over all positive estimates, and four targets are few of those.
    assert ranked["recover"].error > 0.9 * ranked["norm_sub"].error
    assert feared.defence.attacked > 3 * feared.defence.unattacked
    gained = {row.method: row.gain_maximal or 0.0 for row in feared.recommendations}
    assert abs(gained["drop_fakes"]) < 0.1 * gained["norm_sub"] < gained["none"]
    assert all(row.gain_maximal is None and row.error_unattacked is None for row in plain.recommendations)


def test_the_answer_has_the_errors_without_and_under_the_attack(feared):
    defence, rows = feared.defence, {row.pair: row for row in feared.recommendations}
    usual = rows[defence.protocol, defence.method]
    assert usual.pair == advise(1.0, **ASKED).best.pair  # by the same rule, and as many collections
    assert (defence.unattacked, defence.attacked) == (usual.error_unattacked, usual.error)


def test_known_targets_are_those_of_the_attack_and_bring_two_more_remedies():
    feared = advise(1.0, **ASKED | {"protocol": "grr"}, threat=Threat(threat=0.1, targets=["3", "30"]))
    assert feared.request.promoted == (3, 30)
    assert feared.best.method in {"recover_known", "subtract_fakes"}
    assert "drop_fakes" not in {row.method for row in feared.recommendations}  # a report of GRR supports one value


def test_a_label_with_a_comma_is_a_target_in_double_quotes():
    threat = Threat(threat=0.1, targets='"Cologne, town", Bonn')
    assert threat.targets == ("Cologne, town", "Bonn")
    assert threat.typed()[-1] == '"Cologne, town",Bonn'
    assert Threat(threat=0.1, targets=threat.typed()[-1]) == threat
    odd = "x" * 200_000, "two\nlines", '5" disk\n'
    assert [Threat(threat=0.1, targets=f"{text},b").targets for text in odd] == [(text.strip(), "b") for text in odd]


def test_an_estimate_is_repaired_as_if_so_many_were_fake(tmp_path, run):
    raw, repaired = tmp_path / "raw.csv", tmp_path / "repaired.csv"
    raw.write_text("value,estimate\na,0.62\nb,0.25\nc,0.2\nd,-0.05\ne,-0.02\n")
    words = "--protocol grr --eps 1 --n 5000 --threat 0.1 --targets a --method recover_known --reps 8 --deployable"
    code, _, err = run("estimate", str(raw), *words.split(), "--apply", str(repaired))
    assert code == 0, err
    rows = {row["value"]: float(row["post_processed"]) for row in csv.DictReader(repaired.read_text().splitlines())}
    assert rows["a"] < 0.55
    assert sum(rows.values()) == pytest.approx(1)
