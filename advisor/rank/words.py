"""Sentences of a ranking."""

from __future__ import annotations

from advisor.document.model import Role, Sentence, Tone
from advisor.figures import error_text, number, percent, points, times, users
from advisor.question.budget import plan_sentences
from advisor.question.removals import nothing_left_sentence, removal_sentences
from advisor.question.request import Request
from advisor.question.units import data_text, unit_text
from advisor.rank.result import Ranking, Recommendation, Why
from advisor.rank.trade_offs import single_category_sentences
from simulator import POSTPROCESSORS, PROTOCOLS, frequency_oracles
from simulator.confidence import BOOTSTRAP
from simulator.foreign import FAILURES

UNSURE = 0.25  # probability of being the best below which a pick is no more than the first of a ranking


def pair_text(protocol: str | None, method: str | None) -> str:
    """Return a pair in a few words, by the names in the tables."""
    return f"{protocol} with {method}"


def full_names(row: Recommendation) -> str:
    """Return a pair with its full names and the size of its report."""
    protocol = getattr(PROTOCOLS[row.protocol], "title", row.protocol)
    bits = "1-bit" if row.report_bits == 1 else f"{row.report_bits:,}-bit"
    return f"{row.protocol} ({protocol}, {bits} reports) with {row.method} ({POSTPROCESSORS[row.method].title})"


def error_with_margin(row: Recommendation, *, ranges: bool = False) -> str:
    """Return the error of a row with its 95 % interval."""
    return error_text(row.error, row.error_low, row.error_high, ranges=ranges)


def answer_sentences(ranking: Ranking) -> list[Sentence]:
    """Return the answer: the pair to use, its error in the metric's unit, and how many others are as good."""
    if not ranking.recommendations:
        return [Sentence(nothing_left_sentence(ranking.request.removals), Role.ANSWER, Tone.DOUBTFUL)]
    if not ranking.beats_uniform_guess:
        lowest = pair_text(ranking.best.protocol, ranking.best.method)
        lucky = (
            "their mean happens to lie where that answer has it" if ranking.metric == "mean" else "they are too even"
        )
        return [
            Sentence(
                "Nothing is shown to beat an answer without any data: the setting is too noisy for these frequencies, "
                f"or {lucky}. First of the ranking: {lowest}, {_figure(ranking)}.",
                Role.ANSWER,
                Tone.DOUBTFUL,
            ),
            Sentence(
                "An answer without any data is 'every category is equally frequent', or 0 for all of them.", Role.DETAIL
            ),
        ]
    sure = ranking.best.probability_best is None or ranking.best.probability_best >= UNSURE
    verdict, tone = ("Use", Tone.PLAIN) if sure else ("Nothing is sure. First of the ranking:", Tone.DOUBTFUL)
    use = Sentence(f"{verdict} {full_names(ranking.best)}: {_figure(ranking)}.", Role.ANSWER, tone)
    return [use, *single_category_sentences(ranking), Sentence(_about_ties(ranking))]


def summary(ranking: Ranking) -> str:
    """Return the answer in one paragraph."""
    return " ".join(sentence.text for sentence in answer_sentences(ranking))


def _figure(ranking: Ranking) -> str:
    metric, best, bins = ranking.metric, ranking.best, ranking.request.bins
    unit = unit_text(metric, bins) + data_text(metric, best.error, bins)
    return f"{metric} error {error_with_margin(best, ranges=ranking.over_populations)} ({unit})"


def _about_ties(ranking: Ranking) -> str:
    """Return how many others are as good as the first row, and why it is first."""
    best, ties = ranking.best, ranking.ties
    what = "method" if ranking.next_round is not None else "pair"
    sure = ""
    if best.probability_best is not None:
        only = "only " if best.probability_best < UNSURE else ""
        sure = f"It is the best {what} with probability {only}{100 * best.probability_best:.0f} %. "
    if len(ranking.recommendations) == 1:
        failed = FAILURES.keys() & {*ranking.request.protocols, *ranking.request.methods}
        why = "the others failed and are left out" if failed else f"no other {what} was asked for"
        return f"{sure}There is no other {what} to compare with: {why}."
    if len(ties) == 1:
        return f"{sure}No other {what} comes within 5 % of it."
    others = f"1 other {what} is" if len(ties) == 2 else f"{len(ties) - 1} other {what}s are"
    lowest = "" if best is ranking.lowest else f" of {pair_text(ranking.lowest.protocol, ranking.lowest.method)}"
    return (
        f"{sure}{others} in the same tier: within 5 % of the lowest error{lowest}, or not separable from it. This one "
        f"is listed first because {_reason(ranking)}."
    )


def _reason(ranking: Ranking) -> str:
    """Return why the first row is listed first."""
    best, ties = ranking.best, ranking.ties
    if ranking.source == "grid":
        return _reason_of_look_up(ranking)
    level = sum(row.report_bits == best.report_bits for row in ties)
    if best is ranking.lowest:
        return "it has the lowest error" + ("" if level == len(ties) else ", and no report is shorter")
    return "its report is the shortest" if level == 1 else "no report is shorter, and of those its error is the lowest"


def _reason_of_look_up(ranking: Ranking) -> str:
    """Return why a look-up lists its first row first."""
    from knowledge.tiers import STEADY  # only look-ups have a use for it

    if ranking.best is ranking.lowest:
        return "its predicted error is the lowest"
    alike = {row.protocol for row in ranking.recommendations} <= {*frequency_oracles()}
    if alike and ranking.best.method == STEADY[ranking.metric]:
        return f"{ranking.best.method} is best for {ranking.metric} on average, and no other is clearly better here"
    return "its predicted error is within 1 % of the lowest, and none of those has a shorter report"


