"""From a request to advice: simulate, rank, compare with what one would do otherwise. Pure; nothing is printed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from advisor.errors import InputError, listed
from advisor.inputs.domain import build_domain
from advisor.inputs.memory import estimate_in_memory, sample_in_memory
from advisor.names import resolve
from advisor.question.collected import collect
from advisor.question.constraints import fitting_pairs, nothing_left
from advisor.question.request import Request, build_estimate_request, build_request, check_settings, check_whole
from advisor.question.shape_request import shape_request
from advisor.rank.advice import DEFAULT_PAIR, Advice, empty_advices
from advisor.rank.assemble import estimate_advice, others_repetitions, simulated_advice
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.benchmark import Experiment, Runs, race, simulate

ALWAYS_MEASURED = ("mae", "mse")  # behind the answer in users, whatever the metric
PARALLEL_CELLS = 20_000_000  # pairs x repetitions x categories from which threads are worth their start


def advise(
    epsilon: float,
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
) -> Advice:
    """Rank every protocol and post-processing method for a collection like the sample, or those for an estimate.

    Without either, `k` alone is enough: the answer is looked up in the shipped grid, not simulated.

    Parameters
    ----------
    epsilon
        Privacy budget of one report.
    metric
        Error metric, by its name in `simulator.METRICS` or a paper's.
    k
        Domain size; larger than what the sample shows where categories are unobserved.
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
        Look the answer up for the sample instead of simulating.
    max_bits, max_attack, proper, unbiased, server_cost
        Constraints (see `advisor.question.constraints.Constraints`): pairs that do not keep them are not ranked.
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
    names = [protocol] if isinstance(protocol, str) else list(protocol or [])
    if not isinstance(metric, str):
        raise InputError(f"metric must be the name of one metric, got {metric!r}")
    if jobs is not None:
        check_whole("jobs", jobs, 1, 1024)
    settings = check_settings(
        epsilon=epsilon,
        metrics=[metric],
        protocols=names if estimate is None else [],
        methods=[method] if isinstance(method, str) else list(method or []),
        k=k,
        n=n,
        seed=seed,
        repetitions=repetitions,
        max_repetitions=max_repetitions,
        top_values=top_values,
        set_share=set_share,
        kl_mix=kl_mix,
        max_bits=max_bits,
        max_attack=max_attack,
        proper=proper,
        unbiased=unbiased,
        server_cost=server_cost,
        threat=threat,
        attributes=attributes,
        rounds=rounds,
        solution=solution,
    )
    if estimate is not None:
        if len(names) != 1:
            raise InputError(f"estimate needs the one protocol it comes from: protocol, got {listed(names) or 'none'}")
        settings["used"] = resolve("protocol", names[0])
    if settings["every_metric"]:
        raise InputError("metric must be one metric, got 'all': call advise once for each")
    if estimate is None and sample is None and sample_counts is None:
        if surrogate is not None:
            raise InputError("surrogate goes with an estimate")
        return _looked_up(shape_request(settings, skew=skew, shape=shape, ordered=ordered))
    for name, given in (("skew", skew), ("shape", shape)):
        if given is not None:
            raise InputError(f"{name} is for a look-up without data: leave out {name}, or the data")
    if instant and estimate is not None:
        raise InputError("instant is for a sample: an estimate is answered by simulation")
    if estimate is not None:
        return _advise_on_estimate(settings, estimate, (sample, sample_counts), ordered, surrogate, jobs)
    if surrogate is not None:
        raise InputError("surrogate goes with an estimate")
    labels, counts, is_histogram = sample_in_memory(sample, sample_counts)
    domain = build_domain(labels, counts, from_histogram=is_histogram, k=settings["k"], ordered=ordered)
    request = build_request(
        settings,
        labels=domain.labels,
        counts=domain.counts,
        ordered=domain.ordered,
        sample="sample_counts" if is_histogram else "sample",
        assumptions=domain.assumptions,
        warnings=domain.warnings,
        instant=instant,
    )
    return _looked_up(request) if instant else answer(request, jobs=jobs)[0]


def _looked_up(request: Request) -> Advice:
    from advisor.rank.look_up import look_up  # reads the shipped grid

    return look_up(request)[0]


