"""A request about an estimate that was collected: populations stand for the truth, which is not known."""

from __future__ import annotations

import numpy as np

from advisor.checks import choice
from advisor.errors import InputError, listed
from advisor.question.collected import POSITIVE_PART
from advisor.question.constraints import bounded, constrained
from advisor.question.fitting import checked_threat, fitting_methods, fitting_metrics, fitting_protocols, known_targets
from advisor.question.question import Question
from advisor.question.request import BOOTSTRAP, CURVES, Collected, Request
from advisor.question.settings import EVERY
from simulator import PROTOCOLS, Noise, frequency_oracles
from simulator._types import FloatArray
from simulator.foreign import REGISTERED
from simulator.methods import Observed
from simulator.populations import apportion
from simulator.seeding import rng_for
from simulator.surrogate import (
    DEFAULT,
    SURROGATES,
    bootstrap_populations,
    curve_populations,
    draws_of,
    known_frequencies,
    surrogate_populations,
)

# Populations that are no draws from a posterior: how many there are at most, and the collections simulated from each
SIMULATED, COLLECTIONS = 60, 4
NEXT_ROUND = 20  # repetitions for protocols that were not used, or of all where the draws say how far each method errs


def build_estimate_request(
    question: Question, collected: Collected, *, name: str, surrogate: str | None = None, column: str = ""
) -> Request:
    """Join a question and an estimate that was collected, and draw the populations that may be behind it.

    name, column: what the file is called, and what it calls the categories.

    Raises InputError if a metric, a method or the surrogate that was asked for does not fit.
    """
    _check_clipped(question, collected)
    k, n, seed = len(collected.labels), collected.n, question.simulation.seed
    kind = check_surrogate(surrogate, collected.protocol, collected.observed, ordered=collected.ordered)
    metrics, notes = fitting_metrics(question.terms, collected.ordered)
    values = question.terms.metric_settings.resolved(k, collected.labels)
    from_posterior = kind == DEFAULT and question.threat.threat is None
    draws = draws_of(k) if from_posterior else min(draws_of(k), SIMULATED)
    repetitions = question.simulation.repetitions or (NEXT_ROUND if from_posterior else draws * COLLECTIONS)
    frequencies = _frequencies_behind(collected, kind, seed, draws if from_posterior else min(draws, repetitions))
    populations = np.stack([apportion(row, n) for row in frequencies])
    whole = -(-repetitions // len(populations)) * len(populations)
    repetitions = min(repetitions, len(populations)) if from_posterior else whole
    request = Request(
        epsilon=question.epsilon,
        k=k,
        n=n,
        metrics=metrics,
        protocols=fitting_protocols(question.menu, collected.ordered),
        methods=fitting_methods(question.menu, metrics, collected.ordered, question.threat, k=k, reports=False),
        ordered=collected.ordered,
        labels=collected.labels,
        counts=apportion(frequencies.mean(axis=0), n),
        sample=name,
        sample_users=n,
        seed=seed,
        repetitions=repetitions,
        max_repetitions=repetitions,
        metric_values=values,
        assumptions=(*collected.assumptions, *notes, *values.assumptions(metrics)),
        warnings=collected.warnings,
        source="surrogate",
        surrogate=kind,
        populations=populations,
        collected=collected,
        threat=checked_threat(question.threat, n, instant=False),
        targets=known_targets(question.threat, collected.labels),
        column=column,
        judged=from_posterior and len(populations) > 1,
        summaries=from_posterior and len(populations) > 1 and _whole_menu(question),
    )
    return bounded(constrained(request, question.limits))


def _whole_menu(question: Question) -> bool:
    """Return whether the best method is asked for: who names methods compares those, and a threat is about each.

    Summaries are never unbiased.
    """
    return question.threat.threat is None and not question.menu.method and not question.limits.unbiased


def _frequencies_behind(collected: Collected, surrogate: str, seed: int, draws: int) -> FloatArray:
    """Return frequencies ``(populations, k)`` that may be behind what was collected."""
    observed, rng = collected.observed, rng_for(seed, "surrogate", surrogate)
    if surrogate == CURVES:
        return curve_populations(observed, rng=rng, draws=draws)
    if observed.estimate is None or not isinstance(observed.covariance, Noise):
        return bootstrap_populations(collected.oracle, observed, collected.n, rng=rng, draws=draws)
    if surrogate == DEFAULT:
        ordered = collected.ordered
        return known_frequencies(observed.estimate, observed.covariance, ordered=ordered, seed=seed)[:draws]
    return surrogate_populations(
        surrogate, observed.estimate, observed.covariance, ordered=collected.ordered, rng=rng, draws=draws
    )


def _check_clipped(question: Question, collected: Collected) -> None:
    """Refuse methods of which each needs the values below 0 that an estimate has lost.

    Raises InputError if all that were named do.
    """
    named = () if EVERY in question.menu.method else question.menu.method
    if collected.given is not None and named and not {*named} & {*POSITIVE_PART, *REGISTERED}:
        raise InputError(
            f"the estimate was clipped at 0, and method {listed(named)} needs the values that were below: name one of "
            f"{listed(sorted(POSITIVE_PART), most=20)}, or give the unbiased estimate"
        )


def check_surrogate(name: str | None, protocol: str, observed: Observed | None = None, *, ordered: bool) -> str:
    """Return the name of a surrogate, the usual one if none is named, that fits the protocol and the domain.

    observed: what was collected, once it is read: until then it is open whether a caller's protocol has alike noise.

    Raises InputError if there is none of that name, or it needs an order that is not there.
    """
    if observed is None:
        alike = protocol in frequency_oracles() or protocol in REGISTERED
        estimated = protocol not in PROTOCOLS or alike or PROTOCOLS[protocol](2, 1.0).offers("estimate")
    else:
        alike, estimated = isinstance(observed.covariance, Noise), observed.estimate is not None
    if not (alike and estimated):
        only_kind = BOOTSTRAP if estimated else CURVES
        return only_kind if name is None else choice((only_kind,))(f"surrogate for {protocol}", name)
    kind = DEFAULT if name is None else choice(SURROGATES)("surrogate", name)
    if SURROGATES[kind].ordered_only and not ordered:
        raise InputError(f"surrogate {kind} needs an ordered domain: give --ordered if the order means something")
    return kind
