"""The answer in sentences: verdict, size of the error, alternatives that are worth it, and tied pairs."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.answers.rank.result import Defence, Ranking, Recommendation
from advisor.answers.rank.trade_offs import NAMED, NEAR, compromise
from advisor.answers.rank.verdict import MARGINAL, MOST_UNDETECTABLE, NOT_CERTAIN, NOTHING_LEFT, USELESS
from advisor.figures import number, points, rounded, users, whole_percent
from advisor.names import method_name, method_text, pair_text, protocol_text, protocol_with_report
from advisor.question.request import Request, nothing_left_sentence
from advisor.show.model import Role, Sentence, Tone, Verdict, sentences
from advisor.show.rank.table import BASELINE_NAMES, error_cell
from advisor.show.sentences import data_text, total_text, unit_text
from knowledge.deployments import DEPLOYED
from simulator import POSTPROCESSORS
from simulator.foreign import FAILURES, REGISTERED
from simulator.methods.summaries import POSTERIOR_MEAN, SUMMARIES
from simulator.ranking import AS_GOOD, PRACTICAL_RATIO

FEW = 8  # categories that a sentence names
UNSURE = 0.25  # below this probability of being within 2 % of the best, the pick is only the first of a ranking
TIGHT = 0.02  # relative half width of an interval up to which three digits of a figure are significant
NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")
PER_CATEGORY = ("l1", "mae")  # metrics that the error of a category fully describes
NO_MORE = 1.005  # ratio of two errors below which a figure would read "0 %"


def verdict(ranking: Ranking) -> Verdict:
    """Return the verdict with the pair to use, or why there is no such pair."""
    if not ranking.recommendations:
        return Verdict(NOTHING_LEFT, nothing_left_sentence(ranking.request.removals), Tone.DOUBTFUL)
    best, kind = ranking.best, ranking.verdict or ""
    useless = kind == USELESS
    sure = best.probability_best is None or best.probability_best >= UNSURE
    return Verdict(
        kind,
        _of_metric(ranking, _useless(ranking) if useless else _use(ranking)),
        Tone.PLAIN if sure and not ranking.reasons else Tone.DOUBTFUL,
        ranking.reasons,
        {
            "error": best.error,
            "error_low": best.error_low,
            "error_high": best.error_high,
            "error_without_data": ranking.error_without_data,
        },
    )


def answer_sentences(ranking: Ranking) -> list[Sentence]:
    """Return the sentences after the verdict: the error in users, detectable frequencies, and the number of ties."""
    if not ranking.recommendations:
        return []
    attacked = sentences(_defence_sentences(ranking), Role.ANSWER)
    instead = [*sentences(_remedy_sentences(ranking)), *_worth_it_sentences(ranking)]
    if ranking.verdict == USELESS:
        return [*attacked, *instead]
    return [
        *attacked,
        Sentence(_size(ranking), Role.ANSWER),
        *sentences(hidden_sentences(ranking), Role.ANSWER, Tone.DOUBTFUL),
        *sentences(_sum_sentences(ranking), Role.ANSWER),
        *sentences(_beaten_sentences(ranking), Role.ANSWER, Tone.DOUBTFUL),
        *instead,
        *sentences(_single_category_sentences(ranking)),
        *sentences((_ties(ranking), *_summary_sentences(ranking), *_deployed_sentences(ranking)), Role.NOTE),
    ]


def summary(ranking: Ranking) -> str:
    """Return the answer as a paragraph."""
    return " ".join([verdict(ranking).text, *(sentence.text for sentence in answer_sentences(ranking))])


def hidden_sentences(ranking: Ranking) -> list[str]:
    """Return how many categories of the sample cannot be detected, and which if they are few."""
    hidden, request = ranking.undetectable, ranking.request
    if not hidden:
        return []
    names = f" ({', '.join(request.labels[place] for place in hidden)})" if len(hidden) <= FEW else ""
    least = users((ranking.detectable_frequency or 0.0) * request.n)
    single = len(hidden) == 1
    text = (
        f"{len(hidden)} of {request.k:,} categories {'is' if single else 'are'} rarer than {least} users and cannot be "
        f"told from none{names}."
    )
    visible = request.k - len(hidden)
    if MOST_UNDETECTABLE not in ranking.reasons:
        return [text]
    return [
        f"{text} {'No category is frequent enough' if not visible else f'The answer is about the other {visible:,}'}."
    ]


def _of_metric(ranking: Ranking, text: str) -> str:
    """Return the text of a verdict, with the metric first if there are several, and the budget of all rounds."""
    text += total_text(ranking.request.plan)
    return text if len(ranking.request.metrics) == 1 else f"For {ranking.metric}: {text[:1].lower()}{text[1:]}"


def _use(ranking: Ranking) -> str:
    """Return the pair to use, with the reason if the verdict is marginal."""
    best, request = ranking.best, ranking.request
    collected = request.collected
    if collected is None:
        what = f"{protocol_with_report(best.protocol, best.report_bits)} with {method_text(best.method)}"
    else:
        what = f"{method_text(best.method)} on this {protocol_text(collected.protocol)} estimate"
    if best.probability_best is not None and best.probability_best < UNSURE:
        return f"Use {what}{_if_fake(ranking)}: of several that may turn out the best it has the lowest expected error."
    if ranking.verdict != MARGINAL:
        return f"Use {what}{_if_fake(ranking)}."
    without = ranking.error_without_data or 0.0
    if NOT_CERTAIN in ranking.reasons:
        return f"Use {what}, with care: it is not certain that its error is below that of an answer without any data."
    return (
        f"Marginal{_if_fake(ranking)}: {what} has {whole_percent(best.error / without)} of the error of an "
        f"answer without any data ({ranking.guess_without_data})."
    )


def _useless(ranking: Ranking) -> str:
    """Return the statement that the pair is no better than an answer without data."""
    best, without = ranking.best, ranking.error_without_data or 0.0
    figures = f"{ranking.metric} error {_error(ranking)} against {number(without)}"
    answer = ranking.guess_without_data
    if ranking.request.collected is not None:
        return (
            f"This estimate says no more than assuming {answer}, even with {method_text(best.method)} ({figures})"
            f"{_if_fake(ranking)}."
        )
    better = "is no better" if best.error * AS_GOOD >= without else "is not surely better"
    text = (
        f"Not worth collecting like this{_if_fake(ranking)}: even {pair_text(*best.pair)} {better} than assuming "
        f"{answer} ({figures})."
    )
    return f"{text} But the mean happens to lie where that answer has it." if ranking.metric == "mean" else text


def _if_fake(ranking: Ranking) -> str:
    """Return the condition of the answer if there is a threat of fake users."""
    threat = ranking.request.threat
    return "" if threat is None else f", if {100 * threat:g} % of the users may be fake"


def _error(ranking: Ranking) -> str:
    return error_cell(ranking.best, ranking)[0]


def _size(ranking: Ranking) -> str:
    """Return the size of the error: in users per category, and in the metric if that says more."""
    best, metric, request = ranking.best, ranking.metric, ranking.request
    unit = unit_text(metric, request.bins) + data_text(metric, best.error, request.bins)
    figure = _error(ranking) if unit.startswith(("frequency", "no unit")) else f"{_error(ranking)} {unit}"
    if best.mean_absolute_error is None:
        return f"Expect {metric} error {figure}."
    error, n = best.mean_absolute_error, request.n
    expect = "Expect" if request.threat is None else "Under the attack, expect"
    tight = best.error > 0 and best.error_high - best.error_low <= 2 * TIGHT * best.error
    off = f"off by about {users(rounded(error * n, 3 if tight else 2))} of {n:,} users ({points(error)})"
    if metric in PER_CATEGORY:
        return f"{expect} each category to be {off}."
    return f"{expect} {metric} error {figure}, and each category to be {off}."


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


def _worth_it_sentences(ranking: Ranking) -> list[Sentence]:
    """Return a question whose answer would be worth it, and the command that plans it."""
    request, instead = ranking.request, ranking.worth_it_with
    if instead is None:
        return []
    ways = []
    if instead.n is not None:
        budget = f"ε = {request.epsilon:g}" if request.central is None else request.central.text
        ways.append(f"about {users(rounded(instead.n, 2))} users at {budget}")
    if instead.epsilon is not None:
        ways.append(f"ε = {instead.epsilon:.2g} with {request.n:,} users")
    goal = f"half of the error without any data ({ranking.metric} {instead.target:g})"
    if ways:
        what = "A next collection" if request.collected is not None else "A collection"
        text = f"{what} would be worth it with {', or '.join(ways)}: that is predicted to reach {goal}."
    elif instead.predicted:
        text = f"Predictions find no number of users and no ε that reaches {goal}."
    else:
        text = f"How many users, or which ε, would reach {goal} is not predicted for {_data(request)}."
    return [Sentence(text, Role.ANSWER), *([Sentence(f"To plan it: {instead.command}")] if instead.command else [])]


def _data(request: Request) -> str:
    return "data like these" if request.collected is None else "populations like those behind this estimate"


def _ties(ranking: Ranking) -> str:
    """Return the number of rows tied with the first row, and why it is first."""
    best = ranking.best
    about_estimate = best.probability_best is not None or ranking.next_round is not None
    what = "method" if about_estimate and ranking.request.collected is not None else "pair"
    sure = ""
    if best.probability_best is not None:
        only = "only " if best.probability_best < UNSURE else ""
        sure = f"It is within 2 % of the best {what} with probability {only}{whole_percent(best.probability_best)}. "
    if len(ranking.recommendations) == 1:
        failed = FAILURES.keys() & {*ranking.request.protocols, *ranking.request.methods}
        why = "the others failed and are left out" if failed else f"no other {what} was asked for"
        return f"{sure}There is no other {what} to compare with: {why}."
    others = [row for row in ranking.ties if row.pair != best.pair]
    near = sum((row.ratio_to_best or 1.0) < PRACTICAL_RATIO for row in others)
    tied = len(others) - near
    if not others:
        return f"{sure}No other {what} comes within 5 % of the lowest error."
    counted = (
        f"{NUMBERS[near] if near < len(NUMBERS) else near} other {what}{'s are' if near != 1 else ' is'} within 5 %"
    )
    if not near:
        return f"{sure}{tied} other {what}{'s are' if tied != 1 else ' is'} tied with it; {_reason(ranking, others)}."
    more = f", and {tied} more {'is' if tied == 1 else 'are'} tied" if tied else ""
    return f"{sure}{counted}{more}; {_reason(ranking, others)}."


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


def _sum_sentences(ranking: Ranking) -> list[str]:
    """Return a note if the frequencies of the pair do not sum to 1, and the extra error of frequencies that do."""
    total = ranking.total
    if total is None:
        return []
    text = f"Its frequencies sum to {number(total)}, not to 1"
    proper = next((row for row in ranking.recommendations if POSTPROCESSORS[row.method].is_proper), None)
    if proper is None:
        return [f"{text}."]
    return [f"{text}; --proper keeps to those that do: {method_name(proper.method)} has {_more(proper, ranking.best)}."]


def _reason(ranking: Ranking, others: list[Recommendation]) -> str:
    """Return the reason to use the first row."""
    best = ranking.best
    bits = [row.report_bits for row in others]
    shortest = best.report_bits <= min(bits) and best.report_bits < max(bits)
    if best.probability_best is not None and best is not ranking.lowest:
        return "this one is the plainest of those that are as good"
    if best.pair == ranking.tree and best is not ranking.lowest:
        return "this one is named by the decision tree (ldp-advise knowledge rules)"
    if best is ranking.lowest:
        return f"this one has the lowest error{' and the shortest report' if shortest else ''}"
    if shortest and bits.count(best.report_bits) == sum(row.protocol == best.protocol for row in others):
        return "this one has the shortest report"
    return "this one has the report that is shortest and easiest to count"


def _deployed_sentences(ranking: Ranking) -> list[str]:
    """Return a protocol in use by a product that is nearly as good, if the first row's protocol is not in use."""
    best = ranking.best
    if ranking.request.collected is not None or best.protocol in DEPLOYED or not best.ratio_to_best:
        return []
    rows = (row for row in ranking.recommendations if row.protocol in DEPLOYED and row.ratio_to_best)
    near = min(rows, key=lambda row: row.ratio_to_best or 0.0, default=None)
    if near is None or (near.ratio_to_best or 0.0) >= PRACTICAL_RATIO * best.ratio_to_best:
        return []
    return [
        f"{pair_text(*near.pair)} has {_more(near, best, 'no more error')}, and {DEPLOYED[near.protocol]} runs "
        f"{protocol_text(near.protocol)}; {protocol_text(best.protocol)} runs in no known product. --deployable keeps "
        "to protocols that do."
    ]


