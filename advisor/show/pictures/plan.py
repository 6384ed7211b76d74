"""Error of the best pair against the unknown, with the target and the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.answers.plan.result import PlanResult, value_text
from advisor.show.pictures.style import BAND, BLUE, INK, ORANGE, QUIET, log_axis, picture
from advisor.show.sentences import unit_text
from simulator.detection import POWER

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plan_figure(plan: PlanResult) -> Figure:
    """Return the curve: what was predicted (or follows by formula) as a line, what was simulated as dots."""
    question, best = plan.question, plan.best
    detects = question.detects
    target = POWER if detects else question.target
    predicted = [(x, y) for x, y, simulated in plan.curve if not simulated]
    simulated = [(x, y) for x, y, was in plan.curve if was]
    with picture(6.2, 3.8) as (figure, axes):
        if predicted:
            source = "by formula" if detects else "predicted"
            axes.plot(*zip(*predicted, strict=True), color=QUIET, linewidth=1.4, label=source)
        if simulated:
            axes.plot(*zip(*simulated, strict=True), "o", color=BLUE, markersize=4, label="simulated")
        axes.axhline(target, color=ORANGE, linestyle="--", linewidth=1.2)
        axes.annotate(
            f"target {target:g}",
            (0, target),
            xycoords=("axes fraction", "data"),
            color=INK,
            fontsize=8,
            xytext=(4, 3),
            textcoords="offset points",
        )
        if best.value is not None:
            if best.low is not None and best.high is not None and best.high > best.low:
                axes.axvspan(best.low, best.high, color=BAND, zorder=0, linewidth=0)
            axes.axvline(best.value, color=INK, linewidth=1)
            axes.annotate(
                f"{question.sign} = {value_text(question, best.value)}",
                (best.value, 0 if detects else 1),
                xycoords=("data", "axes fraction"),
                xytext=(4, 5 if detects else -10),
                textcoords="offset points",
                fontsize=8,
            )
        log_axis(axes.xaxis, powers=question.unknown == "n")
        if not detects:
            log_axis(axes.yaxis)
        axes.set_xlabel("users n" if question.unknown == "n" else "privacy budget ε of one report")
        if detects:
            axes.set_ylabel(f"power to detect {question.target:g}")
            axes.set_ylim(0, 1.02)
        else:
            unit = unit_text(question.metric, question.frequencies.bins)
            axes.set_ylabel(f"{question.metric} error ({unit})")
        axes.legend(loc="lower right" if detects else "lower left")
        setting = f"ε = {question.epsilon:g}" if question.n is None else f"n = {question.n:,}"
        pair = best.protocol if best.method is None else f"{best.protocol} with {best.method}"
        axes.set_title(f"{pair} at {setting}, k = {question.frequencies.k:,}")
        figure.set_label(
            f"{axes.get_ylabel()} against {axes.get_xlabel()}, target {target:g}; "
            + (
                "never reached"
                if best.value is None
                else f"reached at {question.sign} = {value_text(question, best.value)}"
            )
        )
    return figure
