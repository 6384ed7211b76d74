from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'ldp-advise[plot]'")

from advisor import advise
from advisor.answers.rank.collection import one_collection
from advisor.api.advice import Advice
from advisor.show.pictures import save, to_svg
from advisor.show.pictures.frequencies import frequencies_figure
from advisor.show.pictures.ranking import ranking_figure
from advisor.show.pictures.style import INK, SERIES, tint
from advisor.show.pictures.sweep import SHADE
from tests.advisor.conftest import Run
from tests.advisor.estimates import ALONE

START = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
NASTY = ["<script>alert(1)</script>", "$x^2$ & co", 'a "quoted" & \\frac one']


@pytest.fixture(scope="module")
def advice() -> Advice:
    counts = dict(zip(NASTY, [500, 300, 200], strict=True))
    return advise(1.0, sample_counts=counts, n=5000, repetitions=4, max_repetitions=4, protocol=["grr", "oue"])


def words(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)  # noqa: S314 - our own picture
    return ["".join(one.itertext()).strip() for one in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("suffixes", [(".svg", ".svg"), pytest.param((".png", ".pdf"), marks=pytest.mark.slow)])
def test_pictures_of_the_main_command(run: Run, states: str, tmp_path: Path, suffixes: tuple[str, str]) -> None:
    one, two = tmp_path / f"ranking{suffixes[0]}", tmp_path / f"frequencies{suffixes[1]}"
    arguments = (
        "-q",
        "--eps",
        "1",
        "-p",
        "grr",
        "--method",
        "none,norm_sub",
        "--reps",
        "4",
        "--max-reps",
        "4",
        "--plot",
        str(one),
        "--plot-frequencies",
        str(two),
        states,
    )
    assert run(*arguments)[0] == 0
    if two.suffix == ".svg":
        assert "fruit, by falling frequency" in words(two.read_text(encoding="utf-8"))
    for path in (one, two):
        assert path.read_bytes().startswith(START[path.suffix])
    code, _, err = run(*arguments)
    assert code == 2
    assert "exists" in err
    if one.suffix != ".svg":  # of the slow ones alone: both are drawn once more
        before = one.read_bytes(), two.read_bytes()
        assert run(*arguments, "--force")[0] == 0
        assert (one.read_bytes(), two.read_bytes()) == before  # same seed, same picture


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


def test_the_ranking_begins_at_0_and_marks_what_it_is_compared_with(advice: Advice) -> None:
    axes = ranking_figure(advice).axes[0]
    assert axes.get_xlim()[0] == 0
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert any("(usual default)" in label for label in labels)
    assert any("(raw estimate)" in label for label in labels)
    assert sum(line.get_marker() == "s" for line in axes.lines) == 2
    assert any("without any data" in text.get_text() for text in axes.texts)


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
    ages = np.exp(-(((np.arange(60) - 30) / 12) ** 2))
    long = advise(
        1.0,
        sample_counts=dict(zip(map(str, range(60)), (1000 * ages).astype(int), strict=True)),
        ordered=True,
        repetitions=4,
        max_repetitions=4,
        protocol="oue",
        method=["norm_sub", "wavelet_eb"],
        metric="emd",
    )
    axes = frequencies_figure(long).axes[0]
    lines = {str(line.get_label()): float(line.get_linewidth()) for line in axes.lines}
    assert max(lines, key=lambda name: lines[name]) == f"after {long.best.method}"
    assert any("interval" in str(one.get_label()) for one in axes.collections)
    assert [label.get_text() for label in axes.get_xticklabels()][-1] == "59"


def test_ranking_shows_the_pairs_and_their_unit(advice: Advice) -> None:
    shown = words(to_svg(ranking_figure(advice), "a"))
    for row in advice.recommendations[:15]:
        assert any(re.match(rf"{row.protocol} +{row.method}( \(|$)", word) for word in shown)
    assert any("l1 error (frequency)" in word for word in shown)


def test_dots_stand_where_the_errors_are(advice: Advice) -> None:
    axes = ranking_figure(advice).axes[0]
    dots = {
        round(float(np.atleast_1d(line.get_ydata())[0])): float(np.atleast_1d(line.get_xdata())[0])
        for line in axes.lines
        if line.get_marker() in ("o", "s")
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


def test_the_axis_of_frequencies_has_the_name_that_the_data_have(advice: Advice) -> None:
    assert frequencies_figure(advice).axes[0].get_xlabel() == "category, by falling frequency"
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
    def brightness(colour: str) -> float:
        red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    def contrast(one: str, other: str) -> float:
        high, low = sorted((luminance(one), luminance(other)), reverse=True)
        return (high + 0.05) / (low + 0.05)

    def luminance(colour: str) -> float:
        parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    # Words of the cells of a sweep: at least the 4.5 of WCAG 2.1 (1.4.3) against every colour that is used there.
    assert min(contrast(INK, tint(colour, SHADE)) for colour in SERIES) > 4.5
    assert abs(brightness(SERIES[0]) - brightness(SERIES[1])) > 0.05
    assert len(set(SERIES)) == len(SERIES)