def _single_category_sentences(ranking: Ranking) -> list[str]:
    """Return the accuracy for single categories that the first pair gives up for the whole distribution."""
    single = ranking.single_categories
    if single is None:
        return []
    return [
        "This is for the distribution as a whole. For single categories use "
        f"{pair_text(single.protocol, single.method)}: its error per category is "
        f"{whole_percent(1 - 1 / single.ratio)} lower."
    ]


def attack_sentences(ranking: Ranking) -> list[str]:
    """Return the effect of the choice with and without the attack, and the effect of remedies."""
    return [*_defence_sentences(ranking), *_remedy_sentences(ranking)]


def _defence_sentences(ranking: Ranking) -> list[str]:
    """Return the error without and under the attack, before and after the choice, and what the choice costs."""
    defence, metric, best = ranking.defence, ranking.metric, ranking.best
    if defence is None:
        return []
    usual, best_pair = pair_text(defence.protocol, defence.method), pair_text(*best.pair)
    if best.pair == (defence.protocol, defence.method):
        lines = [
            f"It is also the choice if nobody attacks: {metric} error {number(defence.unattacked)} then, and "
            f"{number(defence.attacked)} under the attack."
        ]
    else:
        lines = [
            f"The attack raises the {metric} error of {usual}, the best choice if nobody attacks, from "
            f"{number(defence.unattacked)} to {number(defence.attacked)}; {best_pair} keeps it at "
            f"{number(defence.best_attacked)}.",
            _cost(ranking.metric, defence),
            *_either_way(ranking),
        ]
    if "suspects" in POSTPROCESSORS[best.method].needs:
        lines.append(
            "It needs the reports one by one, and works because the fake users promote "
            f"{len(ranking.request.promoted)} categories at once: who promotes one alone does not stand out."
        )
    return lines


