"""The answer in sentences: verdict, size of the error, what would be worth it, and who is as good."""

from __future__ import annotations

from advisor.answers.rank.result import Ranking, Recommendation
from advisor.answers.rank.verdict import MARGINAL, MOST_UNDETECTABLE, NOT_CERTAIN, NOTHING_LEFT, USELESS
from advisor.figures import error_text, number, points, rounded, users
from advisor.names import method_name, method_text, pair_text, protocol_text, protocol_with_report
from advisor.question.removals import nothing_left_sentence
from advisor.question.request import Request
from advisor.question.units import data_text, unit_text
from advisor.show.model import Role, Sentence, Tone, Verdict
from advisor.show.rank.table import BASELINE_NAMES
from advisor.show.rank.threat_words import defence_sentences, remedy_sentences
from advisor.show.rank.trade_offs import single_category_sentences
from advisor.show.sentences import total_text
from knowledge.implementations import DEPLOYED
from simulator import POSTPROCESSORS
from simulator.foreign import FAILURES, REGISTERED
from simulator.methods.summaries import POSTERIOR_MEAN, SUMMARIES
from simulator.ranking import AS_GOOD, PRACTICAL_RATIO

FEW = 8  # categories that a sentence names
UNSURE = 0.25  # probability of being within 2 % of the best below which a pick is no more than the first of a ranking
TIGHT = 0.02  # relative half width of an interval up to which three digits of a figure mean something
NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")
PER_CATEGORY = ("l1", "mae")  # metrics that the error of a category says all about


def error_with_margin(row: Recommendation, *, ranges: bool = False) -> str:
    """Return the error of a row with its 95 % interval."""
    return error_text(row.error, row.error_low, row.error_high, ranges=ranges)


def verdict(ranking: Ranking) -> Verdict:
    """Return the verdict with the pair to use, or why there is none."""
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
    """Return what follows the verdict: the error in users, what can be seen, and how many others are as good."""
    if not ranking.recommendations:
        return []
    if ranking.verdict == USELESS:
        lines = [Sentence(text, Role.ANSWER) for text in defence_sentences(ranking)]
        lines += [Sentence(text) for text in remedy_sentences(ranking)]
        return [*lines, *_worth_it_sentences(ranking)]
    return [
        *(Sentence(text, Role.ANSWER) for text in defence_sentences(ranking)),
        Sentence(_size(ranking), Role.ANSWER),
        *(Sentence(text, Role.ANSWER, Tone.DOUBTFUL) for text in hidden_sentences(ranking)),
        *(Sentence(text, Role.ANSWER) for text in _sum_sentences(ranking)),
        *(Sentence(text, Role.ANSWER, Tone.DOUBTFUL) for text in _beaten_sentences(ranking)),
        *(Sentence(text) for text in remedy_sentences(ranking)),
        *_worth_it_sentences(ranking),
        *single_category_sentences(ranking),
        Sentence(_ties(ranking), Role.NOTE),
        *(Sentence(text, Role.NOTE) for text in (*_summary_sentences(ranking), *_deployed_sentences(ranking))),
    ]


def summary(ranking: Ranking) -> str:
    """Return the answer in one paragraph."""
    return " ".join([verdict(ranking).text, *(sentence.text for sentence in answer_sentences(ranking))])


def hidden_sentences(ranking: Ranking) -> list[str]:
    """Return how many categories of the sample cannot be told from none, and which, where they are few."""
    hidden, request = ranking.undetectable, ranking.request
    if not hidden:
        return []
    named = f" ({', '.join(request.labels[place] for place in hidden)})" if len(hidden) <= FEW else ""
    least = users((ranking.detectable_frequency or 0.0) * request.n)
    one = len(hidden) == 1
    text = (
        f"{len(hidden)} of {request.k:,} categories {'is' if one else 'are'} rarer than {least} users and cannot be "
        f"told from none{named}."
    )
    left = request.k - len(hidden)
    if MOST_UNDETECTABLE not in ranking.reasons:
        return [text]
    return [f"{text} {'No category is frequent enough' if not left else f'The answer is about the other {left:,}'}."]


def _of_metric(ranking: Ranking, text: str) -> str:
    """Return the text of a verdict, with the metric in front where there are several, and what all rounds spend."""
    text += total_text(ranking.request.plan)
    return text if len(ranking.request.metrics) == 1 else f"For {ranking.metric}: {text[:1].lower()}{text[1:]}"


def _use(ranking: Ranking) -> str:
    """Return what to use, and how far that is worth it where it is marginal."""
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
    share = f"{100 * best.error / without:.0f} %"
    return (
        f"Marginal{_if_fake(ranking)}: {what} has {share} of the error of an answer without any data "
        f"({ranking.guess_without_data})."
    )


def _useless(ranking: Ranking) -> str:
    """Return that the pair that is named says no more than an answer without data."""
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
    """Return on what condition the answer holds, where fake users are feared."""
    threat = ranking.request.threat
    return "" if threat is None else f", if {100 * threat:g} % of the users may be fake"


