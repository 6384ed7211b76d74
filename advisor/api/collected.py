"""``advisor.estimate`` and ``advisor.reports``: what to do with a collection that is over, as functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from advisor.answers.rank.simulate import simulated_answer
from advisor.api.advice import Advice
from advisor.api.keywords import keyword_errors
from advisor.checks import shown
from advisor.errors import InputError
from advisor.inputs.estimates import RawEstimates
from advisor.inputs.labels import label_of
from advisor.inputs.memory import estimate_in_memory, file_of
from advisor.inputs.reports.settings import place_names
from advisor.question.collected import tally_in_memory
from advisor.question.collected_request import (
    CollectedQuestion,
    Collection,
    ReportFormat,
    check_collected,
    counts_of_reports,
    reports_request,
    request_of_estimate,
)
from advisor.question.estimate_request import build_estimate_request
from advisor.question.option import require
from advisor.question.request import Request
from advisor.question.settings import Limits, Named, Simulation, Threat
from simulator import Tally


@keyword_errors()
def estimate(
    values: ArrayLike | Mapping[Any, float] | Tally,
    protocol: Named,
    *,
    eps: float | None = None,
    n: int | None = None,
    k: int | None = None,
    labels: Sequence[Any] | None = None,
    ordered: bool | None = None,
    metric: Named = "l1",
    method: Named | Sequence[Named] | None = None,
    limits: Limits | None = None,
    threat: float | Threat | None = None,
    collection: Collection | None = None,
    simulation: Simulation | None = None,
) -> Advice:
    """Rank methods for a raw estimate that was collected, or for the tally of its reports.

    Parameters
    ----------
    values
        One raw estimate per category (frequency, or count), or a mapping or a pandas series from label to estimate; or
        a `simulator.Tally`, from `Protocol.tally` or a sum of tallies. Protocols for ordered domains need a tally.
    protocol
        The protocol that was used.
    eps, n
        Budget of one report, and number of users who reported; a tally knows n.
    k, labels
        For a tally: the number of categories, or their labels in order.
    ordered
        Whether the categories have an order; default: only numbers have, and not those that merely count categories.
    metric, method, limits, threat
        As in `advisor.advise`.
    collection
        ``Collection(subset_size, hash_range, block_count, own_rate, other_rate, flip_prob, surrogate)``: unusual
        parameters of the protocol, its probabilities instead of `eps`, and what stands for the truth, by name in
        `simulator.surrogate.SURROGATES` (default: ``"ensemble"``).
    simulation
        As in `advisor.advise`, without a maximum of repetitions.

    Returns
    -------
    Frozen advice: ``.best`` is the method to use, ``.apply()`` and ``.intervals()`` give its result, and
    ``.next_round`` compares all protocols.

    Raises
    ------
    InputError
        If the values cannot come from this protocol, or something is missing or does not go together.

    Examples
    --------
    >>> advice = estimate([0.52, 0.31, 0.19, -0.02], "grr", eps=1, n=10_000)
    >>> advice.intervals().round(2)["raw"].tolist()
    [0.52, 0.31, 0.19, -0.02]
    """
    question = _question("estimate", locals(), protocol)
    names = _names(labels)
    if isinstance(values, Tally):
        return _advice(_request_of_tally(values, question, names), question)
    require(("--n", n, "the number of users who reported, for example --n 100000"))
    read = estimate_in_memory(values)
    in_order = read.ordered if ordered is None else ordered
    question = replace(question, domain=replace(question.domain, ordered=in_order))
    if names and not read.labelled and len(names) != len(read.labels):
        raise InputError(f"labels must name each of the {len(read.labels):,} categories, got {len(names):,} labels")
    own = read.labelled and read.labels != list(map(str, range(len(read.labels))))  # which are places
    raw = RawEstimates(
        tuple(read.labels) if own else names or tuple(read.labels), read.values, (), (), own or bool(names)
    )
    return _advice(
        request_of_estimate(question, raw, domain=names or read.categories or None, name="estimate"), question
    )


@keyword_errors()
def reports(
    source: str | Path | Iterable[Any],
    protocol: Named,
    *,
    eps: float | None = None,
    k: int | None = None,
    labels: Sequence[Any] | None = None,
    column: str | None = None,
    n: int | None = None,
    ordered: bool | None = None,
    metric: Named = "l1",
    method: Named | Sequence[Named] | None = None,
    written: ReportFormat | None = None,
    limits: Limits | None = None,
    threat: float | Threat | None = None,
    collection: Collection | None = None,
    simulation: Simulation | None = None,
) -> Advice:
    """Count the reports of users, and rank methods for their estimate.

    Parameters
    ----------
    source
        A file, or a pattern of names; or the reports: a pandas series or frame, or one report per entry, as
        ``Protocol.perturb`` gives them. What a report of each protocol looks like: `advisor.inputs.reports`.
    protocol, eps
        The protocol that was used, and the budget of one report.
    k, labels
        Number of categories, or their labels in the order of the devices. Default: the categories of a pandas
        categorical, and the labels that reports of grr hold.
    column
        Column of the reports, if there are several columns.
    n
        With ``written=ReportFormat(counts=...)``: number of users.
    ordered, metric, method, limits, threat, collection, simulation
        As in `advisor.estimate`.
    written
        ``ReportFormat(counts, skip_bad, hash, steps)``: how reports are written.

    Returns
    -------
    Frozen advice, as `advisor.estimate` gives it.

    Raises
    ------
    InputError
        If a report is none of this protocol, or something is missing or does not go together.

    Examples
    --------
    >>> answers = ["yes"] * 831 + ["no"] * 1604
    >>> reports(answers, "grr", eps=1.6).intervals().index.tolist()
    ['no', 'yes']
    """
    question = _question("reports", locals(), protocol)
    require(*question.needs)
    domain = _names(getattr(getattr(source, "dtype", None), "categories", None) if labels is None else labels)
    used = question.collection.protocol or ""
    if (
        labels is not None
        and used in ("grr", "ss")
        and getattr(getattr(source, "dtype", None), "kind", "") in ("i", "u")
    ):
        places, names = np.asarray(source), domain or ()  # maybe as the protocol gives them: places in the domain
        if places.size and places.max() < len(names) and not {*map(str, np.unique(places).tolist())} <= {*names}:
            source = np.asarray(names)[places]
    with file_of(source, "reports") as (path, header):
        question = replace(question, columns=replace(question.columns, header=header))
        counts = counts_of_reports([path], question, jobs=1, domain=domain)
        request = reports_request(counts, question)
    return _advice(request, question)


def _names(labels: Iterable[Any] | None) -> tuple[str, ...] | None:
    """Return the labels of the categories, in order."""
    if labels is None:
        return None
    if isinstance(labels, str | set | frozenset) or not isinstance(labels, Iterable):
        raise InputError(f"labels must be a list of the categories in order, got {shown(labels)}")
    return tuple(map(label_of, labels))


def _question(name: str, given: Mapping[str, Any], protocol: Named) -> CollectedQuestion:
    """Return the question of a function about a collection; its menu is that of the next round."""
    question = CollectedQuestion.of({**given, "protocol": None})
    used: tuple[Any, ...] = (protocol,)  # read as all options are
    question = replace(question, collection=replace(question.collection, used=used)).with_budget()
    question.terms.one_metric(name)
    check_collected(question)
    return question


def _request_of_tally(tally: Tally, question: CollectedQuestion, names: tuple[str, ...] | None) -> Request:
    """Return the request for a tally in memory; names: of its categories, if they are given."""
    k, ordered, n = question.domain.k, question.domain.ordered, question.terms.n
    if n not in (None, tally.n):
        raise InputError(f"the tally is of {tally.n:,} reports, --n {n:,} was given: leave --n out")
    require(*question.needs)
    require(("--k", k or names, "the number of categories, or labels=, in order"))
    collected = tally_in_memory(names or place_names(k or 0), tally, question.origin, ordered=ordered)
    return build_estimate_request(question, collected, name="tally", surrogate=question.collection.surrogate)


def _advice(request: Request, question: CollectedQuestion) -> Advice:
    answer = simulated_answer(request, jobs=question.simulation.jobs)
    return Advice.of(answer.first, answer)
