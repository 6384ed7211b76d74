"""Error of the best pair against the unknown, with the target, the answer, and what no data would give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.answers.plan.result import PlanResult, Point, value_text
from advisor.members.names import pair_text, protocol_text
from advisor.show.pictures.style import BAND, BLUE, QUIET, headline, level_line, log_axis, picture, plain
from advisor.show.sentences import term_text, unit_text
from simulator.detection import POWER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AROUND = {"n": 12.0, "epsilon": 2.5}  # times the answer, and through it: what is drawn


def plan_figure(plan: PlanResult) -> Figure:
    """Return the curve with its bands: what was predicted (or follows by formula) as a line, simulations as dots.

    The interval of the answer is a band too.
    """
    question, best = plan.question, plan.best
    detects, users = question.detects, question.unknown == "n"
    target = POWER if detects else question.target
    points = _near(plan)
    predicted, simulated = ([point for point in points if point.simulated is was] for was in (False, True))
    with picture(3.6) as (figure, axes):
        xs = [point.x for point in predicted]
        axes.fill_between(xs, [point.low for point in predicted], [point.high for point in predicted], color=BAND)
        axes.plot(xs, [point.error for point in predicted], color=QUIET, linewidth=1.4)
        reach = [[dot.error - dot.low for dot in simulated], [dot.high - dot.error for dot in simulated]]
        at = [point.x for point in simulated], [point.error for point in simulated]
        axes.errorbar(*at, reach, fmt="o", color=BLUE, markersize=5, capsize=3)
        level_line(axes, target, f"target {plain(target)}")
        if plan.error_without_data is not None:
            level_line(axes, plan.error_without_data, "no data")
        need = f"No {question.sign} is enough"
        if best.value is not None:
            need = f"{value_text(question, best.value)} users" if users else f"ε = {value_text(question, best.value)}"
            axes.axvspan(best.low or best.value, best.high or best.value, color=BLUE, alpha=0.25, linewidth=0)
            axes.axvline(best.value, color=BLUE, linewidth=1.4)
            factor = AROUND[question.unknown]
            axes.set_xlim(best.value / factor, best.value * factor)
            where = axes.get_xaxis_transform()  # in the half that the curve leaves free
            words: dict[str, Any] = {"color": BLUE, "fontweight": "bold", "transform": where}
            axes.text(best.value, 0.1 if detects else 0.65, f"  {need}", **words)
        log_axis(axes.xaxis)
        axes.set_xlabel("users" if users else "privacy budget ε of one report")
        if detects:
            axes.set(ylabel=f"power to detect {plain(question.target)}", ylim=(0, 1.05))
        else:
            log_axis(axes.yaxis)
            axes.set_ylabel(f"{question.metric} error ({unit_text(question.metric, question.frequencies.bins)})")
        pair = protocol_text(best.protocol) if best.method is None else pair_text(best.protocol, best.method)
        goal = (
            f"to detect a frequency of {plain(question.target)}"
            if detects
            else f"for {question.metric} error {plain(target)}"
        )
        line = "by formula" if detects else "predicted (95 %)"
        dots = "; dots: simulated (95 %)" if simulated else ""
        setting = f"{term_text(question)}, k = {question.frequencies.k:,}"
        headline(figure, f"{need} {goal}", f"{pair} at {setting}. Line: {line}{dots}")
        figure.set_label(f"{axes.get_ylabel()} against {axes.get_xlabel()}: {need} {goal}")
    return figure


def _near(plan: PlanResult) -> list[Point]:
    """Return the points around the answer; the power that was simulated there among them."""
    best, factor = plan.best, AROUND[plan.question.unknown]
    if best.value is None:
        return list(plan.curve)
    points = [point for point in plan.curve if best.value / factor <= point.x <= best.value * factor]
    if plan.question.detects and best.error_low is not None and best.error_high is not None:
        points.append(Point(best.value, best.error or 0.0, simulated=True, low=best.error_low, high=best.error_high))
    return points
