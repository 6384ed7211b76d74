"""Figures and sentences as people read them."""

from __future__ import annotations

import math

from advisor.question.budget import plan_sentences
from advisor.question.constraints import nothing_left_sentence, removal_sentences
from advisor.question.request import Request
from advisor.rank.advice import Advice, Change, Recommendation, Why
from simulator import METRICS


def number(value: float, digits: int = 4) -> str:
    """Return a figure with so many significant digits, in scientific notation only where it is very small.

    >>> number(0.0424371), number(12.3), number(1234567.0), number(0.0000123456), number(0)
    ('0.04244', '12.30', '1,234,567', '1.235e-05', '0')
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    size = math.floor(math.log10(abs(value)))
    if size < -4:
        return f"{value:.{digits - 1}e}"
    return f"{value:,.{max(0, digits - 1 - size)}f}"


def margin(value: float, half_width: float) -> str:
    """Return the half-width of an interval with the decimals of the figure it belongs to.

    >>> margin(0.0424371, 0.00123), margin(3.2e-6, 1e-8)
    ('0.00123', '1.0e-08')
    """
    if value == 0 or half_width == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    return f"{half_width:.1e}" if size < -4 else f"{half_width:.{max(0, 3 - size)}f}"


def users(count: float) -> str:
    """Return a number of users, rounded to what can be meant.

    >>> users(4137.2), users(3.14159), users(0.02), users(5_912_345.0)
    ('4,137', '3.1', 'under 0.1', '5,912,000')
    """
    if count < 0.1:
        return "under 0.1"
    if count < 10:
        return f"{count:.1f}"
    step = 10 ** max(0, math.floor(math.log10(count)) - 3)
    return f"{round(count / step) * step:,}"


def times(ratio: float | None) -> str:
    """Return a multiple.

    >>> times(2.713), times(31.4), times(None)
    ('2.71×', '31.4×', '–')
    """
    if ratio is None:
        return "–"
    return f"{ratio:.2f}×" if ratio < 10 else f"{ratio:,.1f}×" if ratio < 1000 else f"{ratio:,.0f}×"


def percent(share: float) -> str:
    """Return a share in percent.

    >>> percent(0.2689), percent(0.0102), percent(0.00012)
    ('26.9 %', '1.02 %', '0.012 %')
    """
    digits = 1 if share >= 0.1 else 2 if share >= 0.001 else 3
    return f"{100 * share:.{digits}f} %"


def gain(value: float) -> str:
    """Return by how much frequencies rise, in percent of all users.

    >>> gain(0.1234), gain(-0.00051)
    ('+12.3 %', '−0.051 %')
    """
    return f"{'−' if value < 0 else '+'}{percent(abs(value))}"


def change(error: float, reference: float) -> str:
    """Return by how much an error lies below or above another.

    >>> change(0.4, 1.0), change(1.1, 1.0), change(1.0, 1.0), change(0.0, 0.0)
    ('−60 %', '+10 %', '±0 %', '±0 %')
    """
    if error == reference:
        return "±0 %"
    if reference == 0:
        return "–"
    share = round(100 * (error / reference - 1))
    return f"−{-share} %" if share < 0 else f"+{share:,} %" if share > 0 else "±0 %"


def error_with_margin(row: Recommendation, *, ranges: bool = False) -> str:
    """Return ``error ± half-width`` of the 95 % interval, or ``error (low–high)`` where it is not symmetric."""
    if ranges:
        return f"{number(row.error, 3)} ({number(row.error_low, 2)}–{number(row.error_high, 2)})"
    half_width = row.error_high - row.error
    return f"{number(row.error)} ± {margin(row.error, half_width)}"


def answer_sentence(advice: Advice) -> str:
    """Return the answer in one sentence, in the metric's unit."""
    if not advice.recommendations:
        return nothing_left_sentence(advice.request)
    if advice.next_round is not None:
        return _method_sentence(advice)
    best, metric = advice.best, METRICS[advice.metric]
    figure = f"{metric.name} error {error_with_margin(best, ranges=advice.over_populations)} ({metric.unit})"
    pair = f"{best.protocol} with {best.method}"
    if not advice.beats_uniform_guess:
        return (
            "Nothing is shown to beat an answer without any data ('every category is equally frequent', or 0 for all): "
            "this setting is too noisy for these frequencies, or they are too even. "
            f"First of the ranking: {pair}, {figure}."
        )
    if len(advice.recommendations) == 1:
        return f"{_capital(pair)}: {figure}; no other pair was asked for."
    if len(advice.ties) == 1:
        return f"Use {pair}: {figure}; no other pair comes within 5 % of it."
    level = sum(row.report_bits == best.report_bits for row in advice.ties)
    if advice.source == "grid":
        reason = _reason_of_look_up(advice)
    elif best is advice.lowest:
        reason = "it has the lowest error" + ("" if level == len(advice.ties) else ", and no report is shorter")
    else:
        reason = (
            "its report is the shortest" if level == 1 else "no report is shorter, and of those its error is the lowest"
        )
    others = "1 other pair is" if len(advice.ties) == 2 else f"{len(advice.ties) - 1} other pairs are"
    lowest = "" if best is advice.lowest else f", that of {advice.lowest.protocol} with {advice.lowest.method}"
    return (
        f"Use {pair}: {figure}. {others} in the same tier (not told apart from the lowest error{lowest}, or within "
        f"5 % of it); this one is listed first because {reason}."
    )