def _advise_on_estimate(
    settings: dict[str, Any],
    estimate: ArrayLike | Mapping[Any, float],
    samples: tuple[Any, Any],
    ordered: bool | None,
    surrogate: str | None,
    jobs: int | None,
) -> Advice:
    if any(sample is not None for sample in samples):
        raise InputError("give an estimate or a sample, not both")
    if settings["n"] is None:
        raise InputError("estimate needs n, the number of users who reported")
    labels, values = estimate_in_memory(estimate)
    collected = collect(
        labels,
        values,
        protocol=settings["used"],
        epsilon=settings["epsilon"],
        n=settings["n"],
        k=settings["k"],
        ordered=ordered,
    )
    return answer(build_estimate_request(settings, collected, name="estimate", surrogate=surrogate), jobs=jobs)[0]


def answer(
    request: Request, *, jobs: int | None = None, progress: Callable[[int, int], None] | None = None
) -> tuple[Advice, ...]:
    """Answer a request: one advice for each of its metrics, from one simulation."""
    if nothing_left(request):
        return empty_advices(request)
    return advice_from(request, *simulate_request(request, jobs=jobs, progress=progress))


def simulate_request(
    request: Request, *, jobs: int | None = None, progress: Callable[[int, int], None] | None = None
) -> tuple[Experiment, Runs]:
    """Simulate what a request needs: its menu, each protocol's raw estimate, and the usual default."""
    used = () if request.collected is None else (request.collected.protocol,)
    protocols = tuple(dict.fromkeys([*used, *request.protocols]))
    menu = fitting_pairs(request, protocols)
    if not any(protocol in (used or protocols) for protocol, _ in menu):
        raise InputError(
            f"no method asked for goes with the protocols asked for: {listed(request.methods)} with "
            f"{listed(used or protocols)}"
        )
    raw = [(protocol, "none") for protocol in protocols]
    usual = [DEFAULT_PAIR, *((protocol, DEFAULT_PAIR[1]) for protocol in used)]
    pairs = tuple(dict.fromkeys([*menu, *raw, *usual]))
    options = {**request.metric_options, "seed": request.seed}
    measured = dict.fromkeys([*request.metrics, *ALWAYS_MEASURED])
    experiment = Experiment(
        counts=request.counts if request.populations is None else request.populations,
        oracles={name: PROTOCOLS[name](request.k, request.epsilon) for name in dict.fromkeys(p for p, _ in pairs)},
        methods={name: POSTPROCESSORS[name] for name in dict.fromkeys(m for _, m in pairs)},
        metrics={name: METRICS[name].with_options(**options) for name in measured},
        pairs=pairs,
        seed=request.seed,
    )
    if jobs is None:
        large = len(pairs) * request.repetitions * request.k > PARALLEL_CELLS
        jobs = (os.cpu_count() or 1) if large else 1
    if used:
        return experiment, _simulate_collected(experiment, request, used[0], jobs, progress)
    runs = race(
        experiment,
        request.metrics,
        menu=menu,
        alongside=[DEFAULT_PAIR],
        repetitions=request.repetitions,
        max_repetitions=request.max_repetitions,
        jobs=jobs,
        progress=progress,
    )
    return experiment, runs


def _simulate_collected(
    experiment: Experiment, request: Request, used: str, jobs: int, progress: Callable[[int, int], None] | None
) -> Runs:
    """Simulate several collections from every population with the protocol that was used, and fewer with the others."""
    others = others_repetitions(len(experiment.populations), request.repetitions)
    more = request.repetitions - others
    cells = others * len(experiment.oracles) + more
    done_before = others * len(experiment.oracles)
    runs = simulate(
        experiment, 0, others, jobs=jobs, progress=None if progress is None else lambda done, _: progress(done, cells)
    )
    if not more:
        return runs
    return runs + simulate(
        experiment,
        others,
        more,
        pairs=[pair for pair in experiment.pairs if pair[0] == used],
        jobs=jobs,
        progress=None if progress is None else lambda done, _: progress(done_before + done, cells),
    )


def advice_from(request: Request, experiment: Experiment, runs: Runs) -> tuple[Advice, ...]:
    """Turn simulated errors into one advice for each metric of the request."""
    one = simulated_advice if request.collected is None else estimate_advice
    advices = tuple(one(metric, request, experiment, runs) for metric in request.metrics)
    if request.threat is None:
        return advices
    from advisor.rank.threat import with_gains  # only a threat needs it

    return with_gains(advices, experiment)
