"""``advisor.advise``: the ranking as a function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from advisor.answers.rank.simulate import ranking_answer
from advisor.api.advice import Advice
from advisor.api.keywords import keyword_errors
from advisor.question.central import CentralPromise
from advisor.question.cleaning import Cleaning
from advisor.question.fitting import refuse_registered
from advisor.question.question import Question
from advisor.question.ranking import ranking_requests
from advisor.question.rules import check_budget, check_data
from advisor.question.settings import Limits, Named, Plurality, Shape, Simulation, Threat


@keyword_errors()
def advise(
    eps: float | None = None,
    *,
    k: int | None = None,
    n: int | None = None,
    sample: Iterable[Any] | None = None,
    sample_counts: ArrayLike | Mapping[Any, int] | None = None,
    metric: Named | Sequence[Named] = "l1",
    protocol: Named | Sequence[Named] | None = None,
    method: Named | Sequence[Named] | None = None,
    ordered: bool | None = None,
    instant: bool = False,
    shape: float | str | Shape | None = None,
    limits: Limits | None = None,
    threat: float | Threat | None = None,
    plurality: Plurality | None = None,
    promise: CentralPromise | None = None,
    cleaning: Cleaning | None = None,
    simulation: Simulation | None = None,
) -> Advice:
    """Rank protocols and post-processing methods for a collection like the sample.

    Without a sample, `k` is enough: the shipped model predicts the answer without simulation.

    Parameters
    ----------
    eps
        Privacy budget of one report.
    k
        Number of categories; larger than in the sample if some categories are unobserved.
    n
        Number of users who will report; default: the size of the sample.
    sample
        One raw value per user.
    sample_counts
        Instead of `sample`: one count per category, or a mapping from label to count.
    metric
        Error metric: a name in `simulator.METRICS` or from a paper, or your function ``(estimate, truth)``; or several.
        Five take a setting: ``"topk:10"`` (values), ``"set:0.2"`` (share of the domain), ``"sets:FILE"`` (the sets:
        one a line, a name and its members), ``"kl:0.001"`` and ``"js:0.001"`` (weight of the uniform distribution;
        ``"kl:0"`` is infinite where an estimate is 0).
    protocol, method
        Restrict the menu, by names, by ``"mine.py:soft"``, or by a function ``(estimate, noise)`` or a class that
        `simulator.register` takes. ``["all", soft]`` adds your method to the whole menu; ``"base_cut:alpha=0.05"`` is a
        method with another parameter.
    ordered
        Whether the categories have an order; default: only numeric labels have. Counts without labels are numbered
        from 0.
    instant
        Predict the answer for the sample instead of simulating.
    shape
        Without a sample: the Zipf exponent of the frequencies (default 1), or ``"NAME[:PARAMETER]"`` of
        `simulator.populations.SHAPES`.
    limits
        ``Limits(max_bits, max_attack, proper, deployable, unbiased, server_cost)``: pairs that violate them are not
        ranked.
    threat
        Share of the users that an attacker controls, or ``Threat(threat=share, targets=labels)`` with the categories
        that the attacker is known to promote. Pairs, including remedies, are then ranked by their error under the
        attack with the largest gain. Each row also has this gain and the error without an attack.
    plurality
        ``Plurality(attributes, rounds, solution)``: number of attributes per user, of which the sample shows a single
        one, and number of collections of the same attributes. `eps` is then the budget of a user per round;
        ``.request.plan`` has its use and the total. solution: ``"smp"`` (each user reports a random attribute) or
        ``"spl"`` (all, splitting the budget); default: the solution with the lower error.
    promise
        Instead of `eps`, with a shuffler: ``CentralPromise(central_epsilon, delta)``, the guarantee of all reports
        after shuffling. Each protocol gets the budget that satisfies it; ``.request.central`` has these budgets.
    cleaning
        ``Cleaning(bins, bin_width, edges, clamp, unit)``: cut the numbers of the sample into bins, an ordered domain:
        `bins` equal bins, bins of width `bin_width`, or bins between `edges`. With `bins` or `bin_width`, `edges` is
        the range, two numbers; the default is the range of the sample. A bin includes its lower edge and excludes its
        upper edge; the last bin of a given range includes both. clamp: count numbers outside the edges in the first and
        the last bin, instead of refusing them. unit: of the data, such as ``"years"``, in which errors in bins are
        given too; default: the name of a pandas series.
    simulation
        ``Simulation(repetitions, max_repetitions, seed, jobs)``: number of simulated collections at the start (20) and
        at most (400), to resolve the top of the ranking; the same seed, any whole number of at least 0, gives the same
        numbers, with any number of threads.

    Returns
    -------
    Frozen advice; ``.best`` is the pair to use. If no pair satisfies the limits, ``.recommendations`` is empty. For
    several metrics ``.about("mse")`` is the advice for one of them; ``.compare("norm_sub")`` tests differences.

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
    # locals(): the keywords, as they were given
    question = Question.of(locals())
    check_budget(question)
    check_data(question)
    if question.is_predicted:
        refuse_registered(question.terms, question.menu, k)
    (request,) = ranking_requests(question)
    answer = ranking_answer(question, request)
    return Advice.of(answer.first, answer)
