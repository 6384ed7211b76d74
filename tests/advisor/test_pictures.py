import re
from importlib.util import find_spec
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from advisor import Simulation, advise, estimate, pareto, plan, sweep
from advisor.answers.rank.apply import one_collection
from advisor.show.page import COLOURS
from advisor.show.pictures import save, style, to_svg
from advisor.show.pictures.frequencies import frequencies_figure
from advisor.show.pictures.plan import plan_figure
from advisor.show.pictures.ranking import differing, factor_text, pareto_figure, ranking_figure
from advisor.show.pictures.sweep import best_overall, regret_figure
from tests.advisor.estimates import ALONE

NASTY = ["<script>alert(1)</script>", "$x^2$ & co", 'a "quoted" & \\frac one']
FEW = {"simulation": Simulation(repetitions=4, max_repetitions=4)}
PHONE = 366  # pixels that a page of 390 pixels leaves a picture
pytestmark = pytest.mark.skipif(
    not find_spec("matplotlib"), reason="pictures need matplotlib: pip install 'ldp-advise[plot]'"
)


@pytest.fixture(scope="module")
def advice():
    counts = dict(zip(NASTY, [500, 300, 200], strict=True))
    return advise(1.0, sample_counts=counts, n=5000, protocol=["grr", "oue"], **FEW)


@pytest.fixture(scope="module")
def swept():
    menu = {
        "protocol": ["grr", "oue"],
        "method": ["none", "norm_sub", "eb_ns"],
        "simulation": Simulation(repetitions=4),
    }
    return sweep(eps=[0.5, 4.0], n=[1000, 100_000], k=[64], **menu)


def words(svg):
    root = ElementTree.fromstring(svg)  # noqa: S314 - our own picture
    return ["".join(one.itertext()).strip() for one in root.iter("{http://www.w3.org/2000/svg}text")]


def figures(advice, swept):
    return [
        lambda: ranking_figure(advice),
        lambda: frequencies_figure(advice),
        lambda: plan_figure(plan(target=1e-5, n=100, k=4, protocol="grr", method="norm_sub", instant=True)),
        lambda: pareto_figure(pareto(advise(1.0, k=64, n=10_000))),
        lambda: regret_figure(swept),
    ]


@pytest.mark.parametrize("place", range(5))
def test_words_are_large_enough_for_a_phone_plain_and_apart_and_colours_have_names_on_pages(
    place, advice, swept, monkeypatch
):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    figure = figures(advice, swept)[place]()
    texts = []  # those that are drawn
    draw = Text.draw
    monkeypatch.setattr(Text, "draw", lambda text, renderer: (texts.append(text), draw(text, renderer)))
    FigureCanvasAgg(figure).draw()
    texts = list({id(text): text for text in texts if text.get_visible() and text.get_text().strip()}.values())
    pixels = PHONE / (72 * figure.get_size_inches()[0])
    assert min(text.get_fontsize() for text in texts) * pixels > 7.5
    assert not [text.get_text() for text in texts if re.search(r"\de[-+]?\d|[⁰¹²³⁴-⁹]", text.get_text())]
    boxes = [Text.get_window_extent(text) for text in texts]  # without the lines to their marks
    for at, box in enumerate(boxes):
        assert figure.bbox.x0 - 1 <= box.x0
        assert box.x1 <= figure.bbox.x1 + 1
        assert not any(box.shrunk(0.9, 0.7).overlaps(other.shrunk(0.9, 0.7)) for other in boxes[at + 1 :])
    assert set(re.findall(r"#[0-9a-f]{6}\b", to_svg(figure, "a").split("</metadata>")[-1])) <= COLOURS.keys()


def test_a_picture_has_a_title_and_a_description_and_labels_of_the_user_stay_text(advice, tmp_path):
    save(ranking_figure(advice), tmp_path / "ranking.svg")
    for svg in ((tmp_path / "ranking.svg").read_text(encoding="utf-8"), to_svg(frequencies_figure(advice), "shares")):
        root = ElementTree.fromstring(svg)  # noqa: S314 - our own picture
        named = {one.get("id"): one.text or "" for one in root if one.tag.endswith(("}title", "}desc"))}
        assert root.get("role") == "img"
        title, description = (named[one] for one in str(root.get("aria-labelledby")).split())
        assert advice.best.protocol.upper() in title
        assert " %" in description
        assert "<script" not in svg
    assert NASTY[1] in words(svg)
    sample = pd.Series([1, 2, 2, 3] * 50, name="$age$")
    named = advise(1.0, sample=sample, protocol="grr", method="norm_sub", **FEW)
    assert frequencies_figure(named).axes[0].get_ylabel() == "$age$"


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


def test_of_many_ties_the_first_of_each_protocol_stands_for_the_others(advice):
    rows = advice.recommendations
    assert differing(rows, len(rows)) == list(rows)
    assert [row.protocol for row in differing(rows, 3)] == list(dict.fromkeys(row.protocol for row in rows))
    alone = [row for row in rows if row.protocol == "grr"]
    assert differing(alone, 2) == alone[:2]


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


@pytest.mark.parametrize("question", [{"target": 0.2, "eps": 1.0, "instant": True}])
def test_plan_has_the_target_no_data_and_the_answer_with_its_interval(question):
    answer = plan(k=16, protocol="grr", method=None if "detect" in question else "norm_sub", **question)
    figure = plan_figure(answer)
    (axes,) = figure.axes
    upright = [line.get_xdata()[0] for line in axes.lines if len(set(line.get_xdata())) == 1]
    assert answer.value in upright
    levels = {line.get_ydata()[0] for line in axes.lines if len(set(line.get_ydata())) == 1}
    assert {question.get("target", 0.8), answer.error_without_data or 0.8} <= levels
    simulated = [point for point in answer.curve if point.simulated]
    assert all(point.low <= point.error <= point.high for point in answer.curve)
    assert bool(axes.containers[0].lines[0].get_xdata().size) == bool(simulated or answer.best.repetitions)


def test_a_sweep_names_another_pair_only_where_the_table_calls_it_clearly_better(swept):
    pair = best_overall(swept)
    figure = regret_figure(swept)
    texts = {text.get_position(): " ".join(text.get_text().split()) for text in figure.axes[0].texts}
    assert any(texts.values())
    assert not all(texts.values())
    for cell in swept.cells:
        text = texts[swept.question.users.index(cell.n), swept.question.epsilons.index(cell.epsilon)]
        assert bool(text) == cell.is_clearly_worse(pair)
        if text and cell.winner.method != pair[1]:
            assert pair[1] not in cell.tied_with(cell.winner)
