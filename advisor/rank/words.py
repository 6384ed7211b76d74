"""What stands below the table of a ranking, in sentences."""

from __future__ import annotations

from advisor.document.model import Role, Sentence
from advisor.figures import number, times, users
from advisor.question.budget import plan_sentences
from advisor.question.central import central_sentences
from advisor.question.estimate_request import BOOTSTRAP, CURVES
from advisor.question.removals import removal_sentences
from advisor.question.request import Request
from advisor.rank.answer_words import error_with_margin
from advisor.rank.pair_words import pair_text, protocol_text
from advisor.rank.result import Ranking, Why
from advisor.rank.threat_words import threat_sentences
from advisor.rank.verdict import USELESS
from simulator.detection import smallest_detectable

MADE = {
    BOOTSTRAP: "they are simulated anew from the best estimate, by tree_eb, which they favour",
    CURVES: "they are drawn from the posterior of a curve, and EM follows what no curve can say",
}
WITHIN = "is predicted within 1 % of the lowest error, that of {}, and has the shortest report of all that are"


def setting_text(request: Request) -> str:
    """Return what was asked, in a line."""
    order = "ordered" if request.ordered else "unordered"
    promise = f"ε = {request.epsilon:g}" if request.central is None else request.central.text
    return f"{promise}, k = {request.k:,} {order} categories, n = {request.n:,}"


def note_sentences(ranking: Ranking, *, matrix: bool = False) -> list[Sentence]:
    """Return what stands below the table: how it was measured, what was assumed, what can be seen at all.

    matrix: whether it stands below a table of all metrics, which has no fresh error above it.
    """
    request = ranking.request
    if not ranking.recommendations:
        return []
    lines = [_source_sentence(ranking), *([] if matrix else _fresh_sentences(ranking)), *_detection_sentences(ranking)]
    if request.plan is not None:
        lines += plan_sentences(request.plan)
    if request.central is not None:
        lines += central_sentences(request.central, ranking.best.protocol, request.protocols)
    lines += removal_sentences(request.removals)
    if request.threat is not None:
        lines += threat_sentences(ranking)
    lines += _other_users_sentences(ranking)
    if not ranking.resolved and request.collected is None and ranking.source != "grid":
        lines.append(
            f"Not settled after {ranking.repetitions} repetitions: some pairs in the first tier may be more than 5 % "
            "worse than the lowest error; --max-reps adds repetitions."
        )
    if request.assumptions:
        lines.append("Assumed: " + "; ".join(request.assumptions) + ".")
    return [Sentence(line, Role.NOTE) for line in lines]


def _source_sentence(ranking: Ranking) -> str:
    request = ranking.request
    if ranking.source == "grid":
        return _prediction_sentence(ranking)
    if request.collected is not None:
        return _populations_sentence(request)
    extra = f" (up to {ranking.repetitions} for the leading pairs)" if ranking.repetitions > request.repetitions else ""
    return (
        f"Simulated from {request.sample}: {setting_text(request)}, {request.repetitions} repetitions{extra}, seed "
        f"{request.seed}; intervals are 95 %."
    )


def _fresh_sentences(ranking: Ranking) -> list[str]:
    if not ranking.best.fresh:
        return []
    return [
        f"The error above the table comes from {ranking.best.repetitions} fresh repetitions, because a pair that "
        "is chosen by its error tends to be a lucky one. In the table, `to best` compares pairs on the repetitions "
        "that they share."
    ]


def _prediction_sentence(ranking: Ranking) -> str:
    from knowledge.model import simulated_populations  # only look-ups have a use for it

    origins = {row.origin for row in ranking.recommendations}
    how = " and ".join(origin for origin in ("asymptotic", "extrapolated") if origin in origins)
    beyond = f", {how} beyond them" if how else ""
    more = "" if ranking.request.labels else " A sample, or --shape, says more about your data."
    return (
        f"Predicted for {ranking.request.sample}, not simulated: {setting_text(ranking.request)}; by a model fitted "
        f"to {simulated_populations(ordered=ranking.request.ordered):,} simulated populations{beyond}; intervals are "
        f"95 % of the prediction.{more}"
    )


def _populations_sentence(request: Request) -> str:
    count = 1 if request.populations is None else len(request.populations)
    if request.judged:
        return (
            f"Judged by {count} draws of the frequencies that may be behind the estimate in {request.sample}: "
            f"{setting_text(request)}; seed {request.seed}; intervals are 95 % of what they may be."
        )
    each = request.repetitions // count
    collections = "1 collection" if each == 1 else f"{each} collections"
    what = (
        f"{count} populations that may be behind it (surrogate {request.surrogate}), {collections} from each"
        if count > 1
        else f"one population taken for the truth behind it (surrogate {request.surrogate}), {collections}"
    )
    made = MADE.get(request.surrogate or "", "") if count > 1 else ""
    unsure = "the truth is mostly rougher, so errors may be higher; intervals hold 95 % of them, without probabilities"
    sure = f"{made}; {unsure}" if made else "intervals are 95 %"
    return (
        f"Simulated from the estimate in {request.sample}: {setting_text(request)}; {what}, seed {request.seed}; "
        f"{sure}."
    )


