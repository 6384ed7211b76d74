from importlib.util import find_spec

import numpy as np
import pytest

from advisor import Simulation, advise, estimate, plan
from advisor.answers.rank.apply import one_collection
from advisor.question.central import CentralPromise
from advisor.show.pictures import style
from advisor.show.pictures.frequencies import frequencies_figure
from advisor.show.pictures.plan import plan_figure
from advisor.show.pictures.ranking import factor_text, ranking_figure
from tests.advisor.estimates import ALONE

NASTY = ["<script>alert(1)</script>", "$x^2$ & co", 'a "quoted" & \\frac one']
FEW = {"simulation": Simulation(repetitions=4, max_repetitions=4)}
pytestmark = pytest.mark.skipif(
    not find_spec("matplotlib"), reason="pictures need matplotlib: pip install 'ldp-advise[plot]'"
)


@pytest.fixture(scope="module")
def advice():
    counts = dict(zip(NASTY, [500, 300, 200], strict=True))
    return advise(1.0, sample_counts=counts, n=5000, protocol=["grr", "oue"], **FEW)


def test_the_ranking_shows_paired_ratios_in_its_order_and_arrows_beyond_the_axis(advice):
    (axes,) = ranking_figure(advice).axes
    marks = {line.get_ydata()[0]: line for line in axes.lines if line.get_marker() in ("o", "<", ">")}
    shown = [row for row in advice.recommendations if row.tier == 1][:1]
    assert marks[0].get_xdata()[0] == shown[0].ratio_to_best
    assert axes.get_yticklabels()[0].get_fontweight() == "bold"
    without = (advice.error_without_data or 0) / advice.lowest.error
    last = marks[max(marks)]
    assert (last.get_marker() == ">") == (without > axes.get_xlim()[1])
    texts = [text.get_text() for text in axes.texts]
    assert texts[-1] == factor_text(without)
    assert texts[0] in ("lowest", factor_text(shown[0].ratio_to_best or 0))
    assert any(label.get_text().startswith("no data") for label in axes.get_yticklabels())


def test_frequencies_lead_from_the_raw_estimate_to_what_is_recommended(advice):
    (axes,) = frequencies_figure(advice).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[1:] == NASTY[1:]
    assert NASTY[0].startswith(names[0].rstrip("…"))
    shown, lines = one_collection(advice), {str(line.get_label()): line for line in axes.lines}
    assert lines["truth"].get_xdata().tolist() == shown.truth.tolist()
    assert lines["raw estimate"].get_xdata().tolist() == shown.raw.tolist()
    (answer,) = (line for line in axes.lines if line.get_color() == style.BLUE and line.get_marker() == "o")
    assert answer.get_xdata().tolist() == shown.answer.tolist()
    raw = np.array([0.55, 0.3, 0.2, -0.05])
    estimated = estimate(
        raw, "oue", eps=1.0, n=20_000, method="norm_sub", **ALONE, simulation=Simulation(repetitions=4)
    )
    lines = {str(line.get_label()): line for line in frequencies_figure(estimated).axes[0].lines}
    assert sorted(lines["raw estimate"].get_xdata().tolist()) == sorted(raw.tolist())
    assert "mean of plausible truths" in lines
    ages = (1000 * np.exp(-(((np.arange(60) - 30) / 12) ** 2))).astype(int)
    long = advise(1.0, sample_counts=dict(enumerate(ages)), ordered=True, metric="emd", method="wavelet_eb", **FEW)
    assert [label.get_text() for label in frequencies_figure(long).axes[0].get_xticklabels()][-1] == "59"


def test_a_clipped_estimate_is_drawn_as_it_was_given_with_the_intervals_of_the_table():
    clipped = [0.55, 0.3, 0.15, 0.0, 0.0, 0.0]
    answer = estimate(clipped, "oue", eps=1.0, n=20_000, **ALONE, simulation=Simulation(repetitions=4))
    shown, table = one_collection(answer), answer.intervals()
    assert answer.request.collected.given is not None
    assert shown.raw.tolist() == table["raw"].tolist() == clipped
    assert shown.low.tolist() == table["low"].tolist()
    assert shown.high.tolist() == table["high"].tolist()


CENTRAL = {"promise": CentralPromise(central_epsilon=1.0, delta=1e-8)}


@pytest.mark.parametrize("given", [{"eps": 1.0}, pytest.param(CENTRAL, marks=pytest.mark.slow)])
def test_plan_has_the_target_no_data_and_the_answer_with_its_interval(given):
    answer = plan(target=0.2, k=16, protocol="grr", method="norm_sub", instant=True, **given)
    figure = plan_figure(answer)
    (axes,) = figure.axes
    upright = [line.get_xdata()[0] for line in axes.lines if len(set(line.get_xdata())) == 1]
    assert answer.value in upright
    levels = {line.get_ydata()[0] for line in axes.lines if len(set(line.get_ydata())) == 1}
    assert {0.2, answer.error_without_data} <= levels
    simulated = [point for point in answer.curve if point.simulated]
    assert all(point.low <= point.error <= point.high for point in answer.curve)
    assert bool(axes.containers[0].lines[0].get_xdata().size) == bool(simulated or answer.best.repetitions)