def _cost(metric: str, defence: Defence) -> str:
    figures = f"{metric} error {number(defence.best_unattacked)} instead of {number(defence.unattacked)}"
    more = defence.best_unattacked / defence.unattacked if defence.unattacked else 1.0
    price = f"has {more:.2g} times the error"
    if more < NO_MORE:
        price = "costs nothing"
    elif more < 2:
        price = f"costs {whole_percent(more - 1)} more error"
    return f"If nobody attacks, this choice {price}: {figures}."


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


def _remedy_sentences(ranking: Ranking) -> list[str]:
    """Return the effect of remedies compared with ordinary methods."""
    if ranking.defence is None:
        return []
    best = ranking.best
    helped = POSTPROCESSORS[best.method].is_remedy
    others = [row for row in ranking.recommendations if POSTPROCESSORS[row.method].is_remedy != helped]
    first = min(others, key=lambda row: row.error, default=None)
    if first is None:
        return []
    if helped:
        return [
            f"Without a remedy the lowest error under the attack is {number(first.error)}, that of "
            f"{pair_text(*first.pair)}."
        ]
    return [
        f"No remedy for poisoning does better here: the best of them, {pair_text(*first.pair)}, has {ranking.metric} "
        f"error {number(first.error)} under the attack."
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
    if len(rankings) <= NAMED:
        *others, last = (f"{number(ratio, 3)} times the lowest {name} error" for name, ratio in best.ratios)
        figures = f"{', '.join(others)} and {last}"
    else:
        figures = f"at most {number(worst, 3)} times the lowest error of each (that much for {metric})"
    if best.in_first_tier:
        verdict = f"In the first tier for {which}: {pair}"
    elif worst <= NEAR:
        verdict = f"Good at {which}: {pair}"
    else:
        verdict = f"No pair is within {whole_percent(NEAR - 1)} of the lowest error for {which}. Nearest to it: {pair}"
    return [Sentence(f"{verdict}, {figures}.", Role.ANSWER)]
