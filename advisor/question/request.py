"""What is asked: checked, complete and frozen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from advisor.errors import InputError, listed, near_miss
from advisor.inputs.limits import MOST_LABELS
from advisor.names import resolve, resolve_all
from advisor.question.budget import ATTRIBUTES_MAX, ROUNDS_MAX, Plan, check_solution, make_plan
from advisor.question.constraints import Constraints, Removal, constrained
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.metrics import KL_MIX, SET_SHARE, TOP_SHARE
from simulator.populations import apportion
from simulator.protocols import EPSILON_MAX, EPSILON_MIN
from simulator.seeding import rng_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from advisor.question.collected import Collected

REPETITIONS, MAX_REPETITIONS = 20, 400
FULL_RACE_DOMAIN = 4096  # above it the most repetitions, where not asked for, fall as 1/k: a race must end in minutes
N_MAX = 10**12
FAR_SMALLER = 10  # a sample this many times smaller than n is not taken for the truth
COLLECTIONS = 4  # simulated from each population behind an estimate


@dataclass(frozen=True, eq=False)  # holds an array, which does not compare to one truth
class Request:
    """A request that can be answered.

    Attributes
    ----------
    epsilon, k, n
        Budget of one report, domain size, users who will report.
    metrics, protocols, methods
        Table keys, in table order.
    ordered
        Whether the categories have an order.
    labels, counts
        ``(k,)`` labels of the categories, and users who hold each one (their sum is n).
    sample
        What the sample is called.
    sample_users
        Users in the sample.
    seed, repetitions, max_repetitions
        Of the simulation.
    metric_options
        ``top_values``, ``set_share`` and ``mix``, as given or by default.
    assumptions, warnings
        What was decided for the user, and what they should worry about.
    source
        ``"simulation"`` (the sample is the truth), or ``"surrogate"`` (populations stand for a truth not known), or
        ``"grid"`` (nothing is simulated).
    surrogate
        How the populations were made, or None.
    populations
        ``(populations, k)`` users of each, or None.
    collected
        The estimate that the request is about, or None.
    skew
        The exponent, where the frequencies are a Zipf distribution that was only assumed.
    removals
        What each constraint took off the menu.
    threat
        Share of the users that an attacker controls, or None.
    plan
        How the budget is used, where users have several attributes or report several times; `epsilon` and `n` are then
        those of one report and of the reports of one attribute.
    """

    epsilon: float
    k: int
    n: int
    metrics: tuple[str, ...]
    protocols: tuple[str, ...]
    methods: tuple[str, ...]
    ordered: bool
    labels: tuple[str, ...] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    sample: str
    sample_users: int
    seed: int
    repetitions: int
    max_repetitions: int
    metric_options: dict[str, Any]
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]
    source: str = "simulation"
    surrogate: str | None = None
    populations: NDArray[np.int64] | None = field(default=None, repr=False)
    collected: Collected | None = None
    skew: float | None = None
    removals: tuple[Removal, ...] = ()
    threat: float | None = None
    plan: Plan | None = None


def check_epsilon(epsilon: float) -> float:
    """Return a valid budget.

    Raises
    ------
    InputError
        If it is not a number between 1e-6 and 32.
    """
    if not isinstance(epsilon, int | float | np.number) or isinstance(epsilon, bool):
        raise InputError(f"eps must be a number above 0, got {epsilon!r}")
    if not math.isfinite(epsilon) or epsilon <= 0:
        raise InputError(f"eps must be a finite number above 0, got {epsilon:g}")
    if not EPSILON_MIN <= epsilon <= EPSILON_MAX:
        why = "nothing can be learned from such reports" if epsilon < 1 else "such reports protect nothing"
        raise InputError(f"eps must be between {EPSILON_MIN:g} and {EPSILON_MAX:g}, got {epsilon:g}: {why}")
    return float(epsilon)


def check_whole(name: str, value: float, at_least: int, at_most: int | None = None) -> int:
    """Return a whole number in its range.

    Raises
    ------
    InputError
        If it is not whole or outside.
    """
    allowed = f"a whole number of at least {at_least}" + ("" if at_most is None else f" and at most {at_most:,}")
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not float(value).is_integer():
        raise InputError(f"{name} must be {allowed}, got {value!r}")
    if value < at_least or (at_most is not None and value > at_most):
        raise InputError(f"{name} must be {allowed}, got {int(value):,}")
    return int(value)


def check_settings(
    *,
    epsilon: float,
    metrics: Sequence[str],
    protocols: Iterable[str] = (),
    methods: Iterable[str] = (),
    k: float | None = None,
    n: float | None = None,
    seed: float = 0,
    repetitions: float | None = None,
    max_repetitions: float | None = None,
    top_values: float | None = None,
    set_share: float | None = None,
    kl_mix: float | None = None,
    max_bits: float | None = None,
    max_attack: float | None = None,
    proper: bool = False,
    unbiased: bool = False,
    server_cost: float | None = None,
    threat: float | None = None,
    attributes: float | None = None,
    rounds: float | None = None,
    solution: str | None = None,
) -> dict[str, Any]:
    """Return all settings that do not depend on the sample, checked and resolved.

    Kept apart from the sample so that a wrong option is told before a large file is read.

    Raises
    ------
    InputError
        For the first setting that is wrong.
    """
    first = REPETITIONS if repetitions is None else check_whole("reps", repetitions, 2, 10**6)
    most = max(first, MAX_REPETITIONS) if max_repetitions is None else check_whole("max-reps", max_repetitions, 2)
    if most < first:
        if repetitions is not None:
            raise InputError(f"max-reps must be at least reps, got max-reps {most} and reps {first}")
        first = most
    options: dict[str, Any] = {}
    if top_values is not None:
        options["top_values"] = check_whole("top-values", top_values, 1)
    for name, key, share in (("set-share", "set_share", set_share), ("kl-mix", "mix", kl_mix)):
        if share is not None:
            options[key] = _share(name, share)
    return {
        "epsilon": check_epsilon(epsilon),
        "k": None if k is None else check_whole("k", k, 2, MOST_LABELS),
        "n": None if n is None else check_whole("n", n, 1, N_MAX),
        "every_metric": any(name.lower() == "all" for name in metrics),
        "metrics": tuple(dict.fromkeys(resolve("metric", name) for name in metrics if name.lower() != "all")),
        "protocols": resolve_all("protocol", protocols),
        "methods": resolve_all("method", methods),
        "methods_named": bool(list(methods)),
        "seed": check_whole("seed", seed, 0),
        "repetitions": first,
        "max_repetitions": most,
        "max_repetitions_named": max_repetitions is not None,
        "repetitions_named": repetitions is not None,
        "metric_options": options,
        "constraints": Constraints(
            max_bits=None if max_bits is None else check_whole("max-bits", max_bits, 1),
            max_attack=None if max_attack is None else _share("max-attack", max_attack),
            proper=proper,
            unbiased=unbiased,
            server_cost=None if server_cost is None else check_whole("server-cost", server_cost, 1),
        ),
        "attributes": None if attributes is None else check_whole("attributes", attributes, 1, ATTRIBUTES_MAX),
        "rounds": None if rounds is None else check_whole("rounds", rounds, 1, ROUNDS_MAX),
        "solution": check_solution(solution),
        "threat": None if threat is None else _share("threat", threat),
    }


def _share(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value < 1:
        raise InputError(f"{name} must be a number between 0 and 1, got {value!r}")
    return float(value)


def build_request(
    settings: dict[str, Any],
    *,
    labels: tuple[str, ...],
    counts: NDArray[np.int64],
    ordered: bool,
    sample: str,
    assumptions: Sequence[str],
    warnings: Sequence[str],
    instant: bool = False,
) -> Request:
    """Join checked settings and a sample over its domain.

    Raises
    ------
    InputError
        If a metric or method that was asked for does not fit the domain.
    """
    k, users = len(labels), int(counts.sum())
    everyone = users if settings["n"] is None else settings["n"]
    plan = make_plan(settings, counts / users, everyone)
    n = everyone if plan is None else plan.reports
    small = users * FAR_SMALLER <= n and not instant
    assumed, worries = list(assumptions), list(warnings)
    metrics = fitting_metrics(settings, ordered, assumed, looked_up=instant)
    methods = fitting_methods(settings, metrics, ordered)
    options = metric_settings(settings["metric_options"], k)
    assumed += metric_assumptions(metrics, options)
    if settings["n"] is None:
        assumed.append(f"n = {everyone:,} users will report: the size of the sample (--n says otherwise)")
    elif n != users:
        assumed.append(f"the frequencies of the sample's {users:,} users stand for those of n = {n:,}")
        if small:
            worries.append(
                f"the sample ({users:,} users) is far smaller than n = {n:,}: what it leaves open is simulated too, "
                "with populations drawn from its Dirichlet posterior"
            )
        elif users < n:
            worries.append(
                f"the sample ({users:,} users) is smaller than n = {n:,}: its own sampling noise is taken for truth"
            )
    most = settings["max_repetitions"]
    if not instant and not settings["max_repetitions_named"] and k > FULL_RACE_DOMAIN:
        most = max(settings["repetitions"], most * FULL_RACE_DOMAIN // k)
        assumed.append(f"at most {most} repetitions, because k is large (--max-reps says otherwise)")
    request = Request(
        epsilon=settings["epsilon"] if plan is None else plan.epsilon_report,
        k=k,
        n=n,
        metrics=metrics,
        protocols=settings["protocols"],
        methods=methods,
        ordered=ordered,
        labels=labels,
        counts=apportion(counts, n),
        sample=sample,
        sample_users=users,
        seed=settings["seed"],
        repetitions=0 if instant else settings["repetitions"],
        max_repetitions=0 if instant else most,
        metric_options=options,
        assumptions=tuple(assumed),
        warnings=tuple(worries),
        source="grid" if instant else "surrogate" if small else "simulation",
        surrogate="dirichlet" if small else None,
        populations=_behind_the_sample(counts, n, most, settings["seed"]) if small else None,
        threat=_threat(settings, n, instant=instant),
        plan=plan,
    )
    return constrained(request, settings["constraints"])


def _threat(settings: dict[str, Any], n: int, *, instant: bool) -> float | None:
    """Return the share of users that an attacker controls, if that can be simulated."""
    share: float | None = settings["threat"]
    if share is not None and instant:
        raise InputError("threat needs a simulation, and this answer is looked up: give a sample, without --instant")
    if share is not None and not max(1, round(share * n)) < n:
        raise InputError(f"threat {share:g} leaves no honest user among n={n}")
    return share


def _behind_the_sample(counts: NDArray[np.int64], n: int, draws: int, seed: int) -> NDArray[np.int64]:
    """Return one population of n users for each repetition, drawn from the posterior of a small sample."""
    from simulator.surrogate import sample_posterior  # imported when used

    frequencies = sample_posterior(counts, draws, rng_for(seed, "surrogate", "dirichlet"))
    return np.stack([apportion(row, n) for row in frequencies])


def build_estimate_request(
    settings: dict[str, Any], collected: Collected, *, name: str, surrogate: str | None = None
) -> Request:
    """Join checked settings and an estimate that was collected, and draw the populations that may be behind it.

    Raises
    ------
    InputError
        If a metric, a method or the surrogate that was asked for does not fit.
    """
    from simulator.surrogate import DEFAULT, DRAWS, SURROGATES, surrogate_populations  # imported when used

    k, n = len(collected.labels), collected.n
    assumed = list(collected.assumptions)
    for option in ("attributes", "rounds", "solution"):
        if settings[option] is not None:
            raise InputError(f"{option} is for a collection to come: leave it out for an estimate that is there")
    if settings["max_repetitions_named"]:
        raise InputError("max-reps is for a sample: an estimate is answered with the same repetitions for every method")
    chosen = DEFAULT if surrogate is None else _surrogate_named(surrogate, SURROGATES)
    if SURROGATES[chosen].ordered_only and not collected.ordered:
        raise InputError(f"surrogate {chosen} needs an ordered domain: give --ordered if the order means something")
    metrics = fitting_metrics(settings, collected.ordered, assumed)
    methods = fitting_methods(settings, metrics, collected.ordered)
    options = metric_settings(settings["metric_options"], k)
    assumed += metric_assumptions(metrics, options)
    draws = DRAWS if k <= FULL_RACE_DOMAIN else max(8, DRAWS * FULL_RACE_DOMAIN // k)
    wanted = settings["repetitions"] if settings["repetitions_named"] else draws * COLLECTIONS
    draws = min(draws, wanted)
    noise = PROTOCOLS[collected.protocol](k, settings["epsilon"]).noise(n)
    frequencies = surrogate_populations(
        chosen,
        collected.estimate,
        noise,
        ordered=collected.ordered,
        rng=rng_for(settings["seed"], "surrogate", chosen),
        draws=draws,
    )
    populations = np.stack([apportion(row, n) for row in frequencies])
    repetitions = -(-wanted // len(populations)) * len(populations)
    request = Request(
        epsilon=settings["epsilon"],
        k=k,
        n=n,
        metrics=metrics,
        protocols=settings["protocols"],
        methods=methods,
        ordered=collected.ordered,
        labels=collected.labels,
        counts=apportion(frequencies.mean(axis=0), n),
        sample=name,
        sample_users=n,
        seed=settings["seed"],
        repetitions=repetitions,
        max_repetitions=repetitions,
        metric_options=options,
        assumptions=tuple(assumed),
        warnings=collected.warnings,
        source="surrogate",
        surrogate=chosen,
        populations=populations,
        collected=collected,
        threat=_threat(settings, n, instant=False),
    )
    return constrained(request, settings["constraints"])


def _surrogate_named(name: str, table: Iterable[str]) -> str:
    wanted = name.lower().replace("-", "_")
    if wanted not in table:
        raise InputError(f"surrogate must be one of {listed(table, most=20)}, got {name!r}{near_miss(wanted, table)}")
    return wanted


def metric_settings(given: dict[str, Any], k: int) -> dict[str, Any]:
    """Return the settings of all metrics, defaults filled in, so that the answer can say them."""
    options = {"top_values": max(1, round(TOP_SHARE * k)), "set_share": SET_SHARE, "mix": KL_MIX} | given
    if options["top_values"] > k:
        raise InputError(f"top-values must be at most k={k}, got {options['top_values']}")
    return options


def metric_assumptions(metrics: tuple[str, ...], options: dict[str, Any]) -> list[str]:
    """Return what is to be said of the settings of the metrics asked for."""
    said = []
    if {"kl", "js"} & set(metrics):
        said.append(
            f"zeros are repaired by mixing with the uniform distribution at weight {options['mix']:g} (--kl-mix)"
        )
    if "topk" in metrics:
        said.append(f"topk looks at the {options['top_values']:,} truly most frequent values (--top-values)")
    if "set" in metrics:
        said.append(f"set asks for subsets of {100 * options['set_share']:g} % of the domain (--set-share)")
    return said


def fitting_metrics(
    settings: dict[str, Any], ordered: bool, assumed: list[str], *, looked_up: bool = False
) -> tuple[str, ...]:
    """Return the metrics asked for; refuse those that need an order that is not there.

    Where every metric was asked for, those that do not fit are left out, and that is said.
    """
    asked: tuple[str, ...] = settings["metrics"]
    if not ordered:
        for name in asked:
            if METRICS[name].ordered_only:
                others = listed((key for key, metric in METRICS.items() if not metric.ordered_only), most=20)
                raise InputError(
                    f"metric {name} needs an ordered domain, and these categories have no order: give --ordered if "
                    f"their order means something, or another metric ({others})"
                )
    if not settings["every_metric"]:
        return asked
    fitting = [key for key, metric in METRICS.items() if ordered or not metric.ordered_only]
    left_out = [key for key in METRICS if key not in fitting]
    if left_out:
        assumed.append(f"metrics {listed(left_out)} left out: they need an ordered domain (--ordered)")
    fitting = list(dict.fromkeys([*asked, *fitting]))
    if looked_up:
        from knowledge.menu import METRICS as KNOWN

        unknown = [key for key in fitting if key not in KNOWN]
        fitting = [key for key in fitting if key in KNOWN]
        if unknown:
            assumed.append(f"metrics {listed(unknown)} left out: the grid does not know them; a simulation does")
    return tuple(fitting)


def fitting_methods(settings: dict[str, Any], metrics: tuple[str, ...], ordered: bool) -> tuple[str, ...]:
    """Return the methods asked for that fit the domain; refuse those that were named and do not."""
    asks_queries = any(METRICS[name].clipped for name in metrics)
    fitting = []
    for name in settings["methods"]:
        method = POSTPROCESSORS[name]
        if method.ordered_only and not ordered:
            reason = "needs an ordered domain: give --ordered if the order of the categories means something"
        elif method.queries_only and not asks_queries:
            queries = listed(key for key, metric in METRICS.items() if metric.clipped)
            reason = f"changes only the answers of queries: it goes with the metrics {queries}"
        else:
            fitting.append(name)
            continue
        if settings["methods_named"]:
            raise InputError(f"method {name} {reason}")
    return tuple(fitting)
