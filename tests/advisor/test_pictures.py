from __future__ import annotations

import re
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from advisor import advise, plan, sweep
from advisor.answers.rank.collection import one_collection
from advisor.api.advice import Advice
from advisor.extensions.choose.case import Wishes
from advisor.extensions.choose.picture import price_figure
from advisor.show.pictures import save, to_svg
from advisor.show.pictures.frequencies import frequencies_figure
from advisor.show.pictures.plan import plan_figure
from advisor.show.pictures.ranking import ranking_figure
from advisor.show.pictures.style import INK, SERIES, tint
from advisor.show.pictures.sweep import SHADE, curves_figure, winners_figure
from simulator import Noise
from tests.advisor.choices import chosen
from tests.advisor.conftest import Run
from tests.advisor.estimates import ALONE

START = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
MANY = ["none", "norm_sub", "eb_ns", "power_ns", "base_pos", "norm_cut", "norm", "mle_apx", "norm_mul"]
NASTY = ["<script>alert(1)</script>", "$x^2$ & co", 'a "quoted" & \\frac one']
pytestmark = pytest.mark.skipif(
    not find_spec("matplotlib"), reason="pictures need matplotlib: pip install 'ldp-advise[plot]'"
)


@pytest.fixture(scope="module")
def advice() -> Advice:
    counts = dict(zip(NASTY, [500, 300, 200], strict=True))
    return advise(1.0, sample_counts=counts, n=5000, repetitions=4, max_repetitions=4, protocol=["grr", "oue"])


def words(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)  # noqa: S314 - our own picture
    return ["".join(one.itertext()).strip() for one in root.iter("{http://www.w3.org/2000/svg}text")]


