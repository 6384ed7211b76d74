"""The answer in sentences: verdict, size of the error, alternatives that are worth it, and tied pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain

from advisor.answers.rank.result import Ranking, Recommendation
from advisor.answers.rank.trade_offs import NEAR, compromise
from advisor.answers.rank.verdict import MARGINAL, NOT_CERTAIN, USELESS
from advisor.figures import number, points, rounded, users, whole_percent
from advisor.members.names import UNPROCESSED, method_name, method_text, pair_text, protocol_in_full, protocol_text
from advisor.question.request import CURVES, Request
from advisor.show.model import Adjustment, Badge, Role, Sentence, Tone, Verdict, sentences
from advisor.show.rank.table import BASELINE_NAMES, error_cell
from advisor.show.sentences import MEAN_THERE, hidden_text, nothing_left_verdict, total_text, unit_after
from knowledge.deployments import DEPLOYED
from knowledge.menu import USERS
from simulator import METRICS, POSTPROCESSORS
from simulator.foreign import REGISTERED
from simulator.methods.processor import POSTERIOR_MEAN, SUMMARIES
from simulator.ranking import AS_GOOD, PRACTICAL_RATIO

MOST_CHANGES = 3  # that a verdict names
FEW = 8  # categories that a sentence names
LONG_NAME = 8  # words of a pair, from which on the name of its protocol is not explained
UNSURE = 0.25  # below this probability of being within 2 % of the best, the pick is only the first of a ranking
TIGHT = 0.02  # relative half width of an interval up to which three digits of a figure are significant
PER_CATEGORY = ("l1", "mae")  # metrics that the error of a category fully describes


def verdict(ranking: Ranking) -> Verdict:
    """Return the verdict with the pair to use, or why there is no such pair."""
    if not ranking.recommendations:
        return nothing_left_verdict(ranking.request.removals)
    best = ranking.best
    badge, text = decision(ranking)
    if len(ranking.request.metrics) > 1:
        text = f"for {ranking.metric}, {text}"
    return Verdict(
        ranking.verdict or "",
        text,
        badge,
        ranking.reasons,
        {
            "error": best.error,
            "error_low": best.error_low,
            "error_high": best.error_high,
            "error_without_data": ranking.error_without_data,
        },
        numbers=_numbers(ranking),
        changes=tuple(_changes(ranking)),
    )


def answer_sentences(ranking: Ranking) -> list[Sentence]:
    """Return the sentences after the verdict: effect of an attack, categories that are lost, and details."""
    if not ranking.recommendations:
        return []
    attacked = sentences(defence_sentences(ranking), Role.ANSWER)
    if ranking.verdict == USELESS:
        return attacked
    return [
        *attacked,
        *sentences(hidden_sentences(ranking), Role.ANSWER, Tone.DOUBTFUL),
        *sentences(_beaten_sentences(ranking), Role.ANSWER, Tone.DOUBTFUL),
        *sentences(_summary_sentences(ranking), Role.LEGEND),
    ]


def summary(ranking: Ranking) -> str:
    """Return the answer as a paragraph."""
    first = verdict(ranking)
    texts = (change.text for change in first.changes), (sentence.text for sentence in answer_sentences(ranking))
    return " ".join([first.summary, *chain(*texts)])


def hidden_sentences(ranking: Ranking) -> list[str]:
    """Return how many categories of the sample cannot be detected, and which if they are few."""
    hidden, request = ranking.undetectable, ranking.request
    if not hidden:
        return []
    names = f" ({', '.join(request.labels[place] for place in hidden)})" if len(hidden) <= FEW else ""
    return [hidden_text(len(hidden), request.k, (ranking.detectable_frequency or 0.0) * request.users, names)]


def decision(ranking: Ranking) -> tuple[Badge, str]:
    """Return the decision in a word or two, and the pair to use with the reason."""
    best = ranking.best
    collected = ranking.request.collected if ranking.of_estimate else None
    what = f"{method_text(best.method)} on this {protocol_text(collected.protocol)} estimate" if collected else ""
    name = method_text(best.method) if best.method == UNPROCESSED else method_name(best.method)
    full = f"{protocol_in_full(best.protocol, ranking.request.channels)} with {name}"
    what = what or (full if len(full.split()) <= LONG_NAME else f"{protocol_text(best.protocol)} with {name}")
    without, answer = ranking.error_without_data or 0.0, ranking.guess_without_data
    if ranking.verdict == USELESS:
        if collected is not None:
            even = "" if best.method == UNPROCESSED else f", even with {method_text(best.method)}"
            return Badge.DO_NOT_USE, f"this estimate says no more than assuming {answer}{even}."
        better = "is no better" if best.error * AS_GOOD >= without else "is not surely better"
        return Badge.DO_NOT_COLLECT, f"even {what} {better} than assuming {answer}."
    if ranking.verdict == MARGINAL and NOT_CERTAIN not in ranking.reasons:
        return Badge.ALMOST, f"{what} has {whole_percent(best.error / without)} of the error of assuming {answer}."
    if ranking.verdict == MARGINAL:
        return Badge.NOTHING_SURE, f"{what} may be no better than assuming {answer}."
    if best.probability_best is not None and best.probability_best < UNSURE:
        return Badge.NOTHING_SURE, f"{what} has the lowest expected error of several that may be best."
    tied = len(ranking.ties)
    kind = "method" if ranking.of_estimate else "pair"
    if len(ranking.recommendations) == 1:
        return Badge.USE, f"{what}: there is no other {kind} to compare with."
    if tied == 1:
        beside = [row for row in ranking.baselines if row.protocol and (row.protocol, row.method) != best.pair]
        near = any((row.ratio_to_best or math.inf) < PRACTICAL_RATIO for row in beside)
        return Badge.USE, f"{what}: no other {kind} {'asked for ' * near}comes within 5 % of its error."
    return Badge.TIED, f"{what}, {_reason(ranking)} of {tied} tied {kind}s."


def _numbers(ranking: Ranking) -> str:
    """Return the expected error and that without data: in users per category, and in the metric if that says more."""
    best, metric, request = ranking.best, ranking.metric, ranking.request
    unit = unit_after(metric, best.error, request.bins, request.unit)
    figure = f"{metric} error {error_cell(best, ranking)[0]}{unit}"
    without, error = ranking.error_without_data, best.mean_absolute_error
    no_data = "" if without is None else f"; without data {number(without, 3)}"
    if error is not None:
        per_error = request.users * error / best.error if best.error else 0.0
        tight = best.error_high - best.error_low <= 2 * TIGHT * best.error
        sampled = error * ranking.sampling
        about = users(rounded(sampled * request.users, 3 if tight else 2))
        off = f"off by {about} users a category ({points(sampled)})"
        if metric in PER_CATEGORY and per_error:
            figure = off
            no_data = "" if without is None else f"; without data {users(rounded(without * per_error, 2))}"
        else:
            figure = f"{figure}, {off}"
    if metric == "mean" and ranking.verdict == USELESS and request.skew is None:
        no_data += MEAN_THERE
    likely = best.probability_best
    chance = "" if likely is None else f"; best or within 2 % with probability {whole_percent(likely)}"
    expected = expected_if(request)
    if request.surrogate == CURVES and ranking.of_estimate and not METRICS[metric].ordered_only:
        expected = "Expected if neighbours are as alike as on a curve, more if not"
    return f"{expected}: {figure}{no_data}{chance}{total_text(request.plan)}."


def expected_if(request: Request) -> str:
    """Return the word before an expected error, with the threat that it holds under."""
    return "Expected" if request.threat is None else f"Expected if {100 * request.threat:g} % of the users are fake"


def _changes(ranking: Ranking) -> list[Adjustment]:
    """Return what would change the answer: more data or budget, a protocol in use, a proper or a simpler result."""
    changes = _worth_it_changes(ranking)
    if ranking.verdict != USELESS:
        changes += [*_proper_changes(ranking), *_deployed_changes(ranking), *_single_category_changes(ranking)]
    return [*changes, *_other_users_changes(ranking)][:MOST_CHANGES]


def _worth_it_changes(ranking: Ranking) -> list[Adjustment]:
    """Return the users or the budget with which a collection would be worth it, and the command that plans it."""
    instead = ranking.worth_it_with
    if instead is None:
        return []
    goal = f"half of the error without data ({ranking.metric} {instead.target:g})"
    reaching = []
    if instead.n is not None:
        n = int(_above(instead.n, ranking.request.n))
        reaching.append((f"{enough(n)} users are predicted to reach {goal}.", {"n": f"{n}"}))
    if instead.epsilon is not None:
        epsilon = f"{_above(instead.epsilon, ranking.request.epsilon):.6g}"
        reaching.append((f"ε = {epsilon} is predicted to reach {goal}.", {"eps": epsilon}))
    nothing = (
        "No number of users and no ε is predicted to reach" if instead.predicted else "No prediction says what reaches"
    )
    reaching = reaching or [(f"{nothing} {goal}.", {})]
    return [Adjustment(text, "" if place else instead.command, values) for place, (text, values) in enumerate(reaching)]


def enough(n: int) -> str:
    """Return a predicted number of users: at most the least that predictions cover."""
    return f"{'At most' if n <= USERS[0] else 'About'} {users(n)}"


def _above(value: float, asked: float) -> float:
    """Return a value with two digits, or as many as it takes to be more than what was asked.

    >>> _above(1.24, 1.0), _above(1.024, 1.0)
    (1.2, 1.02)
    """
    return next((figure for digits in range(2, 7) if (figure := rounded(value, digits)) > asked), value)


def _other_users_changes(ranking: Ranking) -> list[Adjustment]:
    """Return the nearest other number of users that has another answer."""
    others = [
        other
        for other in ranking.other_users
        if (other.verdict == USELESS) != (ranking.verdict == USELESS)
        or (other.verdict != USELESS and other.pair != ranking.best.pair)
    ]
    if not others:
        return []
    near = min(others, key=lambda other: abs(math.log(other.n / ranking.request.n)))
    guess = "a guess without data would do as well"
    answer = guess if near.verdict == USELESS else f"the answer is {pair_text(*near.pair)}"
    return [Adjustment(f"With {near.n:,} users {answer}.", f"--n {near.n}", {"n": f"{near.n}"})]


def _beaten_sentences(ranking: Ranking) -> list[str]:
    """Return the baselines that beat the caller's member, which is first only because it has no competitor."""
    if REGISTERED.keys().isdisjoint(ranking.best.pair):
        return []
    return [
        f"{pair_text(row.protocol, row.method)}, the {BASELINE_NAMES[row.kind]}, is not among the pairs asked for and "
        f"has {whole_percent(1 - row.ratio_to_best)} less error."
        for row in ranking.baselines
        if row.protocol and row.method and row.ratio_to_best and row.ratio_to_best < 1 / AS_GOOD
    ]


