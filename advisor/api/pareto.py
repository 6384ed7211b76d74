"""``advisor.pareto``: the trade-offs of an advice as a function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.answers.rank.pareto import Frontier, frontier_of
from advisor.answers.rank.result import Ranking
from advisor.api.shown import Shown
from advisor.show.model import Document, Section
from advisor.show.pictures.ranking import pareto_figure
from advisor.show.rank.pareto import pareto_document, pareto_sections

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Pareto(Shown, Frontier):
    """The frontier of an advice; its attributes are those of `advisor.answers.rank.pareto.Frontier`."""

    @property
    def _document(self) -> Document:
        return pareto_document(self)

    def _figure(self) -> Figure | None:
        return pareto_figure(self) if self.rows else None

    def _sections(self) -> tuple[Section, ...]:
        return pareto_sections(self)


def pareto(advice: Ranking) -> Pareto:
    """Return the frontier of mean error, attack success and bits per report.

    A pair is dominated where another is as good in all three and better in one. Errors within 5 % of the lowest are as
    good as it (`simulator.ranking.preference`). The first row is the answer of the ranking.

    Examples
    --------
    >>> from advisor import advise
    >>> frontier = pareto(advise(1.0, k=64))
    >>> len(frontier.rows) + len(frontier.dominated) == len(frontier.advice.recommendations)
    True
    """
    return Pareto.of(frontier_of(advice))