def drawn(figure: Any) -> Any:
    """Return a canvas that the figure is drawn on: boxes have their sizes from then on."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return canvas


COMMANDS = {  # the last two words of each are its pictures
    "--eps 1 -p grr --reps 4 --max-reps 4 fruit.csv": "--plot one.svg --plot-frequencies two.svg",
    "--eps 1 -p grr --method none --reps 4 --max-reps 4 fruit.csv": "--plot one.png --plot-frequencies two.pdf",
    "plan --target 0.1 --eps 1 --k 16 --instant": "--plot plan.svg",
    "audit -p grr,oue --eps 1,2 --k 4,8 --trials 200 --runs 2": "--plot bounds.svg",
    "sweep --eps 1 --n 1e3,1e4 --k 4 -p grr --reps 4 --jobs 1 --method none": "--plot map.png --plot-curves curves.pdf",
}


@pytest.mark.slow
def test_commands_draw_pictures_the_same_again_and_never_over_a_file(
    run: Run, states: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(states).parent)
    for line, pictures in COMMANDS.items():
        asked, paths = [*line.split(), *pictures.split(), "-q"], [Path(name) for name in pictures.split()[1::2]]
        assert run(*asked)[0] == 0
        written = [path.read_bytes() for path in paths]
        assert all(content.startswith(START[path.suffix]) for path, content in zip(paths, written, strict=True))
        code, _, err = run(*asked)
        assert code == 2
        assert "exists" in err
        assert run(*asked, "--force")[0] == 0
        assert [path.read_bytes() for path in paths] == written
        if "two.svg" in pictures:
            assert "fruit, by falling frequency" in words(Path("two.svg").read_text(encoding="utf-8"))


def test_a_picture_has_a_title_and_a_description_for_who_cannot_see_it(advice: Advice, tmp_path: Path) -> None:
    save(ranking_figure(advice), tmp_path / "ranking.svg")
    for svg in ((tmp_path / "ranking.svg").read_text(encoding="utf-8"), to_svg(frequencies_figure(advice), "shares")):
        root = ElementTree.fromstring(svg)  # noqa: S314 - our own picture
        named = {one.get("id"): one.text or "" for one in root if one.tag.endswith(("}title", "}desc"))}
        assert root.get("role") == "img"
        title, description = (named[one] for one in str(root.get("aria-labelledby")).split())
        assert "ε = 1" in title
        assert advice.best.method in description
        assert "<script" not in svg


def test_the_ranking_begins_at_0_and_has_its_pairs_their_errors_and_what_they_are_compared_with(advice: Advice) -> None:
    figure = ranking_figure(advice)
    (axes,) = figure.axes
    assert axes.get_xlim()[0] == 0
    labels = [label.get_text() for label in axes.get_yticklabels()]
    for kind in ("(usual default)", "(raw estimate)"):
        assert any(kind in label for label in labels)
    assert sum(line.get_marker() == "s" for line in axes.lines) == 2
    assert any("without any data" in text.get_text() for text in axes.texts)
    dots = {
        round(float(np.atleast_1d(line.get_ydata())[0])): float(np.atleast_1d(line.get_xdata())[0])
        for line in axes.lines
        if line.get_marker() in ("o", "s")
    }
    shown = words(to_svg(figure, "a"))
    for place, row in enumerate(advice.recommendations[:15]):
        assert dots[place] == row.error
        assert any(re.match(rf"{row.protocol} +{row.method}( \(|$)", word) for word in shown)
    assert any("l1 error (frequency)" in word for word in shown)


def test_frequencies_have_the_labels_and_the_answer_in_bold_within_its_intervals(advice: Advice) -> None:
    axes = frequencies_figure(advice).axes[0]
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert names[1:] == NASTY[1:]
    assert NASTY[0].startswith(names[0].rstrip("…"))
    shown = one_collection(advice)
    assert shown.low is not None
    assert shown.high is not None
    assert shown.raw is not None
    assert ((shown.low <= shown.raw.clip(0, 1)) & (shown.raw.clip(0, 1) <= shown.high)).all()
    ages = (1000 * np.exp(-(((np.arange(60) - 30) / 12) ** 2))).astype(int)
    few = {"repetitions": 4, "max_repetitions": 4, "protocol": "oue", "method": ["norm_sub", "wavelet_eb"]}
    long = advise(1.0, sample_counts=dict(enumerate(ages)), ordered=True, metric="emd", **few)  # type: ignore[arg-type]
    axes = frequencies_figure(long).axes[0]
    lines = {str(line.get_label()): float(line.get_linewidth()) for line in axes.lines}
    assert max(lines, key=lambda name: lines[name]) == f"after {long.best.method}"
    assert any("interval" in str(one.get_label()) for one in axes.collections)
    assert [label.get_text() for label in axes.get_xticklabels()][-1] == "59"


def test_labels_of_the_user_stay_text_and_the_axis_has_the_name_that_the_data_have(advice: Advice) -> None:
    figure = frequencies_figure(advice)
    assert figure.axes[0].get_xlabel() == "category, by falling frequency"
    svg = to_svg(figure, "b")
    assert "<script" not in svg
    shown = words(svg)
    assert {NASTY[1], "frequency"} <= set(shown)
    assert any(word.startswith("<script>alert") for word in shown)
    sample = pd.Series([1, 2, 2, 3] * 50, name="$age$")
    named = advise(1.0, sample=sample, repetitions=4, max_repetitions=4, protocol="grr", method="norm_sub")
    assert frequencies_figure(named).axes[0].get_xlabel() == "$age$"


def test_frequencies_of_an_estimate_are_the_estimate_itself() -> None:
    raw = np.array([0.55, 0.3, 0.2, -0.05])
    advice = advise(1.0, estimate=raw, protocol="oue", n=20_000, repetitions=4, method="norm_sub", **ALONE)
    axes = frequencies_figure(advice).axes[0]
    crosses = next(line for line in axes.lines if line.get_marker() == "x")
    assert sorted(np.asarray(crosses.get_ydata()).tolist()) == sorted(raw.tolist())
    assert any("plausible truths" in text.get_text() for text in axes.get_legend().get_texts())


def test_colours_differ_in_brightness() -> None:
    from matplotlib.colors import to_rgb

    weights = np.array([0.2126, 0.7152, 0.0722])

    def luminance(colour: str) -> float:
        parts = np.array(to_rgb(colour))
        return float(weights @ np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4))

    # Words of the cells of a sweep: at least the 4.5 of WCAG 2.1 (1.4.3) against every colour that is used there.
    for colour in SERIES:
        low, high = sorted((luminance(INK), luminance(tint(colour, SHADE))))
        assert (high + 0.05) / (low + 0.05) > 4.5
    one, other = (float(weights @ np.array(to_rgb(colour))) for colour in SERIES[:2])
    assert abs(one - other) > 0.05
    assert len(set(SERIES)) == len(SERIES)


# --- plans and sweeps -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        {"target": 0.2, "epsilon": 1.0, "instant": True},
        pytest.param({"detect": 0.05, "n": 10_000, "instant": True}, marks=pytest.mark.slow),
        pytest.param({"target": 0.2, "epsilon": 1.0}, marks=pytest.mark.slow),
        pytest.param({"detect": 0.05, "n": 10_000}, marks=pytest.mark.slow),
    ],
)
def test_plan_has_the_target_and_the_answer(question: dict[str, float]) -> None:
    answer = plan(k=16, protocol="grr", method=None if "detect" in question else "norm_sub", **question)  # type: ignore[arg-type]
    figure = plan_figure(answer)
    axes = figure.axes[0]
    upright = [line for line in axes.lines if len(set(np.asarray(line.get_xdata()).tolist())) == 1]
    assert any(np.asarray(line.get_xdata())[0] == answer.value for line in upright)
    level = [line for line in axes.lines if np.asarray(line.get_ydata()).tolist() == [question.get("target", 0.8)] * 2]
    assert level
    shown = words(to_svg(figure, "c"))
    assert any("users n" in word or "budget ε" in word for word in shown)
    assert not any("mathdefault" in word for word in shown)


def test_sweep_pictures_name_every_winner() -> None:
    menu = {"protocol": ["grr", "oue"], "method": MANY[:3], "repetitions": 4}
    swept = sweep(eps=[0.5, 2.0], n=[1000, 10_000], k=[8], **menu)  # type: ignore[arg-type]
    shown = words(to_svg(winners_figure(swept), "d"))
    for cell in swept.cells:
        assert any(cell.winner.method in word for word in shown)
    figure = curves_figure(swept)
    assert len([axes for axes in figure.axes if axes.get_visible()]) == 2
    curves = words(to_svg(figure, "e"))
    assert "none" in curves
    assert swept.cells[0].winner.method in curves


@pytest.mark.parametrize("users", [[1000], pytest.param([1000, 9999, 10**5], marks=pytest.mark.slow)])
def test_no_word_of_the_curves_is_cut_off_and_no_line_is_covered(users: list[int]) -> None:
    sizes = [8, 16] if len(users) > 1 else [8]
    swept = sweep(eps=[0.5, 2.0], n=users, k=sizes, protocol="grr", method=MANY[:7], repetitions=2)
    figure = winners_figure(swept)
    drawn(figure)
    title = figure.legends[0].get_window_extent()
    assert figure.bbox.x0 <= title.x0 <= title.x1 <= figure.bbox.x1
    figure = curves_figure(swept)
    canvas = drawn(figure)
    (part,) = figure.subfigs
    (legend,) = part.legends
    panels = [axes.get_tightbbox(canvas.get_renderer()) for axes in figure.axes]  # with their words
    for box in [*panels, legend.get_window_extent()]:
        assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 <= box.y1 <= figure.bbox.y1
    assert not any(legend.get_window_extent().overlaps(axes.get_window_extent()) for axes in figure.axes)


def test_curves_show_all_methods_in_rows_of_as_many_as_have_colours() -> None:
    for methods, sizes in ((MANY[:7], [7]), (MANY, [5, 4])):
        swept = sweep(eps=[1.0], n=[1000], k=[8], protocol="grr", method=methods, repetitions=2)
        figure = curves_figure(swept)
        drawn(figure)
        legends = [legend for part in figure.subfigs for legend in part.legends]
        names = [[text.get_text() for text in legend.get_texts()] for legend in legends]
        assert [len(group) for group in names] == sizes
        assert sorted(name for group in names for name in group) == sorted(methods)
        errors = {pair[1]: error for pair, error in swept.cells[0].errors.items()}
        assert [name for group in names for name in group if name != "none"] == sorted(
            (name for name in methods if name != "none"), key=errors.__getitem__
        )
        for axes in figure.axes:  # in colour or in grey, each method is in each panel
            assert {line.get_ydata()[0] for line in axes.lines} == set(errors.values())
            assert axes.get_ylim() == pytest.approx(figure.axes[0].get_ylim())
        for box in (legend.get_window_extent() for legend in legends):
            assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1


@pytest.mark.slow
@pytest.mark.usefixtures("own_members")
def test_curves_show_the_method_of_the_caller() -> None:
    def worst_of_all(estimate: np.ndarray, noise: Noise) -> np.ndarray:
        return estimate + 5 * noise.sd

    swept = sweep(eps=1, n=1000, k=8, protocol="oue", method=[*MANY, worst_of_all], repetitions=2)
    assert "worst_of_all" in words(to_svg(curves_figure(swept), "f"))


def test_the_picture_of_a_choice_marks_goal_limit_and_choice() -> None:
    for wishes, at, mark in (
        (Wishes(people=2000, answers=2, within=3.0, sensitive="high", times=1), 0.63, "collect with ε = 0.63: 2.71"),
        (Wishes(people=2000, answers=18, within=1.0, sensitive="medium", times=1), 2.0, "at the limit ε = 2: 1.31"),
    ):
        choice = chosen(wishes)
        figure = price_figure(choice)
        (axes,) = figure.axes
        drawn(figure)
        assert mark in {text.get_text() for text in axes.texts}
        levels = {line.get_ydata()[0] for line in axes.lines if len(set(line.get_ydata())) == 1 < len(line.get_xdata())}
        assert {100 * choice.case.within, 100 * choice.case.without} <= levels
        assert axes.lines[-1].get_xdata()[0] == at
        boxes = [text.get_window_extent() for text in axes.texts]
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
