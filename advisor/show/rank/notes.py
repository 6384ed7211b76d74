"""What stands below the table of a ranking, in sentences."""

from __future__ import annotations

from statistics import NormalDist

from advisor.answers.rank.result import Ranking, Recommendation, Why
from advisor.errors import listed
from advisor.figures import number, percent, points, times, users
from advisor.inputs.labels import shortened
from advisor.members.names import pair_text, protocol_text
from advisor.question.request import BOOTSTRAP, CURVES, Request, removal_sentences
from advisor.show.model import Role, Sentence, sentences
from advisor.show.rank.table import error_cell
from advisor.show.sentences import assumed_sentences, central_sentences, domain_text, plan_sentences, promise_text
from knowledge.predict import simulated_populations
from simulator.detection import LEVEL

MADE = {
    BOOTSTRAP: "they are simulated anew from the best estimate, by tree_eb, which they favour",
    CURVES: "they are drawn from the posterior of a curve, and EM follows what no curve can say",
}
ROUGHER = "the truth is mostly rougher, so errors may be higher; intervals hold 95 % of them, without probabilities"
WITHIN = "is predicted within 5 % of the lowest error, that of {}, and has the cheapest report of all that are"


def setting_text(request: Request) -> str:
    """Return what was asked, in a line."""
    domain, places = domain_text(request.k, ordered=request.ordered), request.ground
    if places is not None:
        domain = f"{places.rows}x{places.columns} cells, {places.ground} distance in {request.unit}"
    return f"{promise_text(request.epsilon, request.central)}, {domain}, n = {request.n:,}"


def note_sentences(ranking: Ranking) -> list[Sentence]:
    """Return what stands below the table: how it was measured, what can be seen at all, what was assumed."""
    request = ranking.request
    if not ranking.recommendations:
        return []
    lines = [_source_sentence(ranking), *_detection_sentences(ranking)]
    if request.plan is not None:
        lines += plan_sentences(request.plan)
    if request.central is not None:
        lines += central_sentences(request.central, ranking.best.protocol, request.protocols)
    if request.threat is not None:
        lines += _threat_sentences(ranking)
    if not ranking.resolved and request.collected is None and ranking.source != "grid":
        lines.append(
            f"Not settled after {ranking.repetitions} repetitions: some pairs of rank 1 may be more than 5 % "
            "worse than the lowest error; --max-reps adds repetitions."
        )
    lines += assumed_sentences(request.assumptions)
    further = [*_model_sentences(ranking), *removal_sentences(request.removals)]
    return [*sentences(lines, Role.NOTE), *sentences(further, Role.LEGEND)]


def _source_sentence(ranking: Ranking) -> str:
    request = ranking.request
    if ranking.source == "grid":
        return _prediction_sentence(ranking)
    if request.collected is not None:
        return _populations_sentence(request)
    most = f" to {ranking.repetitions}" if ranking.repetitions > request.repetitions else ""
    return f"Simulated {request.repetitions}{most} times: {setting_text(request)}, seed {request.seed}."


def _prediction_sentence(ranking: Ranking) -> str:
    origins = {row.origin for row in ranking.recommendations}
    how = " and ".join(origin for origin in ("asymptotic", "extrapolated") if origin in origins)
    beyond = f", {how} beyond what was simulated" if how else ""
    return f"Predicted for {ranking.request.sample}, not simulated: {setting_text(ranking.request)}{beyond}."


def _model_sentences(ranking: Ranking) -> list[str]:
    """Return what a prediction rests on; nothing for a simulation."""
    if ranking.source != "grid":
        return []
    fitted = f"{simulated_populations(ordered=ranking.request.ordered):,} simulated populations"
    model = f"The model is fitted to {fitted}; intervals are 95 % of the prediction."
    shapes = listed(f"{name} {number(error)}" for name, error in ranking.by_shape)
    return [model, f"The error is the mean over shapes of this skew: {shapes}."] if shapes else [model]


def _populations_sentence(request: Request) -> str:
    count = 1 if request.populations is None else len(request.populations)
    setting = f"{setting_text(request)}, seed {request.seed}"
    if request.judged:
        return f"Judged by {count} draws of what may be behind the estimate: {setting}."
    doubt = f"; {MADE[request.surrogate]}; {ROUGHER}" if count > 1 and request.surrogate in MADE else ""
    what = "one population" if count == 1 else f"{count} populations"
    return (
        f"Simulated {request.repetitions} times, from {what} that may be behind the estimate (surrogate "
        f"{request.surrogate}): {setting}{doubt}."
    )


def _detection_sentences(ranking: Ranking) -> list[str]:
    smallest, request = ranking.detectable_frequency, ranking.request
    if smallest is None:
        return []
    if smallest > 1:
        return [f"{protocol_text(ranking.best.protocol)} can detect no frequency, not even 1."]
    share = f"Smallest visible share: {percent(smallest)} ({users(smallest * request.users)} users)"
    change = ranking.smallest_change
    return [f"{share}." if change is None else f"{share}; smallest visible change: {points(change)}."]


