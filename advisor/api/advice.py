"""``advisor.advise``: the ranking as a function, and its answer with methods for its use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from advisor.answers.rank.apply import applied_columns, observed_as, post_process
from advisor.answers.rank.result import Answer, Ranking, Recommendation
from advisor.answers.rank.trade_offs import Frontier, frontier_of
from advisor.api.keywords import flags_to_keywords, keyword_errors
from advisor.api.paper import comparisons
from advisor.api.shown import Shown, plot_target, written
from advisor.errors import InputError
from advisor.inputs.memory import applied_to, in_order_of, is_pandas
from advisor.inputs.reports.settings import place_names
from advisor.members import member_of_python
from advisor.question.settings import Named
from advisor.show.model import Document
from advisor.show.pictures.frequencies import frequencies_figure
from advisor.show.pictures.ranking import ranking_figure
from advisor.show.rank.answer import summary
from advisor.show.rank.data import ROW_FIELDS, row_data
from advisor.show.rank.document import rank_document
from advisor.show.rank.notes import setting_text
from advisor.show.rank.pareto import pareto_document

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


from collections.abc import Iterable, Sequence

from advisor.answers.rank.simulate import ranking_answer
from advisor.question.central import CentralPromise
from advisor.question.cleaning import Cleaning
from advisor.question.fitting import refuse_registered
from advisor.question.question import Question
from advisor.question.ranking import ranking_requests
from advisor.question.rules import check_budget, check_data
from advisor.question.settings import Limits, Plurality, Shape, Simulation, Threat


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Ranking, Shown):
    """The answer to a request; attributes as in `advisor.answers.rank.result.Ranking`, for the first of its metrics.

    With several metrics, `about` gives the advice for another one, and texts, tables and frames have all.
    """

    answer: Answer | None = field(default=None, repr=False)  # the rankings for all metrics, and simulated errors

    @classmethod
    def of(cls, ranking: Ranking, answer: Answer | None = None) -> Self:
        """Return a ranking, and the ranking of the next round, as advice."""
        values = {item.name: getattr(ranking, item.name) for item in fields(Ranking)}
        later = ranking.next_round
        return cls(**values | {"next_round": None if later is None else cls.of(later)}, answer=answer)

    @property
    def _rankings(self) -> tuple[Ranking, ...]:
        return (self,) if self.answer is None else self.answer.rankings

    @property
    def summary(self) -> str:
        """The answer in sentences: warnings, the pair to use, its error, and tied pairs."""
        warnings = (f"Warning: {text}." for text in self.warnings)
        return flags_to_keywords(" ".join([*warnings, *map(summary, self._rankings)]))

    @property
    def best(self) -> Recommendation:
        """The first row; LookupError if no pair satisfies the constraints."""
        try:
            return super().best
        except LookupError as error:
            raise LookupError(flags_to_keywords(str(error))) from None

    @keyword_errors()
    def about(self, metric: str) -> Self:
        """Return the advice for one of its metrics.

        Raises InputError if it has no such metric.
        """
        for ranking in self._rankings:
            if ranking.metric == metric:
                answer = None if self.answer is None else replace(self.answer, rankings=(ranking,))
                return self.of(ranking, answer)
        raise InputError(f"this advice is not about {metric!r}: advise(…, metric=[…, {metric!r}])")

    @keyword_errors()
    def runs(self) -> pd.DataFrame:
        """Return the error of every repetition as a pandas data frame, with the columns that ``--runs`` writes.

        All pairs with one protocol see the same collections: repetition by repetition their errors can be compared.
        Where an estimate was given, rows that are ``judged`` tell how far each method is from possible truths.

        Raises
        ------
        InputError
            If the answer was predicted, or is that of a next round.
        """
        return self._simulated().runs_frame()

    @keyword_errors()
    def compare(self, baseline: str | tuple[str, str]) -> pd.DataFrame:
        """Return by how much the error of each pair differs from that of a baseline, and whether that is chance.

        Parameters and result are those of `advisor.api.sweep.Sweep.compare`. More repetitions of the first pairs are
        simulated as needed to tell them apart, which makes p too small for these; with
        ``Simulation(repetitions=40, max_repetitions=40)`` all have 40.

        Raises
        ------
        InputError
            If the baseline is unknown, nothing is compared with it, or the answer was predicted or is about an
            estimate.

        Examples
        --------
        >>> from advisor import advise
        >>> advice = advise(1.0, sample_counts=[500, 300, 200], protocol="grr", method=["norm_sub", "none"])
        >>> advice.compare("norm_sub")[["method", "repetitions"]].values.tolist()
        [['none', 20]]
        """
        answer, request = self._simulated(), self.request
        if request.collected is not None or request.threat is not None:
            kind = "an estimate" if request.threat is None else "an attack"
            raise InputError(f"compare() is for collections that are simulated from a sample, not for {kind}")
        place = request.epsilon, request.n, request.k
        cells = ((place, one.metric, answer.runs[0].of(one.metric)) for one in answer.rankings)
        return comparisons(cells, baseline)

    def _simulated(self) -> Answer:
        if self.answer is None or not self.answer.runs:
            why = (
                "was predicted: give a sample, without instant=True" if self.source == "grid" else "has no repetitions"
            )
            raise InputError(f"this answer {why}")
        return self.answer

    @keyword_errors()
    def apply(self, estimate: ArrayLike | None = None, method: Named | None = None) -> Any:
        """Return a raw frequency estimate ``(..., k)`` after the advised post-processing.

        Parameters
        ----------
        estimate
            Raw frequencies, categories in the order of ``request.labels``, from `n` users and the protocol of the best
            row; default: the estimate or tally that the advice is about. A pandas series, or a frame with one
            collection per row, is matched by its labels, and so is a mapping; the result has the same type, for a
            mapping it is a series.
        method
            A method to use instead of the best row's, by name or as a function, as `advise` takes them.

        Returns
        -------
        An array, or a series or frame with the index, the columns and the name of the estimate; without an estimate, a
        series by ``request.labels``, which are text.

        Raises
        ------
        InputError
            If the shape or a label does not fit, a value is not finite, or the method is unknown or not for this
            protocol.
        """
        if method is not None and not isinstance(method, str):
            method = member_of_python("method", method)
        if estimate is None:
            own = self.intervals()
            if method is None:
                return own["post_processed"]
            estimate = own["raw"]
        if isinstance(estimate, Mapping):
            import pandas as pd  # heavy

            estimate = pd.Series(estimate)
        if is_pandas(estimate) and hasattr(estimate, "to_numpy"):
            return applied_to(estimate, self.request.labels, lambda raw: post_process(self, raw, method))
        return post_process(self, estimate, method)

    @keyword_errors()
    def intervals(self, estimate: ArrayLike | None = None) -> pd.DataFrame:
        """Return the raw and the post-processed frequency of each category, and a 95 % interval of the true frequency.

        Parameters
        ----------
        estimate
            ``(k,)`` raw frequencies as `apply` takes them; default: the estimate or tally that the advice is about.

        Returns
        -------
        A data frame with the columns ``raw``, ``post_processed``, ``low`` and ``high``. Its index is that of the given
        series, or the labels as text. An interval holds for a single category, and uses only the raw estimate.

        Raises
        ------
        InputError
            If there is no estimate, or it is invalid.
        """
        import pandas as pd  # heavy

        estimate = pd.Series(estimate) if isinstance(estimate, Mapping) else estimate
        labels = self.request.labels or place_names(self.request.k)
        observed, places, index = None, None, pd.Index(labels, name="value")
        if estimate is not None:
            raw = np.asarray(estimate, np.float64)
            if is_pandas(estimate):
                raw, places = in_order_of(estimate, self.request.labels)
                index = getattr(estimate, "index", index)
            if raw.ndim != 1:
                raise InputError(f"intervals are of one estimate (k,), got shape {raw.shape}")
            observed = observed_as(self, raw)
        columns = applied_columns(self, observed)
        frame = pd.DataFrame(columns)
        return (frame if places is None else frame.iloc[places]).set_axis(index)

    def plot(self, path: str | Path | None = None, *, frequencies: bool = False, force: bool = False) -> Figure:
        """Draw the errors of the first pairs; needs matplotlib (the extra ``plot``).

        frequencies: draw the frequencies of a collection instead, raw and post-processed.
        path, force, result and errors: as in `advisor.api.shown.Shown.plot`.
        """
        target = plot_target(path, force=force)
        if not self.recommendations:
            raise InputError("there is nothing to draw: the constraints leave no pair")
        return written((frequencies_figure if frequencies else ranking_figure)(self), target)

    def to_frame(self) -> pd.DataFrame:
        """Return the ranking as a pandas data frame, one row for each recommendation.

        Its columns are the fields of `advisor.answers.rank.result.Recommendation` that have values here, and
        ``data_error``: the error in the unit of the data. With several metrics the first column is ``metric``.
        """
        import pandas as pd  # heavy

        rankings = self._rankings
        rows = [
            {**({"metric": one.metric} if len(rankings) > 1 else {}), **row_data(row, one)}
            for one in rankings
            for row in one.recommendations
        ]
        return pd.DataFrame(rows).dropna(axis=1, how="all") if rows else pd.DataFrame(columns=ROW_FIELDS)

    def _document(self) -> Document:
        return rank_document(self._rankings)

    def __repr__(self) -> str:
        best = self.recommendations[0] if self.recommendations else None
        pair = "nothing is left" if best is None else f"{best.protocol} with {best.method}"
        return f"<Advice: {pair}, {self.metric}, {setting_text(self.request)}>"


class Pareto(Shown, Frontier):
    """The frontier of an advice; its attributes are those of `advisor.answers.rank.trade_offs.Frontier`."""

    _document = pareto_document


def pareto(advice: Ranking) -> Pareto:
    """Return the frontier of mean error, attack success and bits per report.

    A pair is dominated if another pair is as good in all three and better in at least one. Errors within 5 % of the
    lowest error count as equal to it (`simulator.ranking.preference`). The first row is the answer of the ranking.

    Examples
    --------
    >>> from advisor import advise
    >>> frontier = pareto(advise(1.0, k=64))
    >>> len(frontier.rows) + len(frontier.dominated) == len(frontier.advice.recommendations)
    True
    """
    return Pareto.of(frontier_of(advice))


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
