"""A request without data: the frequencies come from a named shape."""

from __future__ import annotations

import numpy as np

from advisor.errors import InputError
from advisor.question.central import central_budgets
from advisor.question.constraints import constrained
from advisor.question.fitting import checked_threat, fitting_methods, fitting_metrics, fitting_protocols
from advisor.question.frequencies import assumed_shape
from advisor.question.plurality import make_plan
from advisor.question.request import RankSettings, Request
from advisor.question.settings import N_MAX, Categories, Shape
from knowledge.describe.assumption import USERS
from knowledge.model import predicted_metrics


def shape_request(settings: RankSettings, domain: Categories, shape: Shape) -> Request:
    """Return the request for a shape of a domain whose size is known, and of which nothing else is.

    The number of users is 100,000 by default. The categories are ordered if `domain` says so; if it does not, where the
    metric needs an order.

    Raises InputError if k is missing, the shape is unknown or has no such parameter, or a metric or method does not
    fit.
    """
    k, n = domain.k, settings.question.n or USERS
    if k is None:
        raise InputError("--k is missing: give a sample, or the number of categories, for example --k 256")
    assumed = [] if settings.question.n is not None else [f"n = {n:,} users will report (--n says otherwise)"]
    seed = settings.simulation.seed
    frequencies = assumed_shape(k, shape, ordered=domain.ordered, metrics=settings.question.metrics, seed=seed)
    assumed += frequencies.assumptions
    shares = frequencies.weights.astype(np.float64)
    menu = fitting_protocols(settings.menu, frequencies.ordered, instant=True)
    central = central_budgets(settings.promise, menu, k, n)
    epsilon = settings.epsilon if central is None else central.anyone
    plan = make_plan(settings.plurality, epsilon, settings.menu.protocols, shares, n)
    if plan is not None:
        n = plan.reports
    predictable = predicted_metrics(ordered=frequencies.ordered)
    metrics, notes = fitting_metrics(settings.question, frequencies.ordered, predictable=predictable)
    values = settings.metric_settings.resolved(k)
    request = Request(
        epsilon=epsilon if plan is None else plan.epsilon_report,
        k=k,
        n=min(n, N_MAX),
        metrics=metrics,
        protocols=menu,
        methods=fitting_methods(settings.menu, metrics, frequencies.ordered),
        ordered=frequencies.ordered,
        labels=(),
        counts=frequencies.counts(n),
        sample=frequencies.name,
        sample_users=n,
        seed=seed,
        repetitions=0,
        max_repetitions=0,
        metric_values=values,
        assumptions=(*assumed, *notes, *values.assumptions(metrics)),
        warnings=() if central is None else central.warnings,
        source="grid",
        skew=frequencies.skew,
        plan=plan,
        central=central,
        threat=checked_threat(settings.threat, n, instant=True),
    )
    return constrained(request, settings.limits)
