"""``advisor.advise``: the ranking as a function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from advisor.answers.rank.look_up import look_up
from advisor.answers.rank.simulate import simulated_answer
from advisor.api.advice import Advice
from advisor.api.keywords import keyword_errors
from advisor.errors import InputError, listed
from advisor.inputs.memory import estimate_in_memory
from advisor.question.collected import collect, tally_in_memory
from advisor.question.estimate_request import build_estimate_request
from advisor.question.fitting import refuse_registered
from advisor.question.option import refuse
from advisor.question.question import Question
from advisor.question.ranking import ranking_requests
from advisor.question.request import Request
from advisor.question.rules import check_budget, check_data
from advisor.question.settings import Menu, Named, budget_alias
from simulator import Tally


@keyword_errors()
def advise(
    epsilon: float | None = None,
    *,
    metric: Named = "l1",
    k: int | None = None,
    n: int | None = None,
    sample: Iterable[Any] | None = None,
    sample_counts: ArrayLike | Mapping[Any, int] | None = None,
    estimate: ArrayLike | Mapping[Any, float] | None = None,
    tally: Tally | None = None,
    protocol: Named | Sequence[Named] | None = None,
    method: Named | Sequence[Named] | None = None,
    ordered: bool | None = None,
    repetitions: int | None = None,
    max_repetitions: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
    surrogate: str | None = None,
    skew: float | None = None,
    shape: str | None = None,
    instant: bool = False,
    max_bits: int | None = None,
    max_attack: float | None = None,
    proper: bool = False,
    deployable: bool = False,
    unbiased: bool = False,
    server_cost: int | None = None,
    threat: float | None = None,
    targets: Sequence[str] = (),
    attributes: int | None = None,
    rounds: int | None = None,
    solution: str | None = None,
    bins: int | None = None,
    bin_width: float | None = None,
    edges: Sequence[float] = (),
    clamp: bool = False,
    unit: str | None = None,
    eps: float | None = None,
    central_epsilon: float | None = None,
    delta: float | None = None,
) -> Advice:
    """Rank protocols and post-processing methods for a collection like the sample, or methods for an estimate.

    Without a sample or an estimate, `k` is enough: the shipped model predicts the answer without simulation.

    Parameters
    ----------
    epsilon
        Privacy budget of one report; ``eps`` is the same.
    metric
        Error metric: a name in `simulator.METRICS` or from a paper, or your function ``(estimate, truth)``.
        Five take a setting: ``"topk:10"`` (values), ``"set:0.2"`` (share of the domain), ``"sets:FILE"`` (the sets:
        one a line, a name and its members), ``"kl:0.001"`` and ``"js:0.001"`` (weight of the uniform distribution;
        ``"kl:0"`` is infinite where an estimate is 0).
    k
        Number of categories; larger than in the sample if some categories are unobserved.
    n
        Number of users who will report; default: the size of the sample.
    sample
        One raw value per user.
    sample_counts
        Instead of `sample`: one count per category, or a mapping from label to count.
    estimate
        Instead of a sample, the result of a collection: one raw estimate per category (frequency, or count), or a
        mapping from label to estimate. `protocol` (a single one) and `n` describe the collection; `Advice.next_round`
        compares with all protocols.
    tally
        Instead of an estimate, the tally of the collected reports, from `Protocol.tally` or a sum of tallies;
        protocols for ordered domains need it.
    protocol, method
        Restrict the menu, by names, by ``"mine.py:soft"``, or by a function ``(estimate, noise)`` or a class that
        `simulator.register` takes. ``["all", soft]`` adds your method to the whole menu; ``"base_cut:alpha=0.05"`` is a
        method with another parameter. With an estimate or a tally, `protocol` is the protocol of the collection.
    ordered
        Whether the categories have an order; default: only numeric labels have. Counts without labels are numbered
        from 0.
    repetitions, max_repetitions
        Number of simulated collections at the start (20) and at most (400), to resolve the top of the ranking.
    seed
        Any whole number of at least 0; the same seed gives the same numbers.
    jobs
        Number of threads; results do not depend on it. Default: all cores for large simulations.
    surrogate
        With an estimate: the generator of populations that may be behind it, by name in
        `simulator.surrogate.SURROGATES` (default: ``"ensemble"``).
    skew, shape
        Without a sample or an estimate: the Zipf exponent of the frequencies (default 1), or ``"NAME[:PARAMETER]"`` of
        `simulator.populations.SHAPES`.
    instant
        Predict the answer for the sample instead of simulating.
    max_bits, max_attack, proper, deployable, unbiased, server_cost
        Constraints (see `advisor.question.settings.Limits`): pairs that violate them are not ranked.
    threat
        Share of the users that an attacker controls. Pairs, including remedies, are then ranked by their error under
        the attack with the largest gain. Each row also has this gain and the error without an attack.
    targets
        With a threat: labels of the categories that the attacker is known to promote.
    attributes, rounds
        Number of attributes per user, of which the sample shows a single one, and number of collections of the same
        attributes. `epsilon` is then the budget of a user per round; ``.request.plan`` has its use and the total.
    solution
        With attributes: ``"smp"`` (each user reports a random attribute) or ``"spl"`` (all, splitting the budget);
        default: the solution with the lower error.
    bins, bin_width, edges
        Cut the numbers of the sample into bins, an ordered domain: `bins` equal bins, bins of width `bin_width`, or
        bins between `edges`. With `bins` or `bin_width`, `edges` is the range, two numbers; the default is the range
        of the sample. A bin includes its lower edge and excludes its upper edge; the last bin of a given range
        includes both.
    clamp
        Count numbers outside the edges in the first and the last bin, instead of refusing them.
    unit
        Unit of the data, such as ``"years"``; errors in bins are also given in this unit. Default: the name of a
        pandas series.
    central_epsilon, delta
        Instead of `epsilon`, with a shuffler: the guarantee of all reports after shuffling. Each protocol gets the
        budget that satisfies it; ``.request.central`` has these budgets.

    Returns
    -------
    Frozen advice; ``.best`` is the pair to use. If no pair satisfies the constraints, ``.recommendations`` is empty.

    Raises
    ------
    InputError
        A `ValueError` with a message of a single line, if the request is invalid.

    Examples
    --------
    >>> advice = advise(1.0, sample_counts=[5000, 3000, 1500, 500, 0, 0, 0, 0], metric="l1")
    >>> advice.best.method in {row.method for row in advice.ties}
    True
    >>> advise(1.0, k=256, metric="emd").source
    'grid'
    """
    given = locals()  # the keywords as given
    if not isinstance(metric, str) and not callable(metric):
        raise InputError(f"metric must be the name of one metric, got {metric!r}")
    question = Question.of(given | {"epsilon": budget_alias(epsilon, eps)})
    question.terms.one_metric("advise")
    if estimate is not None or tally is not None:
        ranking = simulated_answer(_collected_request(question, estimate, tally, surrogate), jobs=jobs).first
        return Advice.of(ranking)
    if surrogate is not None:
        raise InputError("surrogate goes with an estimate")
    check_budget(question)
    check_data(question)
    if question.is_predicted:
        refuse_registered(question.terms, question.menu, k)
    (request,) = ranking_requests(question)
    return Advice.of(look_up(request)[0] if question.is_predicted else simulated_answer(request, jobs=jobs).first)


def _collected_request(
    question: Question, estimate: ArrayLike | Mapping[Any, float] | None, tally: Tally | None, surrogate: str | None
) -> Request:
    refuse(["the estimate"] if estimate is not None and tally is not None else [], "does not go with a tally")
    if tally is not None and not isinstance(tally, Tally):
        raise InputError(
            f"tally must be a simulator.Tally, as the protocol's tally(reports) gives it, got {tally!r:.40}"
        )
    refuse(["the sample"] if question.sample is not None else [], "does not go with an estimate: give one of the two")
    refuse(question.given("cleaning"), "is for a sample, and none is given")
    refuse(question.given("shape"), "is for a question without data: leave it out, or the estimate")
    refuse(question.given("promise"), "is for a collection to come: reports were made at one --eps")
    if question.instant.instant:
        raise InputError("instant is for a sample: an estimate is answered by simulation")
    what = "estimate" if tally is None else "tally"
    used, n, domain = question.menu.protocol, question.terms.n, question.domain
    if len(used) != 1:
        raise InputError(f"{what} needs the one protocol it comes from: protocol, got {listed(used) or 'none'}")
    if tally is not None:
        if domain.k is None:
            raise InputError("tally needs k, the number of categories")
        if n not in (None, tally.n):
            raise InputError(f"the tally is of {tally.n:,} reports, n = {n:,} was given: leave n out")
        collected = tally_in_memory(tally, used[0], domain.k, question.epsilon, ordered=domain.ordered)
    elif estimate is not None:
        if n is None:
            raise InputError("estimate needs n, the number of users who reported")
        read = estimate_in_memory(estimate)
        collected = collect(
            read.labels,
            read.values,
            protocol=used[0],
            epsilon=question.epsilon,
            n=n,
            k=domain.k,
            domain=read.domain,
            ordered=read.ordered if domain.ordered is None else domain.ordered,
        )
    question = replace(question, menu=Menu(method=question.menu.method))  # the next round may use any protocol
    return build_estimate_request(question, collected, name=what, surrogate=surrogate)
