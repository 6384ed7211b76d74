"""A request without data: the frequencies come from a named shape."""

from __future__ import annotations

from typing import Any

from advisor.budget import make_plan
from advisor.constraints import constrained
from advisor.errors import InputError, near_miss
from advisor.request import N_MAX, Request, fitting_methods, fitting_metrics, metric_assumptions, metric_settings
from knowledge.assumed import SKEW, USERS, parse_shape
from knowledge.profile import SKEW_MAX
from simulator import METRICS
from simulator.populations import SHAPES, apportion, frequencies


def shape_request(
    settings: dict[str, Any], *, skew: float | None = None, shape: str | None = None, ordered: bool | None = None
) -> Request:
    """Return the request for a shape of a domain whose size is known, and of which nothing else is.

    Parameters
    ----------
    settings
        As checked by `advisor.request.check_settings`; `k` is needed, n is 100,000 by default.
    skew
        Exponent of a Zipf distribution; 1 by default, 0 for equal frequencies.
    shape
        Instead of a skew: ``NAME`` or ``NAME:PARAMETER``, of `simulator.populations.SHAPES`.
    ordered
        Whether the categories have an order; None: where the shape has one, without a shape where the metric needs it.

    Raises
    ------
    InputError
        If k is missing, the shape is unknown or has no such parameter, or a metric or method does not fit.
    """
    k, n = settings["k"], settings["n"] or USERS
    if k is None:
        raise InputError("k is missing: give a sample, or the number of categories k to look an answer up without one")
    if skew is not None and shape is not None:
        raise InputError("give either skew or shape, not both")
    assumed = [] if settings["n"] is not None else [f"n = {n:,} users will report (--n says otherwise)"]
    if shape is not None:
        try:
            name, parameter = parse_shape(shape)
        except ValueError as error:
            raise InputError(f"{error}{near_miss(shape.partition(':')[0], SHAPES)}") from None
        is_ordered = SHAPES[name].ordered if ordered is None else ordered
    else:
        name, parameter = "zipf", SKEW if skew is None else _checked_skew(skew)
        if skew is None:
            assumed.append("frequencies are as skewed as 1/rank: skew 1 (--skew or --shape say otherwise)")
        assumed.append("four shapes of this skew are averaged: Zipf in order, the same shuffled, a bell, a random one")
        needs = [metric for metric in settings["metrics"] if METRICS[metric].ordered_only]
        is_ordered = bool(needs) if ordered is None else ordered
        if needs and ordered is None:
            assumed.append(f"the categories are ordered: {needs[0]} needs an order (--ordered or --unordered say so)")
    try:
        weights = frequencies(name, k, parameter, seed=settings["seed"])
    except ValueError as error:
        raise InputError(str(error)) from None
    plan = make_plan(settings, weights, n)
    if plan is not None:
        n = plan.reports
    metrics = fitting_metrics(settings, is_ordered, assumed)
    methods = fitting_methods(settings, metrics, is_ordered)
    options = metric_settings(settings["metric_options"], k)
    used = SHAPES[name].parameter if parameter is None else parameter
    request = Request(
        epsilon=settings["epsilon"] if plan is None else plan.epsilon_report,
        k=k,
        n=min(n, N_MAX),
        metrics=metrics,
        protocols=settings["protocols"],
        methods=methods,
        ordered=is_ordered,
        labels=(),
        counts=apportion(weights, n),
        sample=f"skew {used:g}" if shape is None else f"shape {name}:{used:g}",
        sample_users=n,
        seed=settings["seed"],
        repetitions=0,
        max_repetitions=0,
        metric_options=options,
        assumptions=(*assumed, *metric_assumptions(metrics, options)),
        warnings=(),
        source="grid",
        skew=used if shape is None else None,
        plan=plan,
    )
    if settings["threat"] is not None:
        raise InputError("threat needs a simulation, and this answer is looked up: give a sample")
    return constrained(request, settings["constraints"])


def _checked_skew(skew: float) -> float:
    if not 0 <= skew <= SKEW_MAX:
        raise InputError(f"skew must be a number between 0 and {SKEW_MAX:g}, got {skew:g}")
    return float(skew)