def worth_sentences(ranking: Ranking) -> list[Sentence]:
    """Return what the answer means in users: the error of a category, and what post-processing is worth."""
    if not ranking.recommendations or not ranking.beats_uniform_guess:
        return []
    best, n, users_alike = ranking.best, ranking.request.n, ranking.rows[0].equivalent_users
    lines = []
    if best.mean_absolute_error is not None:
        error = best.mean_absolute_error
        lines.append(f"Expect each category to be off by about {users(error * n)} of {n:,} users ({points(error)}).")
    if users_alike is not None and best.method != "none":
        ratio, same = users_alike / n, users(users_alike)
        lines.append(
            f"Post-processing is worth {times(ratio)} the users: the raw estimate would need {same} for the same mean "
            "squared error."
            if ratio >= 1
            else f"This post-processing raises the mean squared error: {same} users would do as well without it."
        )
    return [Sentence(line) for line in lines]


def setting_text(request: Request) -> str:
    """Return what was asked, in a line."""
    order = "ordered" if request.ordered else "unordered"
    return f"ε = {request.epsilon:g}, k = {request.k:,} {order} categories, n = {request.n:,}"


def note_sentences(ranking: Ranking) -> list[Sentence]:
    """Return what stands below the table: how it was measured, what was assumed, what can be seen at all."""
    request = ranking.request
    if not ranking.recommendations:
        return []
    lines = [_source_sentence(ranking), *_fresh_sentences(ranking), *_detection_sentences(ranking)]
    if request.plan is not None:
        lines += plan_sentences(request.plan)
    lines += removal_sentences(request.removals)
    if request.threat is not None:
        lines.append(_threat_sentence(request))
    if ranking.other_users:
        lines.append(_other_users_sentence(ranking))
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
        f"The error in the first sentence comes from {ranking.best.repetitions} fresh repetitions, because a pair that "
        "is chosen by its error tends to be a lucky one. In the table, all pairs share the same repetitions."
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
    each = request.repetitions // count
    collections = "1 collection" if each == 1 else f"{each} collections"
    what = (
        f"{count} populations that may be behind it (surrogate {request.surrogate}), {collections} from each"
        if count > 1
        else f"one population taken for the truth behind it (surrogate {request.surrogate}), {collections}"
    )
    bootstrap = request.surrogate == BOOTSTRAP and count > 1
    sure = _about_bootstrap(request) if bootstrap else "intervals are 95 %"
    return (
        f"Simulated from the estimate in {request.sample}: {setting_text(request)}; {what}, seed {request.seed}; "
        f"{sure}."
    )


def _about_bootstrap(request: Request) -> str:
    from simulator.surrogate.bootstrap import best_founded  # only tallies need it

    by = "" if request.collected is None else f" by {best_founded(request.collected.observed)}, which they favour"
    return (
        f"they are simulated anew from the best estimate,{by}; how far they are right was not measured, so intervals "
        "hold 95 % of them, and no probabilities are given"
    )


def _detection_sentences(ranking: Ranking) -> list[str]:
    smallest, protocol = ranking.detectable_frequency, ranking.best.protocol
    if smallest is None:
        return []
    if smallest >= 1:
        return [f"{protocol} cannot detect any frequency, not even 1 (level 5 %)."]
    count = users(smallest * ranking.request.n)
    return [
        f"Smallest frequency that {protocol} can detect: {number(smallest, 3)}, that is {count} users (level 5 %, "
        "power 50 %: half of all collections miss it)."
    ]


def _threat_sentence(request: Request) -> str:
    from simulator.poisoning import draw_targets  # only a threat needs it

    targets = draw_targets(request.k, request.seed)
    holders = float(request.counts[targets].sum() / request.counts.sum())
    fakes = max(1, round(request.threat * request.n)) if request.threat is not None else 0
    hashes = any(PROTOCOLS[name].report_kind == "hash" for name in request.protocols)
    return (
        f"Gain: an attacker who controls {fakes:,} of the n = {request.n:,} users promotes {len(targets)} "
        f"{'category' if len(targets) == 1 else 'categories'}, drawn at random, that {percent(holders)} of users hold. "
        "A gain is how much their estimates rise together when the fake users send random reports (random), or those "
        f"that help most (max.{'; with local hashing, of any hash function' if hashes else ''})."
    )


def next_round_sentence(ranking: Ranking) -> str:
    """Return what the second table is, and what it says."""
    best, collected = ranking.best, ranking.request.collected
    now = "" if collected is None else collected.protocol
    same = any(row.protocol == now for row in ranking.ties)
    pair = pair_text(best.protocol, best.method)
    answer = f"{now} is in the first tier again" if same else f"{pair} would do better than {now}"
    figure = f"{ranking.metric} error {error_with_margin(best, ranges=ranking.over_populations)}"
    return (
        f"For the next round, with the same ε, k and n: {answer}. First of the ranking: {pair}, {figure}, from "
        f"{ranking.repetitions} collections."
    )


def _other_users_sentence(ranking: Ranking) -> str:
    others = [other for other in ranking.other_users if other[1:] != ranking.best.pair]
    if not others:
        first, last = ranking.other_users[0][0], ranking.other_users[-1][0]
        return f"From n = {first:,} to {last:,} no other pair is predicted to be more than 5 % better."
    answers = "; ".join(f"with {n:,} users it would be {pair_text(*pair)}" for n, *pair in others)
    return f"The answer depends on the number of users: {answers}."


def why_sentences(why: Why) -> list[str]:
    """Return an explanation in sentences."""
    from knowledge.why import disagreement  # only look-ups have a use for it

    path = "; ".join(why.steps) or "one rule serves all cases"
    lines = [f"Why: {path}: there {why.method} is best on average."]
    if not why.agrees:
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