def _summary_sentences(ranking: Ranking) -> list[str]:
    """Return an explanation of summaries, and the extra error of the best method instead."""
    best, alone, populations = ranking.best, ranking.best_alone, ranking.request.populations
    if best.method not in SUMMARIES or alone is None or not alone.ratio_to_best or not best.ratio_to_best:
        return []
    draws = 0 if populations is None else len(populations)
    what = "mean" if best.method == POSTERIOR_MEAN else "median"
    return [
        f"It is, for each category, the {what} of {draws} draws of the frequencies that may be behind the estimate.",
        f"{method_name(alone.method)}, the best method without such draws, has {_more(alone, best)}.",
    ]


def _more(row: Recommendation, best: Recommendation, nothing: str = "no more than 1 % more error") -> str:
    """Return how much more error a row has than another; `nothing` if it is less than 1 %."""
    more = max(0.0, (row.ratio_to_best or 0.0) / (best.ratio_to_best or 1.0) - 1)
    return f"{whole_percent(more)} more error" if more >= AS_GOOD - 1 else nothing


def _proper_changes(ranking: Ranking) -> list[Adjustment]:
    """Return a method whose frequencies sum to 1, if those of the pair do not."""
    total = ranking.total
    if total is None:
        return []
    text = f"Its frequencies sum to {number(total)}, not to 1"
    proper = next((row for row in ranking.recommendations if POSTPROCESSORS[row.method].is_proper), None)
    if proper is None:
        return [Adjustment(f"{text}.")]
    more = _more(proper, ranking.best)
    return [
        Adjustment(f"{text}; those of {method_name(proper.method)} do, with {more}.", "--proper", {"proper": "yes"})
    ]