def _reason_of_look_up(advice: Advice) -> str:
    """Return why a look-up lists its first row first."""
    from knowledge.listing import STEADY

    if advice.best is advice.lowest:
        return "its predicted error is the lowest"
    if advice.best.method == STEADY[advice.metric]:
        return f"{advice.best.method} is best for {advice.metric} on average, and no other is clearly better here"
    return "its predicted error is within 1 % of the lowest and no report of those is shorter"


def _method_sentence(advice: Advice) -> str:
    """Return which method to use on the estimate that is there, and how sure that is."""
    best, metric = advice.best, METRICS[advice.metric]
    figure = f"{metric.name} error {error_with_margin(best, ranges=advice.over_populations)} {metric.unit}"
    pair = f"{best.method} on this {best.protocol} estimate"
    if not advice.beats_uniform_guess:
        return (
            "Nothing is shown to beat an answer without any data ('every category is equally frequent', or 0 for all): "
            "this estimate is too noisy for these frequencies, or they are too even. "
            f"First of the ranking: {pair}, {figure}."
        )
    if len(advice.recommendations) == 1:
        return f"{_capital(pair)}: {figure}; no other method was asked for."
    sure = (
        ""
        if best.probability_best is None
        else f"; the best of all with probability {100 * best.probability_best:.0f} %"
    )
    others = len(advice.ties) - 1
    near = (
        "no other method comes within 5 % of it"
        if not others
        else f"{others} other {'methods are' if others > 1 else 'method is'} within 5 % of it or not told apart"
    )
    return f"Use {pair}: {figure}{sure}; {near}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def worth_sentences(advice: Advice) -> list[str]:
    """Return what the answer means in users: the error of a category, and what post-processing is worth."""
    n = advice.request.n
    lines: list[str] = []
    if not advice.recommendations:
        return lines
    best = advice.best
    if not advice.beats_uniform_guess:
        return lines
    if best.mean_absolute_error is not None:
        lines.append(
            f"On average a category is off by {number(best.mean_absolute_error, 3)}, "
            f"that is {users(best.mean_absolute_error * n)} of {n:,} users."
        )
    if best.equivalent_users is not None and best.method != "none":
        ratio = best.equivalent_users / n
        if ratio >= 1:
            lines.append(
                f"Post-processing is worth {times(ratio)} the users: the raw estimate would need "
                f"{users(best.equivalent_users)} for the same mean squared error."
            )
        else:
            lines.append(
                f"In mean squared error this post-processing costs: {users(best.equivalent_users)} users would do as "
                "well without it."
            )
    return lines


def footer_sentences(advice: Advice) -> list[str]:
    """Return what stands below the table: how it was measured, what was assumed, what can be seen at all."""
    request = advice.request
    if not advice.recommendations:
        return []
    best = advice.best
    order = "ordered" if request.ordered else "unordered"
    extra = f" (up to {advice.repetitions} for the leading pairs)" if advice.repetitions > request.repetitions else ""
    setting = f"ε = {request.epsilon:g}, k = {request.k:,} {order} categories, n = {request.n:,}"
    lines = [
        _looked_up(advice, setting)
        if advice.source == "grid"
        else _simulated_from_populations(request, setting)
        if request.collected is not None
        else f"Simulated from {request.sample}: {setting}, {request.repetitions} repetitions{extra}, seed "
        f"{request.seed}; intervals are 95 %.",
    ]
    if advice.detectable_frequency is not None and advice.detectable_frequency >= 1:
        lines.append(f"No frequency, not even 1, could be told from 0 with {best.protocol} (level 5 %).")
    elif advice.detectable_frequency is not None:
        lines.append(
            f"Smallest frequency that {best.protocol} tells from 0 (level 5 %): "
            f"{number(advice.detectable_frequency, 3)}, that is {users(advice.detectable_frequency * request.n)} users."
        )
    if request.plan is not None:
        lines += plan_sentences(request.plan)
    lines += removal_sentences(request)
    if request.threat is not None:
        lines.append(_threat_sentence(request))
    if advice.why is not None:
        lines += why_sentences(advice.why)
    if advice.other_users:
        lines.append(_other_users_sentence(advice))
    if not advice.resolved and request.collected is None and advice.source != "grid":
        lines.append(
            f"Not settled after {advice.repetitions} repetitions: some pairs in the first tier may be more than 5 % "
            "worse than the lowest error; --max-reps adds repetitions."
        )
    if request.assumptions:
        lines.append("Assumed: " + "; ".join(request.assumptions) + ".")
    return lines


