"""The request of a ranking: a question, joined with the frequencies that it is about."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from advisor.errors import listed
from advisor.question.central import central_budgets
from advisor.question.constraints import allowed, bounded, constrained, fitting_pairs
from advisor.question.fitting import checked_threat, fitting_methods, fitting_metrics, fitting_protocols, known_targets
from advisor.question.frequencies import Frequencies, assumed_frequencies
from advisor.question.plurality import make_plan
from advisor.question.question import Question
from advisor.question.request import Request
from advisor.question.sample import simulated_frequencies
from advisor.question.settings import N_MAX, Limits
from knowledge.describe.assumption import USERS
from knowledge.predict import predicted_metrics
from simulator import PROTOCOLS
from simulator.populations import apportion
from simulator.seeding import rng_for
from simulator.surrogate import sample_posterior

REPETITIONS, LEAST_REPETITIONS = (20, 400), (5, 20)  # at the start and at most, of small domains and of the largest
FULL_RACE_DOMAIN = 4096  # above it repetitions fall as 1/k: a mean over many categories is known after a few
CLIPPED = "post_pos changes the answers of queries; for single categories it is base_pos, which is ranked"
FAR_SMALLER = 10  # a sample this many times smaller than n is not taken for the truth


def ranking_requests(question: Question) -> tuple[Request, ...]:
    """Return the request at each budget; a sample is read once, and a shape that is simulated stands for one.

    Raises InputError if the sample, or what is asked of it, is wrong.
    """
    if question.sample is None and question.is_predicted:
        frequencies = assumed_frequencies(question, question.terms.metrics, simulated=False)
    else:
        frequencies = simulated_frequencies(question, question.terms.metrics)
        frequencies = replace(frequencies, users=frequencies.users or question.terms.n or USERS)
    return tuple(ranking_request(single, frequencies) for single in question.each)


def ranking_request(question: Question, frequencies: Frequencies) -> Request:
    """Join a question at one budget and frequencies: those of a sample, or of a shape, for which all is predicted.

    Raises InputError if a metric or method that was asked for does not fit the domain.
    """
    k, ordered, seed = frequencies.k, frequencies.ordered, question.simulation.seed
    instant = question.instant.instant or frequencies.users is None
    everyone = question.terms.n or frequencies.users or USERS
    users = frequencies.users or everyone
    menu = fitting_protocols(question.menu, ordered, instant=instant)
    central = central_budgets(question.promise, menu, k, everyone)
    epsilon = question.epsilon if central is None else central.anyone
    shares = np.asarray(frequencies.weights, dtype=np.float64) / frequencies.weights.sum()
    kept = allowed(menu, question.limits, k, epsilon, everyone)
    plan = make_plan(question.plurality, epsilon, kept, shares, everyone)
    n = everyone if plan is None else plan.reports
    small = users * FAR_SMALLER <= n and not instant
    predictable = predicted_metrics(ordered=ordered) if instant else None
    metrics, notes = fitting_metrics(question.terms, ordered, predictable=predictable)
    values = question.terms.metric_settings.resolved(k, frequencies.labels)
    methods = fitting_methods(question.menu, metrics, ordered, question.threat, k=None if instant else k)
    notes += [CLIPPED] if "post_pos" in question.menu.method and "post_pos" not in methods else []
    named = question.terms.n is not None
    size_notes, warnings = _about_size(frequencies, everyone, named=named, small=small, n=n)
    first, most = (0, 0) if instant else _repetitions(question, k, small=small)
    assumed = [*frequencies.assumptions, *notes, *values.assumptions(metrics), *size_notes]
    assumed += [f"{name}: {text}" for name in menu if (text := PROTOCOLS[name].assumed)]
    if not instant and question.simulation.max_repetitions is None and k > FULL_RACE_DOMAIN:
        assumed.append(f"at most {most} repetitions, because k is large (--max-reps says otherwise)")
    request = Request(
        epsilon=epsilon if plan is None else plan.epsilon_report,
        k=k,
        n=min(n, N_MAX),
        metrics=metrics,
        protocols=menu,
        methods=methods,
        ordered=ordered,
        labels=frequencies.labels,
        counts=frequencies.counts(n),
        sample=frequencies.name,
        sample_users=frequencies.users or n,
        seed=seed,
        repetitions=first,
        max_repetitions=most,
        metric_values=values,
        assumptions=tuple(assumed),
        warnings=(*frequencies.warnings, *warnings, *(() if central is None else central.warnings)),
        source="grid" if instant else "surrogate" if small else "simulation",
        surrogate="dirichlet" if small else None,
        populations=_behind_the_sample(frequencies, n, most, seed) if small else None,
        skew=frequencies.skew,
        threat=checked_threat(question.threat, n, instant=instant),
        targets=known_targets(question.threat, frequencies.labels),
        plan=plan,
        bins=frequencies.bins,
        central=central,
        column=frequencies.column,
        data_words=question.data_words,
    )
    request = bounded(constrained(request, question.limits))
    if replace(question.limits, deployable=False) != Limits():  # a plan knows no others: it is told what they left
        left = replace(question.menu, protocol=request.protocols, method=request.methods)
        request = replace(request, data_words=replace(question, menu=left).data_words)
    alone = [
        name for name in question.menu.protocol if name in request.protocols and not fitting_pairs(request, [name])
    ]
    if not alone or len(alone) == len(request.protocols):
        return request
    text = f"{listed(alone)} is not compared: no method asked for goes with it ({listed(request.methods)})"
    return replace(request, warnings=(*request.warnings, text))


def _repetitions(question: Question, k: int, *, small: bool) -> tuple[int, int]:
    """Return the repetitions at the start, and their maximum: the given options, or what domains of this size need.

    small: whether each repetition has another population, one of those a small sample may come from.
    """
    share = min(1.0, FULL_RACE_DOMAIN / k)
    first, most = (max(least, int(share * full)) for full, least in zip(REPETITIONS, LEAST_REPETITIONS, strict=True))
    return question.simulation.race(REPETITIONS[0] if small else first, most)


def _about_size(
    frequencies: Frequencies, everyone: int, *, named: bool, small: bool, n: int
) -> tuple[list[str], tuple[str, ...]]:
    """Return what is assumed of the number of users, and what is worrying about a sample that is smaller."""
    users = frequencies.users
    if not named:
        return ["n as in the sample (--n)" if frequencies.labels else f"n = {everyone:,} users (--n)"], ()
    if users in (n, None):
        return [], ()
    assumed = [f"the frequencies of the sample's {users:,} users stand for those of n = {n:,}"]
    if small:
        return assumed, (
            f"the sample ({users:,} users) is far smaller than n = {n:,}: what it leaves open is simulated too, with "
            "populations drawn from its Dirichlet posterior",
        )
    return assumed, frequencies.too_few_for(n)


def _behind_the_sample(frequencies: Frequencies, n: int, draws: int, seed: int) -> NDArray[np.int64]:
    """Return one population of n users for each repetition, drawn from the posterior of a small sample."""
    counts, rng = np.asarray(frequencies.weights, dtype=np.int64), rng_for(seed, "surrogate", "dirichlet")
    return np.stack([apportion(row, n) for row in sample_posterior(counts, draws, rng, ordered=frequencies.ordered)])