def _reason(ranking: Ranking) -> str:
    """Return the reason to use the first row of several that are tied."""
    best, named = ranking.best, ranking.best.pair == ranking.tree
    near = [row for row in ranking.ties if (row.ratio_to_best or 1.0) < PRACTICAL_RATIO]
    if best is ranking.lowest and not (named and min(row.report_bits for row in near) < best.report_bits):
        return "the lowest error"
    if best.probability_best is not None:
        return "the plainest"
    if named:
        return "the decision tree's choice"
    if best.report_bits == min(row.report_bits for row in ranking.ties):
        return "the cheapest report"
    return "the cheapest report within 5 %," if ranking.source == "grid" else "the cheapest precise report"


def _deployed_changes(ranking: Ranking) -> list[Adjustment]:
    """Return a protocol in use by a product that is nearly as good, if the first row's protocol is not in use."""
    best = ranking.best
    if ranking.request.collected is not None or best.protocol in DEPLOYED or not best.ratio_to_best:
        return []
    rows = (row for row in ranking.recommendations if row.protocol in DEPLOYED and row.ratio_to_best)
    near = min(rows, key=lambda row: row.ratio_to_best or 0.0, default=None)
    if near is None or (near.ratio_to_best or 0.0) >= PRACTICAL_RATIO * best.ratio_to_best:
        return []
    text = f"{pair_text(*near.pair)} runs in {DEPLOYED[near.protocol]} and has {_more(near, best, 'no more error')}."
    return [Adjustment(text, "--deployable", {"deployable": "yes"})]


