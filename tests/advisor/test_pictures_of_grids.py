"""Pictures of plans and sweeps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'ldp-advise[plot]'")

from matplotlib.backends.backend_agg import FigureCanvasAgg

from advisor.api.plan import plan
from advisor.api.sweep import sweep
from advisor.show.pictures import to_svg
from advisor.show.pictures.plan import plan_figure
from advisor.show.pictures.sweep import curves_figure, winners_figure
from simulator import POSTPROCESSORS, Noise
from simulator.foreign import REGISTERED, SOURCES
from tests.advisor.conftest import Run
from tests.advisor.test_pictures import START, words


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
    swept = sweep(
        epsilons=[0.5, 2.0],
        users=[1000, 10_000],
        sizes=[8],
        protocol=["grr", "oue"],
        method=["none", "norm_sub", "eb_ns"],
        repetitions=4,
    )
    shown = words(to_svg(winners_figure(swept), "d"))
    for cell in swept.cells:
        assert any(cell.winner.method in word for word in shown)
    figure = curves_figure(swept)
    assert len([axes for axes in figure.axes if axes.get_visible()]) == 2
    curves = words(to_svg(figure, "e"))
    assert "none" in curves
    assert swept.cells[0].winner.method in curves


@pytest.mark.parametrize(
    ("users", "sizes"),
    [
        ([1000], [8]),
        pytest.param([1000, 10_000], [8], marks=pytest.mark.slow),
        pytest.param([1000, 9999, 10**5], [8, 16], marks=pytest.mark.slow),
    ],
)
def test_no_word_of_the_curves_is_cut_off_and_no_line_is_covered(users: list[int], sizes: list[int]) -> None:
    menu = ["norm_sub", "eb_ns", "none", "power_ns", "base_pos", "norm_cut", "norm"]
    swept = sweep(eps=[0.5, 2.0], n=users, k=sizes, protocol="grr", method=menu, repetitions=2)
    figure = winners_figure(swept)
    FigureCanvasAgg(figure).draw()
    title = figure.legends[0].get_window_extent()
    assert figure.bbox.x0 <= title.x0 <= title.x1 <= figure.bbox.x1
    figure = curves_figure(swept)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    (legend,) = figure.legends
    panels = [axes.get_tightbbox(canvas.get_renderer()) for axes in figure.axes]  # with their words
    for box in [*panels, legend.get_window_extent()]:
        assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 <= box.y1 <= figure.bbox.y1
    assert not any(legend.get_window_extent().overlaps(axes.get_window_extent()) for axes in figure.axes)


def test_curves_say_how_many_methods_they_leave_out() -> None:
    menu = ["none", "norm_sub", "eb_ns", "power_ns", "base_pos", "norm_cut", "norm", "mle_apx", "norm_mul"]
    for methods, title in (
        (menu[:7], "method, each with its best protocol"),
        (menu, "method, each with its best protocol; 2 of 9 are left out"),
    ):
        swept = sweep(eps=[1.0], n=[1000], k=[8], protocol="grr", method=methods, repetitions=2)
        figure = curves_figure(swept)
        FigureCanvasAgg(figure).draw()
        (legend,) = figure.legends
        assert legend.get_title().get_text() == title
        assert len(legend.get_texts()) == 7
        box = legend.get_window_extent()
        assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1


@pytest.mark.slow
def test_curves_show_the_method_of_the_caller() -> None:
    def worst_of_all(estimate: np.ndarray, noise: Noise) -> np.ndarray:
        return estimate + 5 * noise.sd

    menu = ["norm_sub", "eb_ns", "none", "power_ns", "base_pos", "norm_cut", "norm", "mle_apx", "norm_mul"]
    try:
        swept = sweep(eps=1, n=1000, k=8, protocol="oue", method=[*menu, worst_of_all], repetitions=2)
        assert "worst_of_all" in words(to_svg(curves_figure(swept), "f"))
    finally:
        for known in (POSTPROCESSORS, REGISTERED, SOURCES):
            known.pop("worst_of_all", None)


@pytest.mark.slow
def test_a_picture_of_a_plan_from_the_command_line(run: Run, tmp_path: Path) -> None:
    asked = ("plan", "--target", "0.1", "--eps", "1", "--k", "16", "--instant", "-q", "--plot", tmp_path / "plan.svg")
    assert run(*asked)[0] == 0
    assert "exists" in run(*asked)[2]
    assert (tmp_path / "plan.svg").read_bytes().startswith(START[".svg"])


@pytest.mark.slow
def test_pictures_of_sweeps_from_the_command_line(run: Run, tmp_path: Path) -> None:
    two, three = (tmp_path / name for name in ("map.png", "curves.pdf"))
    sweep_words = ("sweep", "--eps", "1", "--n", "1e3,1e4", "--k", "4", "-p", "grr", "--reps", "4", "--jobs", "1", "-q")
    sweep_words += ("--method", "none,norm_sub")
    assert run(*sweep_words, "--plot", str(two), "--plot-curves", str(three))[0] == 0
    for path in (two, three):
        assert path.read_bytes().startswith(START[path.suffix])
    assert "same file" in run(*sweep_words, "--force", "--plot", str(two), "--plot-curves", str(two))[2]
