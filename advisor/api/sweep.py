"""``advisor.sweep``: the winners over a grid, as a function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from advisor.answers.sweep.answer import run_sweep
from advisor.answers.sweep.result import SweepResult
from advisor.api.keywords import keyword_errors
from advisor.api.paper import comparisons, latex_table
from advisor.api.shown import Shown, plot_target, written
from advisor.errors import InputError
from advisor.question.cleaning import Cleaning
from advisor.question.cluster import Cluster
from advisor.question.question import Question
from advisor.question.rules import check_sweep
from advisor.question.settings import Named, Shape, Simulation, values
from advisor.question.sweep import sweep_question
from advisor.show.pictures.sweep import curves_figure, regret_figure
from advisor.show.sweep import sweep_document
from simulator import __version__

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class Sweep(SweepResult, Shown):
    """The cells of a sweep; its attributes are those of `advisor.answers.sweep.result.SweepResult`."""

    def to_frame(self) -> pd.DataFrame:
        """Return the errors of all pairs in all cells as a pandas data frame.

        Its columns are ``eps``, ``n``, ``k``, ``metric``, ``protocol``, ``method``, ``error``, ``standard_error``,
        ``win_share`` (of the repetitions), ``ratio_to_best`` with its paired 95 % interval ``ratio_low`` and
        ``ratio_high``, and ``best``: whether it is the winner of its cell.
        """
        import pandas as pd  # heavy

        return pd.DataFrame(
            {"eps": cell.epsilon, "n": cell.n, "k": cell.k, "metric": cell.metric}
            | {"protocol": pair[0], "method": pair[1]}
            | figures._asdict()
            | {"best": pair == cell.winner.pair}
            for cell in self.cells
            for pair, figures in cell.pairs.items()
        )

    def runs(self) -> pd.DataFrame:
        """Return the error of every repetition as a pandas data frame, with the columns that ``--runs`` writes.

        Within a cell, all pairs with one protocol see the same collections: repetition by repetition their errors can
        be compared.
        """
        import pandas as pd  # heavy

        settings = {"seed": self.question.seed, "version": __version__}
        return pd.DataFrame(
            {"eps": cell.epsilon, "n": cell.n, "k": cell.k, **settings, "protocol": pair[0], "method": pair[1]}
            | {"metric": cell.metric, "repetition": repetition, "judged": False, "error": error}
            for cell in self.cells
            for pair, errors in cell.runs.items()
            for repetition, error in enumerate(errors)
        )

    @keyword_errors()
    def compare(self, baseline: str | tuple[str, str]) -> pd.DataFrame:
        """Return by how much the error of each pair differs from that of a baseline, and whether that is chance.

        Parameters
        ----------
        baseline
            A method, ``"norm_sub"``, with which others of the same protocol are compared; or a pair,
            ``("oue", "norm_sub")``, with which all others are.

        Returns
        -------
        A data frame, one row for each cell, metric and other pair: ``eps``, ``n``, ``k``, ``metric``, ``protocol``,
        ``method``, ``baseline``; ``difference``, the mean error minus that of the baseline, paired repetition by
        repetition, so below 0 if the pair is better; its ``standard_error`` and 95 % interval ``low`` to ``high``;
        ``p`` of the two-sided paired t test, ``p_holm``, corrected for the number of rows (Holm), and ``repetitions``.
        NaN where an error is infinite. Pairs of a protocol that the baseline does not go with are left out.

        The tests take the number of repetitions as fixed. With `max_repetitions`, it depends on the errors: then p may
        be too small.

        Raises
        ------
        InputError
            If the baseline is unknown, or nothing is compared with it.

        Examples
        --------
        >>> swept = sweep(eps=[1, 2], n=10_000, k=8, protocol="oue", method=["norm_sub", "none"])
        >>> swept.compare("norm_sub")["method"].tolist()
        ['none', 'none']
        """
        return comparisons(((cell.place, cell.metric, cell.runs) for cell in self.cells), baseline)

    @keyword_errors()
    def to_latex(self, baseline: str | tuple[str, str] | None = None) -> str:
        r"""Return the errors of all pairs as a table of a paper: a ``tabular`` of booktabs, for ``\input``.

        Columns are the values of ε (for a single ε those of n, or of k); the other settings and the metric make blocks,
        with a row for each pair: mean error and its standard error in brackets, the lowest of a cell in bold, those
        tied with it underlined. Comments at the top are the words of a caption.

        baseline: mark also what differs significantly from it: `p_holm` of `compare` below 0.05.

        Raises InputError as `compare`.
        """
        return latex_table(self, baseline)

    def plot(self, path: str | Path | None = None, *, curves: bool = False, force: bool = False) -> Figure:
        """Draw a map of the winners; needs matplotlib (the extra ``plot``).

        curves: draw the errors of all methods against ε (or n, for a single ε) instead.
        path, force, result and errors: as in `advisor.api.shown.Shown.plot`; InputError for several metrics, too.
        """
        if len(self.question.metrics) > 1:
            first = self.question.metrics[0]
            raise InputError(
                f"a picture is of one metric, and this sweep of {self.question.metric}: about({first!r}).plot()"
            )
        return written((curves_figure if curves else regret_figure)(self), plot_target(path, force=force))

    def __repr__(self) -> str:
        return f"<Sweep: {len(self.cells):,} cells, {self.question.metric}, frequencies of {self.question.first.name}>"

    _document = sweep_document


@keyword_errors()
def sweep(
    *,
    eps: float | Sequence[float] | None = None,
    n: int | Sequence[int] | None = None,
    k: int | Sequence[int] | None = None,
    sample: Iterable[Any] | None = None,
    sample_counts: ArrayLike | Mapping[Any, int] | None = None,
    metric: Named | Sequence[Named] = "l1",
    protocol: Named | Sequence[Named] | None = None,
    method: Named | Sequence[Named] | None = None,
    ordered: bool | None = None,
    resume: str | Path | None = None,
    shape: float | str | Shape | None = None,
    cleaning: Cleaning | None = None,
    simulation: Simulation | None = None,
    cluster: Cluster | None = None,
) -> Sweep:
    """Simulate all pairs in all cells of a grid of ε, n and k, and return the winners.

    The result has all errors (`to_frame`, `runs`), their differences to a baseline with significance (`compare`), and
    a paper's table (`to_latex`).

    Parameters
    ----------
    eps, n, k
        Values of ε, n and k. With a sample, the defaults of n and k are those of the sample.
    metric
        As in `advisor.advise`; several are judged by the same collections.
    sample, sample_counts, protocol, method, ordered, shape, cleaning
        As in `advisor.advise`.
    resume
        File of finished cells: its cells are not simulated again, and new cells are appended as they finish.
    simulation
        As in `advisor.advise`: simulated collections for each cell and pair (20), and processes; results do not depend
        on their number. Default: all cores for large sweeps.
    cluster
        ``Cluster(backend, scheduler)``: ``"loky"`` (processes), ``"threading"`` or ``"dask"``, and the address of a
        Dask scheduler; without an address, Dask makes a cluster on this machine.

    Raises
    ------
    InputError
        If a value is invalid, or the file holds other content than cells of this sweep.

    Examples
    --------
    >>> swept = sweep(eps=1, n=10_000, k=8, protocol=["grr", "oue"], method="norm_sub")
    >>> swept.at(1.0, 10_000, 8).winner.method
    'norm_sub'
    """
    one = {"eps": None, "n": None, "k": None}
    several = {"epsilons": values(eps), "users": values(n), "sizes": values(k)}
    question = Question.of(locals() | one | several)
    check_sweep(question, resumes=resume is not None)
    return Sweep.of(run_sweep(sweep_question(question), question.simulation, question.cluster, resume=resume))
