from __future__ import annotations

import re
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'ldp-advise[plot]'")

from advisor import advise
from advisor.pictures import to_svg
from advisor.pictures.frequencies import frequencies_figure
from advisor.pictures.plan import plan_figure
from advisor.pictures.ranking import ranking_figure
from advisor.pictures.style import SERIES
from advisor.pictures.sweep import SHADES, curves_figure, winners_figure
from advisor.plans.answer import plan
from advisor.rank.advice import Advice
from advisor.sweeps.answer import sweep
from tests.advisor.conftest import Run

START = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
NASTY = ["<script>alert(1)</script>", "$x^2$ & co", 'a "quoted" & \\frac one']


@pytest.fixture(scope="module")
def advice() -> Advice:
    counts = dict(zip(NASTY, [500, 300, 200], strict=True))
    return advise(1.0, sample_counts=counts, n=5000, repetitions=4, max_repetitions=4, protocol=["grr", "oue"])


def words(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)  # noqa: S314 - our own picture
    return ["".join(one.itertext()).strip() for one in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_pictures_of_the_main_command(run: Run, states: str, tmp_path: Path, suffix: str) -> None:
    one, two = tmp_path / f"ranking{suffix}", tmp_path / f"frequencies{suffix}"
    arguments = (
        "-q",
        "--eps",
        "1",
        "-p",
        "grr",
        "--max-reps",
        "20",
        "--plot",
        str(one),
        "--plot-frequencies",
        str(two),
        states,
    )
    assert run(*arguments)[0] == 0
    for path in (one, two):
        assert path.read_bytes().startswith(START[suffix])
    code, _, err = run(*arguments)
    assert code == 2
    assert "exists" in err
    before = one.read_bytes()
    assert run(*arguments, "--force")[0] == 0
    assert one.read_bytes() == before  # same seed, same picture


def test_ranking_shows_the_pairs_and_their_unit(advice: Advice) -> None:
    shown = words(to_svg(ranking_figure(advice), "a"))
    for row in advice.recommendations[:15]:
        assert f"{row.protocol}  {row.method}" in shown or f"{row.protocol} {row.method}" in shown
    assert any("l1 error (frequency)" in word for word in shown)


def test_dots_stand_where_the_errors_are(advice: Advice) -> None:
    axes = ranking_figure(advice).axes[0]
    dots = {
        round(float(np.atleast_1d(line.get_ydata())[0])): float(np.atleast_1d(line.get_xdata())[0])
        for line in axes.lines
        if line.get_marker() == "o"
    }
    for place, row in enumerate(advice.recommendations[:15]):
        assert dots[place] == row.error


def test_labels_of_the_user_stay_text(advice: Advice) -> None:
    svg = to_svg(frequencies_figure(advice), "b")
    assert "<script" not in svg
    shown = words(svg)
    assert NASTY[1] in shown
    assert any(word.startswith("<script>alert") for word in shown)
    assert "frequency" in shown


def test_frequencies_of_an_estimate_are_the_estimate_itself() -> None:
    raw = np.array([0.55, 0.3, 0.2, -0.05])
    advice = advise(1.0, estimate=raw, protocol="oue", n=20_000, repetitions=40)
    axes = frequencies_figure(advice).axes[0]
    crosses = next(line for line in axes.lines if line.get_marker() == "x")
    assert sorted(np.asarray(crosses.get_ydata()).tolist()) == sorted(raw.tolist())
    assert any("surrogate" in text.get_text() for text in axes.get_legend().get_texts())


@pytest.mark.parametrize("question", [{"target": 0.2, "epsilon": 1.0}, {"detect": 0.05, "n": 10_000}])
def test_plan_has_the_target_and_the_answer(question: dict[str, float]) -> None:
    answer = plan(k=16, protocol="grr", method=None if "detect" in question else "norm_sub", **question)  # type: ignore[arg-type]
    axes = plan_figure(answer).axes[0]
    upright = [line for line in axes.lines if len(set(np.asarray(line.get_xdata()).tolist())) == 1]
    assert any(np.asarray(line.get_xdata())[0] == answer.value for line in upright)
    level = [line for line in axes.lines if np.asarray(line.get_ydata()).tolist() == [question.get("target", 0.8)] * 2]
    assert level
    shown = words(to_svg(plan_figure(answer), "c"))
    assert any("users n" in word or "budget ε" in word for word in shown)
    assert not any("mathdefault" in word for word in shown)


def test_sweep_pictures_name_every_winner() -> None:
    swept = sweep(epsilons=[0.5, 2.0], users=[1000, 10_000], sizes=[8], protocol=["grr", "oue"], repetitions=4)
    shown = words(to_svg(winners_figure(swept), "d"))
    for cell in swept.cells:
        assert any(cell.winner.method in word for word in shown)
    figure = curves_figure(swept)
    assert len([axes for axes in figure.axes if axes.get_visible()]) == 2
    curves = words(to_svg(figure, "e"))
    assert "none" in curves
    assert swept.cells[0].winner.method in curves


def test_colours_differ_in_brightness() -> None:
    def brightness(colour: str) -> float:
        red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    shades = [brightness(shade) for shade in SHADES]
    assert shades == sorted(shades, reverse=True)
    assert min(a - b for a, b in pairwise(shades)) > 0.08
    assert abs(brightness(SERIES[0]) - brightness(SERIES[1])) > 0.05
    assert len(set(SERIES)) == len(SERIES)


@pytest.mark.parametrize("option", ["--plot", "--plot-frequencies"])
def test_bad_files_get_one_line(run: Run, states: str, tmp_path: Path, option: str) -> None:
    for path, says in [("x.bmp", "suffix must be"), ("x", "suffix must be"), ("/nowhere/x.png", "no directory")]:
        code, _, err = run("-q", "--eps", "1", option, path, states)
        assert code == 2
        assert says in err
        assert err.count("\n") == 1
    same = str(tmp_path / "x.svg")
    assert "same file" in run("-q", "--eps", "1", "--output", same, option, same, states)[2]


def test_missing_matplotlib_is_told_before_anything_else(
    run: Run, states: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for option, path in [("--plot", "x.png"), ("--report", "x.html")]:
        code, _, err = run("-q", "--eps", "1", option, path, states)
        assert code == 2
        assert re.search(r"needs matplotlib: pip install 'ldp-advise\[plot\]'", err)


def test_pictures_of_plans_and_sweeps_from_the_command_line(run: Run, tmp_path: Path) -> None:
    one, two, three = (tmp_path / name for name in ("plan.svg", "map.png", "curves.pdf"))
    words = ("plan", "--target", "0.1", "--eps", "1", "--k", "16", "--instant", "-q", "--plot", str(one))
    assert run(*words)[0] == 0
    assert "exists" in run(*words)[2]
    sweep_words = ("sweep", "--eps", "1", "--n", "1e3,1e4", "--k", "4", "-p", "grr", "--reps", "4", "--jobs", "1", "-q")
    assert run(*sweep_words, "--plot", str(two), "--plot-curves", str(three))[0] == 0
    for path in (one, two, three):
        assert path.read_bytes().startswith(START[path.suffix])
    assert "same file" in run(*sweep_words, "--force", "--plot", str(two), "--plot-curves", str(two))[2]
