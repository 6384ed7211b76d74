"""``advisor.advise``: the ranking as a function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from advisor.errors import InputError, listed
from advisor.inputs.memory import estimate_in_memory
from advisor.question.collected import collect
from advisor.question.estimate_request import build_estimate_request
from advisor.question.option import refuse
from advisor.question.request import RankSettings
from advisor.question.sample import memory_request
from advisor.question.settings import (
    Categories,
    Limits,
    Menu,
    MetricSettings,
    Plurality,
    Question,
    Shape,
    Simulation,
    Threat,
    budget_alias,
    names,
)
from advisor.question.shape_request import shape_request
from advisor.rank.advice import Advice
from advisor.rank.look_up import look_up
from advisor.rank.simulate import simulated_answer


def advise(
    epsilon: float | None = None,
    *,
    metric: str = "l1",
    k: int | None = None,
    n: int | None = None,
    sample: Iterable[Any] | None = None,
    sample_counts: ArrayLike | Mapping[Any, int] | None = None,
    estimate: ArrayLike | Mapping[Any, float] | None = None,
    protocol: str | Sequence[str] | None = None,
    method: str | Sequence[str] | None = None,
    ordered: bool | None = None,
    repetitions: int | None = None,
    max_repetitions: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
    top_values: int | None = None,
    set_share: float | None = None,
    kl_mix: float | None = None,
    surrogate: str | None = None,
    skew: float | None = None,
    shape: str | None = None,
    instant: bool = False,
    max_bits: int | None = None,
    max_attack: float | None = None,
    proper: bool = False,
    unbiased: bool = False,
    server_cost: int | None = None,
    threat: float | None = None,
    attributes: int | None = None,
    rounds: int | None = None,
    solution: str | None = None,
    eps: float | None = None,
) -> Advice:
    """Rank every protocol and post-processing method for a collection like the sample, or those for an estimate.

    Without either, `k` alone is enough: the answer is predicted by the shipped model, not simulated.

    Parameters
    ----------
    epsilon
        Privacy budget of one report; ``eps`` is the same.
    metric
        Error metric, by its name in `simulator.METRICS` or a paper's.
    k
        Number of categories; larger than what the sample shows where categories are unobserved.
    n
        Users who will report; default: the size of the sample.
    sample
        One raw value per user.
    sample_counts
        Instead of `sample`: one count per category, or a mapping from label to count.
    estimate
        Instead of a sample, what was collected: one raw estimate per category (frequency, or count), or a mapping from
        label to estimate. `protocol` (one) and `n` say where it comes from; `Advice.next_round` compares with all
        protocols.
    protocol, method
        Restrict the menu; with an estimate, `protocol` is the one it comes from.
    ordered
        Whether the categories have an order; default: numeric labels have, other labels have not. Counts without
        labels are numbered from 0.
    repetitions, max_repetitions
        Simulated collections to start with (20), and at most (400), to resolve the top of the ranking.
    seed
        Any whole number of at least 0; the same seed gives the same numbers.
    jobs
        Threads; the numbers do not depend on it. Default: all cores for large simulations.
    top_values, set_share, kl_mix
        Settings of the metrics ``topk``, ``set`` and ``kl``/``js``.
    surrogate
        With an estimate: how populations are made that may be behind it, by name in `simulator.surrogate.SURROGATES`
        (default: ``"ensemble"``).
    skew, shape
        Without a sample or an estimate: the Zipf exponent of the frequencies (default 1), or ``"NAME[:PARAMETER]"`` of
        `simulator.populations.SHAPES`.
    instant
        Predict the answer for the sample instead of simulating.
    max_bits, max_attack, proper, unbiased, server_cost
        Constraints (see `advisor.question.settings.Limits`): pairs that do not keep them are not ranked.
    threat
        Share of the users that an attacker controls: what such an attacker gains is simulated for every pair.
    attributes, rounds
        Attributes of a user, of which the sample shows one, and collections of the same attributes. `epsilon` is then
        what a user spends in one round; ``.request.plan`` tells how it is used and what a user spends in all.
    solution
        With attributes: ``"smp"`` (each user reports one, drawn at random) or ``"spl"`` (all, splitting the budget);
        default: the one with the lower error.

    Returns
    -------
    Frozen advice; ``.best`` is the pair to use. Where constraints leave nothing, ``.recommendations`` is empty.

    Raises
    ------
    InputError
        A `ValueError` of one line, if the request is wrong.

    Examples
    --------
    >>> advice = advise(1.0, sample_counts=[5000, 3000, 1500, 500, 0, 0, 0, 0], metric="l1")
    >>> advice.best.method in {row.method for row in advice.ties}
    True
    >>> advise(1.0, k=256, metric="emd").source
    'grid'
    """
    if not isinstance(metric, str):
        raise InputError(f"metric must be the name of one metric, got {metric!r}")
    question = Question(epsilon=budget_alias(epsilon, eps), n=n, metric=(metric,))
    question.one_metric("advise")
    settings = RankSettings(
        question=question,
        metric_settings=MetricSettings(top_values, set_share, kl_mix),
        menu=Menu(() if estimate is not None else names(protocol), names(method)),
        limits=Limits(
            max_bits=max_bits, max_attack=max_attack, proper=proper, unbiased=unbiased, server_cost=server_cost
        ),
        plurality=Plurality(attributes, solution, rounds),
        threat=Threat(threat),
        simulation=Simulation(repetitions, max_repetitions, seed, jobs),
    )
    domain, assumed = Categories(k, ordered), Shape(skew, shape)
    has_sample = sample is not None or sample_counts is not None
    if estimate is not None:
        refuse(["the sample"] if has_sample else [], "does not go with an estimate: give one of the two")
        refuse(assumed.given(), "is for a question without data: leave it out, or the estimate")
        if instant:
            raise InputError("instant is for a sample: an estimate is answered by simulation")
        return _advise_on_estimate(settings, estimate, names(protocol), domain, surrogate)
    if surrogate is not None:
        raise InputError("surrogate goes with an estimate")
    if not has_sample:
        return Advice.of(look_up(shape_request(settings, domain, assumed))[0])
    refuse(assumed.given(), "is for a question without data: leave it out, or the sample")
    request = memory_request(settings, domain, sample, sample_counts, instant=instant)
    ranking = look_up(request)[0] if instant else simulated_answer(request, jobs=settings.simulation.jobs).first
    return Advice.of(ranking)


def _advise_on_estimate(
    settings: RankSettings,
    estimate: ArrayLike | Mapping[Any, float],
    protocols: Sequence[str],
    domain: Categories,
    surrogate: str | None,
) -> Advice:
    used = Menu(protocol=tuple(protocols)).protocol
    if len(used) != 1:
        raise InputError(f"estimate needs the one protocol it comes from: protocol, got {listed(used) or 'none'}")
    if settings.question.n is None:
        raise InputError("estimate needs n, the number of users who reported")
    labels, values = estimate_in_memory(estimate)
    collected = collect(
        labels,
        values,
        protocol=used[0],
        epsilon=settings.epsilon,
        n=settings.question.n,
        k=domain.k,
        ordered=domain.ordered,
    )
    request = build_estimate_request(settings, collected, name="estimate", surrogate=surrogate)
    return Advice.of(simulated_answer(request, jobs=settings.simulation.jobs).first)
