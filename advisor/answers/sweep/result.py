"""The result of a sweep: the winner of each cell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from advisor.members.names import UNPROCESSED
from advisor.question.sweep import Place, SweepQuestion
from simulator.ranking import PRACTICAL_RATIO, SAME, Pair


@dataclass(frozen=True)
class Winner:
    """The pair to use in a cell, among all pairs or those of one protocol: see `simulator.ranking.preference`."""

    protocol: str
    method: str
    # error, standard_error: its mean error over the repetitions
    error: float
    standard_error: float
    win_share: float  # share of the repetitions in which it has the lowest error of all competitors
    # margin, margin_low, margin_high: excess of the runner-up's error, as a share, and the paired 95 % interval; None
    # without a runner-up, or if the error of the winner is 0. Negative if the winner has the cheaper report, and an
    # error within 5 % of the lowest
    margin: float | None
    margin_low: float | None
    margin_high: float | None
    runner_up: Pair | None  # of the others the pair with the lowest mean error

    @property
    def pair(self) -> Pair:
        """(protocol, method)."""
        return self.protocol, self.method

    @property
    def sure(self) -> bool:
        """Whether the interval of the margin excludes 0, and be it the 0 of two errors that differ by rounding."""
        return self.margin_low is not None and self.margin_low > SAME


class PairError(NamedTuple):
    """The result of a pair in a cell."""

    error: float  # mean over the repetitions
    standard_error: float
    win_share: float  # as that of a winner
    # ratio_to_best, ratio_low, ratio_high: its error divided by the winner's, and the paired 95 % interval; None if the
    # error of the winner is 0
    ratio_to_best: float | None
    ratio_low: float | None
    ratio_high: float | None


@dataclass(frozen=True)
class Cell:
    """A cell of a sweep in a metric: the winner, that of each protocol, and the results of all pairs."""

    epsilon: float
    n: int
    k: int
    metric: str
    winner: Winner
    by_protocol: tuple[Winner, ...]
    pairs: Mapping[Pair, PairError]
    runs: Mapping[Pair, tuple[float, ...]]  # the error of each repetition; all pairs see the same collections

    @property
    def errors(self) -> Mapping[Pair, float]:
        """The mean error of each pair."""
        return {pair: figures.error for pair, figures in self.pairs.items()}

    @property
    def place(self) -> Place:
        """(epsilon, n, k)."""
        return self.epsilon, self.n, self.k

    def of_protocol(self, protocol: str) -> Cell | None:
        """Return the cell with the pairs of a protocol alone; None if the protocol has no winner here."""
        winner = next((winner for winner in self.by_protocol if winner.protocol == protocol), None)
        pairs = {pair: figures for pair, figures in self.pairs.items() if pair[0] == protocol}
        return None if winner is None else replace(self, winner=winner, pairs=pairs)

    @property
    def other_methods(self) -> Mapping[str, float]:
        """The lowest error of each method but the winner's, by error."""
        errors = sorted(self.errors.items(), key=lambda item: -item[1])
        best = {method: error for (_, method), error in errors if method != self.winner.method}
        return dict(sorted(best.items(), key=lambda item: item[1]))

    @property
    def tied(self) -> tuple[str, ...]:
        """The other methods within 5 % of the winner, or not separable from it, the nearest first."""
        winner, inseparable = self.winner, set[str]()
        if self.pairs[winner.pair].ratio_to_best in (1, None):  # this winner is what all pairs are compared with
            inseparable = {pair[1] for pair in self.pairs if not self.is_clearly_worse(pair)}
        if winner.runner_up is not None and not winner.sure:
            inseparable.add(winner.runner_up[1])
        return tuple(
            method
            for method, error in self.other_methods.items()
            if (error <= winner.error * PRACTICAL_RATIO or method in inseparable)
            and (error < math.inf or winner.error == math.inf)
        )

    def is_clearly_worse(self, pair: Pair) -> bool:
        """Whether a pair is more than 5 % worse than the winner of all, and separable from it; or not there."""
        figures = self.pairs.get(pair)
        if figures is None:
            return True
        separable = figures.ratio_low is None or figures.ratio_low > 1
        return separable and figures.error > self.winner.error * PRACTICAL_RATIO

    @property
    def words(self) -> str:
        """The certainty of the winner's method: the methods tied with it, or the margin to the next method."""
        error, tied = self.winner.error, self.tied
        if error == math.inf:
            return "infinite error"
        if tied:
            only = "the raw estimate" if tied[0] == UNPROCESSED else tied[0]
            return f"tied: {only}" if len(tied) == 1 else f"{len(tied)} methods tied"
        behind = min(self.other_methods.values(), default=math.inf) / error - 1 if error > 0 else math.inf
        return "" if math.isinf(behind) else f"next method +{100 * behind:.0f} %"


@dataclass(frozen=True, eq=False)
class SweepResult:
    """The cells of a sweep, in the order of `SweepQuestion.places`; in each place a cell for each metric."""

    question: SweepQuestion
    cells: tuple[Cell, ...]

    def at(self, epsilon: float, n: int, k: int, metric: str | None = None) -> Cell:
        """Return a cell, of the first metric if none is named.

        Raises KeyError if the sweep has no such cell.
        """
        for cell in self.cells:
            if cell.place == (epsilon, n, k) and metric in (None, cell.metric):
                return cell
        raise KeyError((epsilon, n, k, *([] if metric is None else [metric])))

    def about(self, metric: str) -> Self:
        """Return the sweep in one of its metrics."""
        cells = tuple(cell for cell in self.cells if cell.metric == metric)
        return replace(self, question=replace(self.question, metrics=(metric,)), cells=cells)