def _error(ranking: Ranking) -> str:
    return error_with_margin(ranking.best, ranges=ranking.over_populations)


def _size(ranking: Ranking) -> str:
    """Return how large the error is: in users for each category, and in the metric where that says more."""
    best, metric, request = ranking.best, ranking.metric, ranking.request
    unit = unit_text(metric, request.bins) + data_text(metric, best.error, request.bins)
    own = _error(ranking) if unit.startswith(("frequency", "no unit")) else f"{_error(ranking)} {unit}"
    if best.mean_absolute_error is None:
        return f"Expect {metric} error {own}."
    error, n = best.mean_absolute_error, request.n
    expect = "Expect" if request.threat is None else "Under the attack, expect"
    tight = best.error > 0 and best.error_high - best.error_low <= 2 * TIGHT * best.error
    off = f"off by about {users(rounded(error * n, 3 if tight else 2))} of {n:,} users ({points(error)})"
    if metric in PER_CATEGORY:
        return f"{expect} each category to be {off}."
    return f"{expect} {metric} error {own}, and each category to be {off}."


def _beaten_sentences(ranking: Ranking) -> list[str]:
    """Return which rows to compare with beat a member of the caller's own that stands first because it stands alone."""
    if REGISTERED.keys().isdisjoint(ranking.best.pair):
        return []
    better = [
        row for row in ranking.baselines if row.protocol and row.ratio_to_best and row.ratio_to_best < 1 / AS_GOOD
    ]
    return [
        f"{pair_text(row.protocol, row.method)}, the {BASELINE_NAMES[row.kind]}, is not among the pairs asked for and "
        f"has {100 * (1 - row.ratio_to_best):.0f} % less error."
        for row in better
        if row.protocol and row.method and row.ratio_to_best
    ]


def _worth_it_sentences(ranking: Ranking) -> list[Sentence]:
    """Return what would be worth it, and the command that plans it."""
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
    """Return how many others are as good as the first row, and why it is first."""
    best = ranking.best
    about_estimate = best.probability_best is not None or ranking.next_round is not None
    what = "method" if about_estimate and ranking.request.collected is not None else "pair"
    sure = ""
    if best.probability_best is not None:
        only = "only " if best.probability_best < UNSURE else ""
        sure = f"It is within 2 % of the best {what} with probability {only}{100 * best.probability_best:.0f} %. "
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
    """Return what a summary is, and what the best method would cost instead of it."""
    best, alone, populations = ranking.best, ranking.best_alone, ranking.request.populations
    if best.method not in SUMMARIES or alone is None or not alone.ratio_to_best or not best.ratio_to_best:
        return []
    draws = 0 if populations is None else len(populations)
    what = "mean" if best.method == POSTERIOR_MEAN else "median"
    return [
        f"It is, for each category, the {what} of {draws} draws of the frequencies that may be behind the estimate.",
        f"{method_name(alone.method)}, the best method without such draws, has {_more(alone, best)}.",
    ]


def _more(row: Recommendation, best: Recommendation) -> str:
    """Return how much more error a row has than another one."""
    more = max(0.0, (row.ratio_to_best or 0.0) / (best.ratio_to_best or 1.0) - 1)
    return f"{100 * more:.0f} % more error" if more >= AS_GOOD - 1 else "no more than 1 % more error"


def _sum_sentences(ranking: Ranking) -> list[str]:
    """Return that what is named gives no frequencies that sum to 1, and what such ones would cost."""
    total = ranking.total
    if total is None:
        return []
    text = f"Its frequencies sum to {number(total)}, not to 1"
    proper = next((row for row in ranking.recommendations if POSTPROCESSORS[row.method].is_proper), None)
    if proper is None:
        return [f"{text}."]
    return [f"{text}; --proper keeps to those that do: {method_name(proper.method)} has {_more(proper, ranking.best)}."]


def _reason(ranking: Ranking, others: list[Recommendation]) -> str:
    """Return why the first row is the one to use."""
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
    """Return which protocol that runs in a product is nearly as good, where the first row's does not."""
    best = ranking.best
    if ranking.request.collected is not None or best.protocol in DEPLOYED or not best.ratio_to_best:
        return []
    rows = (row for row in ranking.recommendations if row.protocol in DEPLOYED and row.ratio_to_best)
    near = min(rows, key=lambda row: row.ratio_to_best or 0.0, default=None)
    if near is None or (near.ratio_to_best or 0.0) >= PRACTICAL_RATIO * best.ratio_to_best:
        return []
    more = max(0.0, (near.ratio_to_best or 0.0) / best.ratio_to_best - 1)
    cost = f"{100 * more:.0f} % more error" if more >= AS_GOOD - 1 else "no more error"
    return [
        f"{pair_text(*near.pair)} has {cost}, and {DEPLOYED[near.protocol]} runs {protocol_text(near.protocol)}; "
        f"{protocol_text(best.protocol)} runs in no known product. --deployable keeps to protocols that do."
    ]