def _single_category_changes(ranking: Ranking) -> list[Adjustment]:
    """Return the accuracy for single categories that the first pair gives up for the whole distribution."""
    single = ranking.single_categories
    if single is None:
        return []
    pair, less = pair_text(single.protocol, single.method), whole_percent(1 - 1 / single.ratio)
    return [Adjustment(f"For single categories, not the whole distribution: {pair}, {less} less error per category.")]


def defence_sentences(ranking: Ranking) -> list[str]:
    """Return the error without and under the attack, with the choice and with what would be the choice without it."""
    defence, metric, best = ranking.defence, ranking.metric, ranking.best
    if defence is None:
        return []
    usual = pair_text(defence.protocol, defence.method)
    if best.pair == (defence.protocol, defence.method):
        lines = [
            f"It is also the choice if nobody attacks: {metric} error {number(defence.unattacked)} then, and "
            f"{number(defence.attacked)} under the attack."
        ]
    else:
        lines = [
            f"{usual}, the choice if nobody attacks, has the {metric} error {number(defence.unattacked)} then, and "
            f"{number(defence.attacked)} under the attack; {pair_text(*best.pair)} has {number(defence.best_attacked)} "
            f"under the attack, and {number(defence.best_unattacked)} if nobody attacks.",
            *_either_way(ranking),
        ]
    if "suspects" in POSTPROCESSORS[best.method].needs:
        lines.append(
            "It needs the reports one by one, and finds only fake users who promote several categories at once."
        )
    return lines


def _either_way(ranking: Ranking) -> list[str]:
    """Return the pair with the lowest error in the worse of both cases, if it is another pair."""
    cases = {row: max(row.error, row.error_unattacked or 0.0) for row in ranking.recommendations}
    safest = min(cases, key=lambda row: cases[row])
    if safest.pair == ranking.best.pair or cases[safest] * PRACTICAL_RATIO > cases[ranking.recommendations[0]]:
        return []
    return [
        f"If you do not know whether anybody attacks, {pair_text(*safest.pair)} is the safest: {ranking.metric} error "
        f"{number(safest.error)} under the attack, and {number(safest.error_unattacked or 0.0)} without."
    ]


def compromise_sentences(rankings: Sequence[Ranking]) -> list[Sentence]:
    """Return the pair that is good for all requested metrics."""
    best = compromise(rankings)
    if best is None:
        return []
    which = "both" if len(rankings) == 2 else f"all {len(rankings)} metrics"
    pair, (metric, worst) = pair_text(best.protocol, best.method), best.worst
    if best.first:
        return [Sentence(f"{pair} is the first choice for {which}.", Role.ANSWER)]
    how = "In the first tier" if best.in_first_tier else "Good" if worst <= NEAR else "Nearest to good"
    figures = f"at most {number(worst, 3)} times the lowest error of each (that much for {metric})"
    return [Sentence(f"{how} for {which}: {pair}, {figures}.", Role.ANSWER)]
