import re
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from advisor import Simulation, advise, estimate, pareto, plan, sweep
from advisor.answers.rank.apply import one_collection
from advisor.extensions.choose.answer import Wishes
from advisor.extensions.choose.document import price_figure
from advisor.show.page import COLOURS
from advisor.show.pictures import save, style, to_svg
from advisor.show.pictures.frequencies import frequencies_figure
from advisor.show.pictures.plan import plan_figure
from advisor.show.pictures.ranking import differing, factor_text, pareto_figure, ranking_figure
from advisor.show.pictures.sweep import best_overall, curves_figure, regret_figure
from advisor.show.strip import ratio_svg
from simulator.ranking import Ratio
from tests.advisor.choices import chosen
from tests.advisor.cli_answers import refused
from tests.advisor.estimates import ALONE

START = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
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


COMMANDS = {  # the last two words of each are its pictures
    "--eps 1 -p grr --reps 4 --max-reps 4 fruit.csv": "--plot one.svg --plot-frequencies two.svg",
    "--eps 1 -p grr --method none --reps 4 --max-reps 4 fruit.csv": "--plot one.png --plot-frequencies two.pdf",
    "plan --target 0.1 --eps 1 --k 16 --instant": "--plot plan.svg",
    "pareto --eps 1 --k 50": "--plot frontier.svg",
    "audit -p grr,oue --eps 1,2 --k 4,8 --trials 200 --runs 2": "--plot bounds.svg",
    "sweep --eps 1 --n 1e3,1e4 --k 4 -p grr --reps 4 --jobs 1 --method none": "--plot map.png --plot-curves curves.pdf",
}


@pytest.mark.slow
def test_commands_draw_pictures_the_same_again_and_never_over_a_file(run, states, monkeypatch):
    monkeypatch.chdir(Path(states).parent)
    for line, pictures in COMMANDS.items():
        asked, paths = [*line.split(), *pictures.split(), "-q"], [Path(name) for name in pictures.split()[1::2]]
        assert run(*asked)[0] == 0
        written = [path.read_bytes() for path in paths]
        assert all(content.startswith(START[path.suffix]) for path, content in zip(paths, written, strict=True))
        assert "exists" in refused(run, *asked)
        assert run(*asked, "--force")[0] == 0
        assert [path.read_bytes() for path in paths] == written


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


def test_the_ratio_of_a_row_is_a_dot_on_a_common_axis_and_an_arrow_beyond_it():
    dots = [ratio_svg(Ratio(ratio, 1.0, 3.5)) for ratio in (1.0, 1.5, 2.0, 2.0 * 1.5)]
    places = [float(re.search(r'cx="([\d.]+)"', dot)[1]) for dot in dots]
    assert places[1] - places[0] == pytest.approx(places[3] - places[2], abs=0.11)  # logarithmic
    assert "<circle" not in ratio_svg(Ratio(3.1, 3.0, 3.2))
    ElementTree.fromstring(dots[0])  # noqa: S314 - our own picture


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


@pytest.mark.parametrize(
    "question",
    [
        {"target": 0.2, "eps": 1.0, "instant": True},
        pytest.param({"detect": 0.05, "n": 10_000, "instant": True}, marks=pytest.mark.slow),
        pytest.param({"target": 0.2, "eps": 1.0}, marks=pytest.mark.slow),
        pytest.param({"detect": 0.05, "n": 10_000}, marks=pytest.mark.slow),
    ],
)
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


@pytest.mark.usefixtures("own_members")
def test_curves_name_every_method_and_the_best_the_raw_and_those_of_the_caller_have_colours():
    def worst_of_all(estimate, noise):
        return estimate + 5 * noise.sd

    many = ["none", "norm_sub", "eb_ns", "power_ns", "base_pos", worst_of_all]
    swept = sweep(eps=1, n=[1000, 10_000], k=8, protocol="oue", method=many, simulation=Simulation(repetitions=2))
    figure = curves_figure(swept)
    assert [len(axes.lines) for axes in figure.axes] == [len(many)]
    colours = {text.get_text(): text.get_color() for text in figure.axes[0].texts}
    assert len(colours) == len(many)
    coloured = {name for name, colour in colours.items() if colour != style.QUIET}
    assert {"worst_of_all", "no post-processing"} < coloured < colours.keys()


def test_words_on_the_darkest_cell_can_be_read():
    def luminance(colour, share=1.0):
        parts = np.array([1 - share * (1 - part) for part in style.faded(colour, 1)[:3]])
        return float(
            np.array([0.2126, 0.7152, 0.0722])
            @ np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        )

    # at least the 4.5 of WCAG 2.1 (1.4.3)
    assert (luminance(style.ORANGE, 0.6) + 0.05) / (luminance(style.INK) + 0.05) > 4.5


def test_the_picture_of_a_choice_marks_goal_limit_and_choice():
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    for wishes, at, mark in (
        (Wishes(people=2000, answers=2, within=3.0, sensitive="high", times=1), 0.63, "collect with ε = 0.63: 2.71"),
        (Wishes(people=2000, answers=18, within=1.0, sensitive="medium", times=1), 2.0, "at the limit ε = 2: 1.31"),
    ):
        choice = chosen(wishes)
        figure = price_figure(choice)
        (axes,) = figure.axes
        FigureCanvasAgg(figure).draw()
        assert mark in {text.get_text() for text in axes.texts}
        levels = {line.get_ydata()[0] for line in axes.lines if len(set(line.get_ydata())) == 1 < len(line.get_xdata())}
        assert {100 * choice.case.within, 100 * choice.case.without} <= levels
        assert axes.lines[-1].get_xdata()[0] == at
        boxes = [text.get_window_extent() for text in axes.texts]
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