def detail_sentences(ranking: Ranking) -> list[str]:
    """Return the definition of what is visible."""
    if ranking.detectable_frequency is None:
        return []
    return [
        f"Visible shares are told from 0 with power 80 %, at level 5 % over all {ranking.request.k:,} categories; "
        "changes since the sample with the same power, at level 5 % for each."
    ]


def next_round_sentence(ranking: Ranking) -> str:
    """Return what the second table is, and what it says."""
    best, collected = ranking.best, ranking.request.collected
    now = "" if collected is None else collected.protocol
    pair = pair_text(best.protocol, best.method)
    stated = None if collected is None else getattr(collected.oracle, "own_rate", None)
    used = protocol_text(now) + ("" if stated is None else " with its p and q")
    rows = [row for row in ranking.recommendations if row.protocol == now]
    answer = f"{used} is still among the best protocols"
    if not rows:
        answer = f"{pair} is the pair to use"
    elif not any(row.tier == 1 for row in rows):
        # As many protocols could have seemed better by chance as there are.
        others = len({row.protocol for row in ranking.recommendations}) - 1
        wider = NormalDist().inv_cdf(1 - LEVEL / 2 / max(others, 1)) / NormalDist().inv_cdf(1 - LEVEL / 2)
        better = all(_surely_above(row, wider, best.ratio_to_best or 1.0) for row in rows)
        answer = f"{pair} would do better than {used}" if better else f"that any does better than {used} is not certain"
    figure = f"{ranking.metric} error {error_cell(best, ranking)[0]}"
    return (
        f"For the next round, with the same ε, k and n: {answer}. Top pair: {pair}, {figure}, from "
        f"{ranking.repetitions} collections."
    )


def _surely_above(row: Recommendation, wider: float, named: float) -> bool:
    """Return whether a ratio is above that of the named pair by its 95 % interval, so much wider."""
    ratio, low = row.ratio_to_best, row.ratio_low
    return ratio is None or low is None or ratio - wider * (ratio - low) > named


def _difference(ratio: float) -> str:
    more = 100 * (ratio - 1)
    return f"The model predicts {abs(more):.0f} % {'more' if more >= 0 else 'less'} error with it."


def why_sentences(why: Why, ranking: Ranking | None = None) -> list[str]:
    """Return an explanation in sentences; of a look-up, first why its first pair is the answer."""
    lines = []
    if ranking is not None:
        best, lowest = pair_text(*ranking.best.pair), pair_text(*ranking.lowest.pair)
        reason = "has the lowest predicted error" if best == lowest else WITHIN.format(lowest)
        if ranking.best.pair == ranking.tree:
            reason = "is what the decision tree names, and the model ties it with the lowest error"
        lines.append(f"Why: {best} {reason}.")
    pair = pair_text(why.protocol, why.method)
    text = (
        f"The decision tree, which asks for ε, k, n and skew alone, names {pair}: {'; '.join(why.steps) or 'always'}."
    )
    if ranking is not None and ranking.best.pair != (why.protocol, why.method):
        text += " It does not compete here." if why.ratio is None else f" {_difference(why.ratio)}"
    lines.append(text)
    if why.changes:
        nearest = "; ".join(
            f"{change.what} = {users(change.value) if change.what == 'n' else f'{change.value:.3g}'} "
            f"({pair_text(change.protocol, change.method)})"
            for change in why.changes
        )
        lines.append(f"Nearest values from which another pair is predicted to be more than 5 % better: {nearest}.")
    else:
        lines.append("No other ε, n or skew that the model covers makes another pair more than 5 % better.")
    return lines


def central_verdict(ranking: Ranking) -> list[Sentence]:
    """Return at which budget the first pair reports, and how far it stays behind a trusted server."""
    central, server = ranking.request.central, [row for row in ranking.baselines if row.kind == "central"]
    if central is None or not ranking.recommendations:
        return []
    best = ranking.best
    text = f"Each report has its own budget, ε₀ = {central.local[best.protocol]:.4g}: shuffled, {central.promise}."
    if server and best.error:
        text += (
            f" A trusted server with {server[0].method} noise would have {times(server[0].error / best.error)} the "
            "error at the same promise."
        )
    return [Sentence(text)]


def _threat_sentences(ranking: Ranking) -> list[str]:
    """Return what is simulated of the attack, and what else would help."""
    request, targets = ranking.request, list(ranking.request.promoted)
    holders = float(request.counts[targets].sum() / request.counts.sum())
    fakes = max(1, round((request.threat or 0.0) * request.n))
    name = f" ({shortened(request.labels[targets[0]])})" if len(targets) == 1 and request.labels else ""
    how = "that are known" if request.targets else "drawn at random (--targets names them: two more remedies use it)"
    return [
        f"The attack: {fakes:,} of the n = {request.n:,} users are fake, and send the reports that speak most for "
        f"{len(targets)} of the {request.k:,} categories{name}, held by {percent(holders)} of users and {how}. "
        "Errors are against the frequencies of the honest users. A gain is how much the estimates of the promoted "
        "categories rise together, with such reports (max.) or with random ones (random)."
    ]
