"""Sentences that several answers share, each kind defined once."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.answers.epsilon import Meaning, Shuffled
from advisor.answers.rank.verdict import NOTHING_LEFT
from advisor.figures import number, percent, users
from advisor.inputs.bins import Bins, edge_text
from advisor.members.names import protocol_in_full
from advisor.question.central import Central, Guarantee
from advisor.question.plan import PlanQuestion
from advisor.question.plurality import BudgetUse
from advisor.question.request import Removal, nothing_left_reasons
from advisor.show.model import Adjustment, Badge, Verdict
from simulator import METRICS

MEAN_THERE = ", as the mean happens to lie there"  # of a guess without data


def domain_text(k: int, *, ordered: bool) -> str:
    """Return the size of a domain, and whether it has an order."""
    return f"k = {k:,} {'ordered' if ordered else 'unordered'} categories"


def promise_text(epsilon: float | None, guarantee: Guarantee | None) -> str:
    """Return the budget of a report, or what a shuffler guarantees instead."""
    return f"ε = {epsilon:g}" if guarantee is None else guarantee.text


def term_text(question: PlanQuestion) -> str:
    """Return what a plan is given, users or a promise."""
    return promise_text(question.epsilon, question.shuffled) if question.n is None else f"n = {question.n:,}"


def assumed_sentences(assumptions: Iterable[str]) -> list[str]:
    """Return the assumptions as a sentence; nothing without assumptions."""
    joined = "; ".join(assumptions)
    return [f"Assumed: {joined}."] if joined else []


def hidden_text(hidden: int, k: int, least: float, names: str = "") -> str:
    """Return how many categories are rarer than can be detected, and what the verdict is about where they are most.

    least: users in the smallest category that can be detected.

    >>> hidden_text(9, 12, 863.0)
    '9 of 12 categories cannot be told from none: rarer than 863 users; the verdict is about the other 3.'
    """
    about = f"; the verdict is about the other {k - hidden:,}" if 0 < k - hidden < hidden else ""
    return f"{hidden:,} of {k:,} categories cannot be told from none: rarer than {users(least)} users{names}{about}."


def nothing_left_verdict(removals: Iterable[Removal]) -> Verdict:
    """Return the verdict where constraints left nothing to rank, with the bounds that would keep a protocol."""
    kept = [(removal.constraint, f"{removal.least:.10g}") for removal in removals if removal.least is not None]
    return Verdict(
        NOTHING_LEFT,
        nothing_left_reasons(removals),
        Badge.NOTHING_LEFT,
        changes=tuple(
            Adjustment(f"A bound of {least} keeps a protocol.", f"--{name} {least}", {name.replace("-", "_"): least})
            for name, least in kept
        ),
    )


def total_text(plan: BudgetUse | None, *, each: bool = False) -> str:
    """Return the total budget of a user over all rounds, to go on a sentence; nothing for one round.

    each: whether there are several budgets.
    """
    if plan is None or plan.rounds == 1:
        return ""
    if each:
        return f"; each user spends {plan.rounds:,} times as much in all {plan.rounds:,} rounds"
    return f"; each user spends ε = {plan.epsilon_total:g} in all {plan.rounds:,} rounds"


def attribute_sentences(plan: BudgetUse | None) -> list[str]:
    """Return how several attributes are collected; nothing for one."""
    lines = []
    if plan is not None and plan.solution is not None and plan.advantage is not None:
        how, other = f"all of them, each at ε = {plan.epsilon_report:g} (SPL)", "Sampling one attribute"
        if plan.solution == "smp":
            how = f"one of them, drawn at random, at the whole ε = {plan.epsilon_round:g} (SMP)"
            other = "Splitting the budget"
        lines.append(
            f"{plan.attributes} attributes: each user reports {how}: {plan.reports:,} reports of each. "
            f"{other} would have {plan.advantage:.2f}× the root mean squared error of the raw estimate."
        )
    return lines


def plan_sentences(plan: BudgetUse) -> list[str]:
    """Return the use of the budget, and the total budget of a user."""
    lines = attribute_sentences(plan)
    if plan.solution == "smp":
        lines.append(
            "Errors in the table are against those who report the attribute; that they are a sample is part of users "
            "off, and of the verdict."
        )
    total = ", and no more in all."
    if plan.rounds > 1:
        total = (
            f", and {plan.rounds:,} × {plan.epsilon_round:g} = {plan.epsilon_total:g} in all {plan.rounds:,} rounds "
            "(fresh noise each time; ldp-advise rounds --eps-forever compares with devices that remember)."
        )
    return [*lines, f"Budget: a user spends ε = {plan.epsilon_round:g} in a round{total}"]


def central_sentences(central: Central, best: str, protocols: Iterable[str]) -> list[str]:
    """Return the promise of a shuffler, and its conditions."""
    others = [name for name in central.generic if name in protocols]
    lines = [
        f"Promise: what leaves the shuffler keeps ε = {central.epsilon:g} and δ = {central.delta:g} between any two "
        f"values of one user. It needs all {central.n:,} users to send one honest report each. Someone who sees a "
        f"report before it is shuffled is held back by ε₀ = {central.local[best]:.4g} alone."
    ]
    if others:
        lines.append(
            f"No bound is known for {', '.join(others)} in particular: ε₀ is there what any protocol may spend."
        )
    return lines


def meaning_sentences(meaning: Meaning) -> list[str]:
    """Return the meaning of an ε in sentences."""
    size = 2 if meaning.k is None else meaning.k
    question = "a yes/no question" if size == 2 else f"{size:,} equally likely values"
    lines = [
        f"ε = {meaning.epsilon:.4g}: a report moves the odds between any two values by a factor of at most "
        f"{number(meaning.odds, 3)} (e^ε).",
        f"From one report an attacker guesses one of {question} right in at most {percent(meaning.best_guess)} of "
        f"cases; without it in {percent(meaning.prior)}."
        if size > 2
        else f"From one report an attacker guesses the answer to {question} right in at most "
        f"{percent(meaning.best_guess)} of cases; without it in 50 %.",
    ]
    if meaning.protocol is not None and meaning.protocol_guess is not None:
        guess = percent(meaning.protocol_guess)
        lines.append(f"With {protocol_in_full(meaning.protocol)} that guess is right in {guess} of cases.")
    lines.append(f"It is as private as flipping a yes/no answer with probability {percent(meaning.flip_probability)}.")
    near = "; ".join(
        f"{deployment.name} (ε = {deployment.epsilon:g} per {deployment.unit})" for deployment in meaning.deployments
    )
    nearest = f"Nearest known deployments: {near}. " if near else ""
    lines.append(f"{nearest}Budgets of several reports of one user add up.")
    return lines


def shuffled_sentences(promise: Shuffled) -> list[str]:
    """Return the promise in sentences, the answer first."""
    who = (
        "reports of any protocol" if promise.protocol is None else f"reports of {promise.protocol} (k = {promise.k:,})"
    )
    bound = f"Of any protocol at this ε₀ it would be {promise.anyone:.4g}."
    if promise.protocol is None:
        bound = "With --protocol and --k the bound is that of the protocol: it may be lower."
    return [
        f"Shuffled, {promise.n:,} {who} at ε₀ = {promise.local:g} keep central ε = {promise.central:.4g} "
        f"at δ = {promise.delta:g}.",
        bound,
        "The promise needs every user to send one honest report, and nobody to see reports before they are shuffled. "
        "For those who do, the next lines hold.",
    ]


def data_error(metric: str, error: float, bins: Bins | None) -> float | None:
    """Return an error in the unit of the data; None if the error is not in bins, or the bins differ in width."""
    if bins is None or bins.width is None or METRICS[metric].unit != "bins":
        return None
    return error * bins.width


def size_text(size: float) -> str:
    """Return a figure with three significant digits, as many as an error has.

    >>> size_text(10268.1), size_text(1.6604)
    ('10,300', '1.66')
    """
    return number(float(f"{size:.3g}"), 3)


def unit_text(metric: str, bins: Bins | None, distance: str = "bins") -> str:
    """Return the unit of a metric, with the meaning of a bin; `distance`: that of distances between categories."""
    unit = METRICS[metric].unit
    if unit != "bins":
        return unit
    if bins is None:
        return distance
    return f"bins of width {edge_text(bins.width)}" if bins.width else "bins of different widths"


def error_unit(metric: str, bins: Bins | None) -> tuple[float, str]:
    """Return the unit of the data and the size of an error of 1 in it; the metric's own unit where the data have none.

    >>> error_unit("l1", None)
    (1.0, 'frequency')
    """
    size = data_error(metric, 1.0, bins)
    return (1.0, unit_text(metric, bins)) if bins is None or size is None else (size, bins.name)


def unit_after(metric: str, error: float, bins: Bins | None, distance: str = "bins") -> str:
    """Return what follows the figure of an error: its unit, and the error in the unit of the data, if they say more."""
    unit = unit_text(metric, bins, distance)
    unit = unit.replace("bins", "bin", 1) if error == 1 else unit
    size = data_error(metric, error, bins)
    in_data = "" if bins is None or size is None else f", about {size_text(size)} {bins.phrase}"
    return "" if unit in ("", "no unit") or unit.startswith("frequency") else f" {unit}{in_data}"