def _threat_sentence(request: Request) -> str:
    from simulator.poisoning import draw_targets

    targets = draw_targets(request.k, request.seed)
    held = float(request.counts[targets].sum() / request.counts.sum())
    fakes = max(1, round(request.threat * request.n)) if request.threat is not None else 0
    return (
        f"Gain: an attacker who controls {fakes:,} of the n = {request.n:,} users promotes {len(targets)} "
        f"{'category' if len(targets) == 1 else 'categories'}, drawn at random, that {percent(held)} of users hold; "
        "their estimates rise by so much together when the fake users send random reports (random), or those that help "
        "most (max.)."
    )


def _simulated_from_populations(request: Request, setting: str) -> str:
    count = 1 if request.populations is None else len(request.populations)
    each = request.repetitions // count
    what = (
        f"{count} populations that may be behind it (surrogate {request.surrogate}), {_collections(each)} from each"
        if count > 1
        else f"one population taken for the truth behind it (surrogate {request.surrogate}), {_collections(each)}"
    )
    return (
        f"Simulated from the estimate in {request.sample}: {setting}; {what}, seed {request.seed}; intervals are 95 %."
    )


def _collections(count: int) -> str:
    return "1 collection" if count == 1 else f"{count} collections"


def next_round_sentence(advice: Advice) -> str:
    """Return what the second table is, and what it says."""
    best, used = advice.best, advice.request.collected
    now = "" if used is None else used.protocol
    same = any(row.protocol == now for row in advice.ties)
    answer = (
        f"{now} is in the first tier again"
        if same
        else f"{best.protocol} with {best.method} would do better than {now}"
    )
    figure = f"{advice.metric} error {error_with_margin(best, ranges=advice.over_populations)}"
    return (
        f"For the next round, with the same ε, k and n: {answer} (first of the ranking: {best.protocol} with "
        f"{best.method}, {figure}; from {advice.repetitions} collections)."
    )


def _looked_up(advice: Advice, setting: str) -> str:
    origins = {row.origin for row in advice.recommendations}
    how = " and ".join(origin for origin in ("interpolated", "asymptotic", "extrapolated") if origin in origins)
    known = "" if advice.request.labels else " A sample, or --shape, says more about your data."
    return (
        f"Looked up for {advice.request.sample}, not simulated: {setting}; {how} from the shipped grid; "
        f"intervals are 95 % of the prediction.{known}"
    )


def _other_users_sentence(advice: Advice) -> str:
    others = [other for other in advice.other_users if other[1:] != advice.best.pair]
    if not others:
        first, last = advice.other_users[0][0], advice.other_users[-1][0]
        return f"From n = {first:,} to {last:,} no other pair is predicted to be more than 5 % better."
    told = "; ".join(f"{protocol} with {method} for n = {n:,}" for n, protocol, method in others)
    return f"Another number of users would change the answer: {told}."


def why_sentences(why: Why) -> list[str]:
    """Return the explanation in sentences."""
    path = "; ".join(why.steps) or "one rule serves all cases"
    lines = [f"Why: {path}: there {why.method} is best on average."]
    if not why.agrees:
        lines.append(
            f"Tree and grid disagree here: the grid, which knows the shape as well, expects {why.method} to be "
            f"{100 * (why.ratio - 1):.1f} % worse than the method it ranks first, and the ranking is the grid's."
        )
    if why.changes:
        nearest = "; ".join(
            f"{change.what} = {_figure(change)} ({change.protocol} with {change.method})" for change in why.changes
        )
        lines.append(f"Nearest values from which another pair is predicted to be more than 5 % better: {nearest}.")
    else:
        lines.append("No other ε, n or skew that the grid covers makes another pair more than 5 % better.")
    return lines


def _figure(change: Change) -> str:
    return users(change.value) if change.what == "n" else f"{change.value:.3g}"