def _detection_sentences(ranking: Ranking) -> list[str]:
    smallest, request = ranking.detectable_frequency, ranking.request
    if smallest is None:
        return []
    name = protocol_text(ranking.best.protocol)
    level = f"power 80 %, level 5 % over all {request.k:,} categories"
    if smallest > 1:
        return [f"{name} can detect no frequency, not even 1 ({level})."]
    return [
        f"Smallest frequency {name} can detect: {number(smallest, 3)}, that is {users(smallest * request.n)} users "
        f"({level})."
    ]


def detail_sentences(ranking: Ranking) -> list[str]:
    """Return what is said on request of a ranking that is worth it: the users it saves, one category that is named."""
    best, n, worth = ranking.best, ranking.request.n, ranking.rows[0].equivalent_users
    lines = []
    if worth is not None and best.method != "none" and ranking.verdict != USELESS:
        ratio, same = worth / n, users(worth)
        lines.append(
            f"Post-processing is worth {times(ratio)} the users: the raw estimate would need {same} for the same mean "
            "squared error."
            if ratio >= 1
            else f"This post-processing raises the mean squared error: {same} users would do as well without it."
        )
    protocol = ranking.request.oracle(best.protocol)
    if protocol.linear is not None and (single := smallest_detectable(protocol, n, 1)) <= 1:
        lines.append(
            f"For one category that is named beforehand, the smallest frequency is {number(single, 3)}, that is "
            f"{users(single * n)} users (power 80 %, level 5 %)."
        )
    return lines


def next_round_sentence(ranking: Ranking) -> str:
    """Return what the second table is, and what it says."""
    best, collected = ranking.best, ranking.request.collected
    now = "" if collected is None else collected.protocol
    same = any(row.protocol == now for row in ranking.ties)
    pair = pair_text(best.protocol, best.method)
    used = protocol_text(now)
    answer = f"{used} is in the first tier again" if same else f"{pair} would do better than {used}"
    figure = f"{ranking.metric} error {error_with_margin(best, ranges=ranking.over_populations)}"
    return (
        f"For the next round, with the same ε, k and n: {answer}. Top pair: {pair}, {figure}, from "
        f"{ranking.repetitions} collections."
    )


def _other_users_sentences(ranking: Ranking) -> list[str]:
    """Return the pairs for other numbers of users, and which numbers are too few for any."""
    useful = [other for other in ranking.other_users if other.verdict != USELESS]
    few = [f"{other.n:,}" for other in ranking.other_users if other.verdict == USELESS]
    lines = []
    if useful:
        changes = [
            other
            for before, other in zip([None, *useful[:-1]], useful, strict=True)
            if other.pair != ranking.best.pair and (before is None or before.pair != other.pair)
        ]
        answers = "; with ".join(
            f"{other.n:,} users {'it' if place else 'the answer'} would be {pair_text(*other.pair)}"
            for place, other in enumerate(changes)
        )
        first, last = useful[0].n, useful[-1].n
        span = f"From n = {first:,} to {last:,}" if first < last else f"With n = {first:,}"
        lines.append(
            f"With {answers}." if changes else f"{span} no other pair is predicted to be more than 5 % better."
        )
    if few:
        lines.append(f"With {' or '.join(few)} users a collection is predicted to be no better than no data.")
    return lines


def why_sentences(why: Why, ranking: Ranking | None = None) -> list[str]:
    """Return an explanation in sentences; of a look-up, first why its first pair is the answer."""
    from knowledge.why import disagreement  # only look-ups have a use for it

    path = "; ".join(why.steps) or "one rule serves all cases"
    lines = []
    if ranking is not None:
        lowest = ranking.best is ranking.lowest
        reason = "has the lowest predicted error" if lowest else WITHIN.format(pair_text(*ranking.lowest.pair))
        lines.append(f"Why: {pair_text(*ranking.best.pair)} {reason}.")
    if ranking is None:
        lines.append(f"The rules of the decision tree: {path}: there {why.method} is best on average.")
    elif why.agrees:
        lines.append(f"The rules of the decision tree agree: {path}: there {why.method} is best on average.")
    else:
        lines.append(f"The rules of the decision tree see less: {path}: there {why.method} is best on average.")
        lines.append(disagreement(why.method, why.ratio))
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
