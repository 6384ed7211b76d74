"""Pictures of rankings: ratios to the lowest error, the errors of several budgets, and a Pareto frontier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from advisor.answers.budgets import Budgets
from advisor.answers.rank.result import Baseline, Ranking, Recommendation
from advisor.answers.rank.trade_offs import Frontier
from advisor.figures import change, percent
from advisor.members.names import method_text, pair_text, protocol_text
from advisor.show.pictures import style
from advisor.show.rank.answer import decision
from advisor.show.rank.table import ratio_of
from advisor.show.sentences import promise_text, unit_text
from simulator.ranking import PRACTICAL_RATIO, Ratio, quotient

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROWS = 12
NARROW, WIDE = 1.25, 2.0  # where the axis of ratios ends, at least and at most
LOWEST = 0.7  # where it begins, at least
NAME = 34  # characters of a name; what is longer is cut


def ranking_figure(advice: Ranking) -> Figure:
    """Return paired ratios of errors to the lowest one: of the pair to use, its ties, the next pairs, and baselines.

    What lies beyond the axis is an arrow at its end; the factor stands beside each row.
    """
    ties, others = advice.ties, advice.recommendations[len(advice.ties) :]
    tied = differing(ties, ROWS // 2)
    several = len({row.protocol for row in advice.recommendations}) > 1
    new = [row for row in others if not several or row.protocol not in {row.protocol for row in tied}]
    rows = [(pair_text(*row.pair), _ratio(row, advice)) for row in (*tied, *differing(new, ROWS - 3 - len(tied)))]
    start = max(min(0.97, *(ratio.low for _, ratio in rows[: len(tied)])), LOWEST)
    half = sorted(ratio.value for _, ratio in rows)[len(rows) // 2]
    end = min(max(NARROW, 1.05 * half, *(ratio.high for _, ratio in rows[: len(tied)])), WIDE)
    if len(ties) > len(tied):  # a row that only says how many are left out
        rows.insert(len(tied), (f"and {len(ties) - len(tied):,} more, not told apart", Ratio(*[math.nan] * 3)))
    compared = _baselines(advice)
    heights = [*range(len(rows)), *(len(rows) + 0.5 + at for at in range(len(compared)))]
    rows += compared
    request, metric = advice.request, advice.metric
    with style.picture(0.75 + 0.27 * len(rows), grid="x") as (figure, axes):
        axes.axvspan(start, PRACTICAL_RATIO, color=style.BAND, zorder=0, linewidth=0)
        axes.set(xlim=(start, end), ylim=(heights[-1] + 0.6, -0.6))
        axes.set_yticks(heights, [name if len(name) <= NAME else f"{name[: NAME - 1]}…" for name, _ in rows])
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        for place, (height, (_, ratio), label) in enumerate(zip(heights, rows, axes.get_yticklabels(), strict=True)):
            colour = style.INK if place else style.BLUE
            label.set(color=colour, weight="normal" if place else "bold")
            _draw_ratio(axes, height, ratio, colour)
        step = next(step for step in (0.05, 0.1, 0.2, 0.5) if end - start < 7 * step)
        ticks = [1 + step * at for at in range(math.ceil((start - 1) / step), math.floor((end - 1) / step + 1e-9) + 1)]
        axes.set_xticks(ticks, ["lowest" if tick == 1 else change(tick, 1.0) for tick in ticks])
        axes.set_xlabel(f"{metric} error over the lowest one; shaded: within 5 %")
        best = pair_text(*advice.best.pair) if request.collected is None else method_text(advice.best.method)
        figures = f"{metric} error {style.plain(advice.best.error, 3)} ({unit_text(metric, request.bins)})"
        setting = f"{promise_text(request.epsilon, request.central)}, k = {request.k:,}, n = {request.n:,}"
        style.headline(figure, f"{decision(advice)[0]}: {best}", f"{figures} at {setting}; lines: 95 % intervals")
        texts = (f"{name} {factor_text(ratio.value)}".rstrip() for name, ratio in rows)
        figure.set_label(f"{metric} errors over the lowest one: {'; '.join(texts)}")
    return figure


def differing(rows: Sequence[Recommendation], most: int) -> list[Recommendation]:
    """Return rows: if there are more than `most`, the first of each protocol; of a single protocol the first rows."""
    first: dict[str, Recommendation] = {}
    for row in rows:
        first.setdefault(row.protocol, row)
    return list(rows if len(rows) <= most or len(first) == 1 else first.values())[:most]


def factor_text(ratio: float) -> str:
    """Return a ratio of errors in words.

    >>> factor_text(1.0212), factor_text(3.41), factor_text(math.inf)
    ('+2 %', '3.4 times', 'infinite')
    """
    if math.isnan(ratio):
        return ""
    words = style.plain(ratio, 2)
    return change(ratio, 1.0) if ratio < 1.995 else words if ratio == math.inf else f"{words} times"


def _ratio(row: Recommendation | Baseline, advice: Ranking) -> Ratio:
    """Return the ratio of a row; where the lowest error is 0, any other is infinitely larger."""
    return ratio_of(row) or Ratio(*[1.0 if row.error <= advice.lowest.error else math.inf] * 3)


def _baselines(advice: Ranking) -> list[tuple[str, Ratio]]:
    """Return what a pair is compared with: the usual default, the raw estimate, a trusted server, and no data."""
    rows = []
    for row in advice.baselines:
        pair = row.protocol or "", row.method or ""
        names = {"default": f"usual default: {pair_text(*pair)}", "raw": f"raw estimate of {protocol_text(pair[0])}"}
        if row.kind != "uniform" and pair != advice.best.pair:
            rows.append((names.get(row.kind, "trusted server"), _ratio(row, advice)))
    rows.sort(key=lambda row: row[1].value)
    if advice.error_without_data is not None:
        ratio = quotient(advice.error_without_data, advice.lowest.error)
        rows.append((f"no data: {advice.guess_without_data}", Ratio(*[math.inf if ratio is None else ratio] * 3)))
    return rows


def _draw_ratio(axes: Axes, height: float, ratio: Ratio, colour: str) -> None:
    """Draw a ratio with its interval, or an arrow at the end of the axis, and its factor beside it."""
    start, end = axes.get_xlim()
    place = min(max(ratio.value, start), end)
    mark = "o" if start <= ratio.value <= end else ">" if ratio.value > end else "<"
    fill = colour if ratio.is_tie else style.PAPER
    axes.plot([max(ratio.low, start), min(ratio.high, end)], [height, height], color=colour, linewidth=1.6)
    axes.plot(place, height, mark, color=colour, markerfacecolor=fill, markersize=7, clip_on=False, zorder=3)
    words = "lowest" if ratio.value == 1 else factor_text(ratio.value)
    axes.text(1.03, height, words, transform=axes.get_yaxis_transform(), va="center", color=colour)


def budgets_figure(budgets: Budgets) -> Figure:
    """Return the error with its interval at each ε, the pair where it changes, and what no data would give."""
    rows = sorted(budgets.priced(budgets.metrics[0]), key=lambda row: row.epsilon)
    rows = [row for row in rows if row.ranking.best.error < math.inf]
    ranking = rows[0].ranking
    metric, request, without = ranking.metric, ranking.request, ranking.error_without_data
    xs, best = [row.epsilon for row in rows], [row.ranking.best for row in rows]
    errors = [row.error for row in best]
    reach = [[row.error - row.error_low for row in best], [row.error_high - row.error for row in best]]
    with style.picture(3.4) as (figure, axes):
        axes.errorbar(xs, errors, reach, fmt="o-", color=style.BLUE, markersize=6, linewidth=1.8, capsize=4)
        style.log_axis(axes.xaxis, xs)
        axes.set_xlim(0.9 * xs[0], xs[-1] * (xs[-1] / xs[0]) ** 0.35 * 1.4)  # room for the last name
        axes.set_ylim(0, 1.2 * max([without or 0, *(row.error_high for row in best)]))
        axes.locator_params("y", nbins=5)
        if without is not None:
            style.level_line(axes, without, f"no data: {ranking.guess_without_data}")
        for place, (x, row) in enumerate(zip(xs, best, strict=True)):
            if place == 0 or row.pair != best[place - 1].pair:
                name = pair_text(*row.pair).replace(" with ", "\nwith ")
                axes.annotate(name, (x, row.error), (8, 4), textcoords="offset points", linespacing=1.1)
        axes.set(xlabel="privacy budget ε of one report", ylabel=f"{metric} error ({unit_text(metric, request.bins)})")
        texts = [f"{style.plain(row.error, 3)} at ε = {x:g}" for x, row in zip(xs, best, strict=True)]
        setting = f"k = {request.k:,}, n = {request.n:,}; bars: 95 % intervals"
        style.headline(figure, f"{metric} error {', '.join(dict.fromkeys((texts[0], texts[-1])))}", setting)
        figure.set_label(f"{metric} error with the pair to use: {', '.join(texts)}")
    return figure


def pareto_figure(frontier: Frontier) -> Figure:
    """Return the least error at each size of a report as steps, and the pairs of the frontier with their names.

    Of an attack the picture shows how much more often it is right than a guess without a report.
    """
    request, metric = frontier.advice.request, frontier.advice.metric
    rows = sorted(frontier.drawn, key=lambda row: row.error)
    floor = min((row.error for row in rows if row.error > 0), default=1.0) / 10  # a logarithmic axis has no 0
    sizes, errors = [row.report_bits for row in rows], [max(row.error, floor) for row in rows]
    first, blind, most = frontier.rows[0], request.prior_guess, max(row.attack_success for row in rows)
    height = max(3.6, 0.48 * len(rows) + 0.6)
    with style.picture(height) as (figure, axes):
        axes.set(xlim=(min(sizes) / 1.4, 1.4 * max(sizes)), ylim=(min(errors) / 1.1, 1.3 * max(errors)))
        style.log_axis(axes.xaxis)
        style.log_axis(axes.yaxis)
        for row, _ in frontier.dominated:
            axes.plot(row.report_bits, row.error, ".", color=style.BARS, markersize=6)
        by_size = sorted(zip(sizes, errors, strict=True))
        least = [1.3 * max(errors), *accumulate((error for _, error in by_size), min)]
        steps = [by_size[0][0], *(size for size, _ in by_size), 1.4 * max(sizes)]
        axes.step(steps, [*least, least[-1]], where="post", color=style.INK, linewidth=1.4)
        shades = [style.faded(style.BLUE, (row.attack_success - blind) / ((most - blind) or 1.0)) for row in rows]
        axes.scatter(sizes, errors, s=80, c=shades, edgecolors=style.INK, linewidths=0.6, zorder=3)
        marks = [
            (*place, f"{pair_text(*row.pair)}\n{_costs(row)}", style.BLUE if row is first else style.INK)
            for row, place in zip(rows, zip(sizes, errors, strict=True), strict=True)
        ]
        style.name_beside(axes, marks, 0.44 / (height - 0.6))
        axes.set(xlabel="size of a report (bits)", ylabel=f"{metric} error ({unit_text(metric, request.bins)})")
        others = {1: "no other pair is", 2: "1 other is"}.get(len(rows), f"{len(rows) - 1} others are")
        style.headline(
            figure,
            f"{pair_text(*first.pair)}; {others} worth considering",
            f"Steps: the least error at a size. Darker: more attacks succeed, from {percent(blind)} (a blind guess) to "
            f"{percent(most)}. {promise_text(request.epsilon, request.central)}, k = {request.k:,}, n = {request.n:,}.",
        )
        texts = (f"{pair_text(*row.pair)}: {metric} error {style.plain(row.error, 3)}, {_costs(row)}" for row in rows)
        figure.set_label(f"Pairs that no other beats in error, size and attack: {'; '.join(texts)}")
    return figure


def _costs(row: Recommendation) -> str:
    return f"{row.report_bits:,} bits, attack {percent(row.attack_success)}"
