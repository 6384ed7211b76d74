"""Advice: a ranking with methods for its use."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from advisor.answers.rank.apply import applied_columns, observed_as, post_process
from advisor.answers.rank.outlook import outlook
from advisor.answers.rank.result import Ranking
from advisor.answers.rank.why import why_of
from advisor.api.keywords import flags_to_keywords, keyword_errors
from advisor.api.shown import Shown, plot_target, written
from advisor.errors import InputError
from advisor.inputs.memory import applied_to, in_order_of, is_pandas
from advisor.show.model import Document, Section
from advisor.show.pictures.frequencies import frequencies_figure
from advisor.show.pictures.ranking import ranking_figure
from advisor.show.rank.answer import summary
from advisor.show.rank.data import row_data
from advisor.show.rank.document import page_sections, rank_document
from advisor.show.rank.notes import setting_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
from typing import TYPE_CHECKING

from advisor.answers.rank.trade_offs import Frontier, frontier_of
from advisor.show.pictures.ranking import pareto_figure
from advisor.show.rank.pareto import pareto_document, pareto_sections

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Advice(Ranking, Shown):
    """The answer to a request for one metric; attributes as in `advisor.answers.rank.result.Ranking`."""

    @classmethod
    def of(cls, ranking: Ranking) -> Self:
        """Return a ranking, and the ranking of the next round, as advice."""
        values = {item.name: getattr(ranking, item.name) for item in fields(ranking)}
        later = ranking.next_round
        return cls(**values | {"next_round": None if later is None else cls.of(later)})

    @property
    def summary(self) -> str:
        """The answer in sentences: warnings, the pair to use, its error, and tied pairs."""
        return flags_to_keywords(" ".join([*(f"Warning: {text}." for text in self.warnings), summary(self)]))

    @keyword_errors()
    def apply(self, estimate: ArrayLike | None = None, method: str | None = None) -> Any:
        """Return a raw frequency estimate ``(..., k)`` after the advised post-processing.

        Parameters
        ----------
        estimate
            Raw frequencies, categories in the order of ``request.labels``, from `n` users and the protocol of the best
            row; default: the estimate or tally that the advice is about. A pandas series, or a frame with one
            collection per row, is matched by its labels; the result has the same type.
        method
            A method to use instead of the best row's.

        Returns
        -------
        An array, or a series or frame with the index, the columns and the name of the estimate.

        Raises
        ------
        InputError
            If the shape or a label does not fit, a value is not finite, or the method is unknown or not for this
            protocol.
        """
        if estimate is None:
            own = self.intervals()
            if method is None:
                return own["post_processed"]
            estimate = own["raw"]
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

        observed, places, index = None, None, pd.Index(self.request.labels, name="value")
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

    def _sections(self) -> tuple[Section, ...]:
        return page_sections((self,), outlook(self), why_of(self))

    def to_frame(self) -> pd.DataFrame:
        """Return the ranking as a pandas data frame, one row for each recommendation.

        Its columns are the fields of `advisor.answers.rank.result.Recommendation` that have values here, and
        ``data_error``: the error in the unit of the data.
        """
        import pandas as pd  # heavy

        return pd.DataFrame([row_data(row, self) for row in self.recommendations]).dropna(axis=1, how="all")

    @property
    def _document(self) -> Document:
        return rank_document((self,))

    def __repr__(self) -> str:
        best = self.recommendations[0] if self.recommendations else None
        pair = "nothing is left" if best is None else f"{best.protocol} with {best.method}"
        return f"<Advice: {pair}, {self.metric}, {setting_text(self.request)}>"


class Pareto(Shown, Frontier):
    """The frontier of an advice; its attributes are those of `advisor.answers.rank.trade_offs.Frontier`."""

    @property
    def _document(self) -> Document:
        return pareto_document(self)

    def _figure(self) -> Figure | None:
        return pareto_figure(self) if self.rows else None

    def _sections(self) -> tuple[Section, ...]:
        return pareto_sections(self)


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
