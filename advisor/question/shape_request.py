"""A request without data: the frequencies come from a named shape."""

from __future__ import annotations

from typing import Any

from advisor.errors import InputError
from advisor.question.budget import make_plan
from advisor.question.constraints import constrained
from advisor.question.request import (
    N_MAX,
    Request,
    fitting_methods,
    fitting_metrics,
    metric_assumptions,
    metric_settings,
)
from advisor.question.shape import assumed_shape
from knowledge.assumed import USERS


def shape_request(
    settings: dict[str, Any], *, skew: float | None = None, shape: str | None = None, ordered: bool | None = None
) -> Request:
    """Return the request for a shape of a domain whose size is known, and of which nothing else is.

    Parameters
    ----------
    settings
        As checked by `advisor.question.request.check_settings`; `k` is needed, n is 100,000 by default.
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
    assumed = [] if settings["n"] is not None else [f"n = {n:,} users will report (--n says otherwise)"]
    found = assumed_shape(
        k, skew=skew, shape=shape, ordered=ordered, metrics=settings["metrics"], seed=settings["seed"]
    )
    assumed += found.assumptions
    if found.skew is not None:
        assumed.append(
            "four shapes of this skew are averaged: Zipf in order and without, a bell, a typical Dirichlet draw"
        )
    plan = make_plan(settings, found.weights, n)
    if plan is not None:
        n = plan.reports
    metrics = fitting_metrics(settings, found.ordered, assumed, looked_up=True)
    methods = fitting_methods(settings, metrics, found.ordered)
    options = metric_settings(settings["metric_options"], k)
    request = Request(
        epsilon=settings["epsilon"] if plan is None else plan.epsilon_report,
        k=k,
        n=min(n, N_MAX),
        metrics=metrics,
        protocols=settings["protocols"],
        methods=methods,
        ordered=found.ordered,
        labels=(),
        counts=found.counts(n),
        sample=found.name,
        sample_users=n,
        seed=settings["seed"],
        repetitions=0,
        max_repetitions=0,
        metric_options=options,
        assumptions=(*assumed, *metric_assumptions(metrics, options)),
        warnings=(),
        source="grid",
        skew=found.skew,
        plan=plan,
    )
    if settings["threat"] is not None:
        raise InputError("threat needs a simulation, and this answer is looked up: give a sample")
    return constrained(request, settings["constraints"])
