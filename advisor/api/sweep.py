"""``advisor.sweep``: the winners over a grid, as a function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from numpy.typing import ArrayLike

from advisor.answers.sweep.answer import run_sweep
from advisor.answers.sweep.result import SweepResult
from advisor.api.keywords import keyword_errors
from advisor.api.shown import Shown, plot_target, written
from advisor.question.cluster import Cluster
from advisor.question.question import Question
from advisor.question.rules import check_sweep
from advisor.question.settings import Named, alias
from advisor.question.sweep import sweep_question
from advisor.show.model import Document
from advisor.show.pictures.sweep import curves_figure, regret_figure
from advisor.show.sweep import sweep_document

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

T = TypeVar("T")


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
            {"eps": cell.epsilon, "n": cell.n, "k": cell.k, "metric": self.question.metric}
            | {"protocol": pair[0], "method": pair[1]}
            | figures._asdict()
            | {"best": pair == (cell.winner.protocol, cell.winner.method)}
            for cell in self.cells
            for pair, figures in cell.pairs.items()
        )

    def plot(self, path: str | Path | None = None, *, curves: bool = False, force: bool = False) -> Figure:
        """Draw a map of the winners; needs matplotlib (the extra ``plot``).

        curves: draw the errors of all methods against ε (or n, for a single ε) instead.
        path, force, result and errors: as in `advisor.api.shown.Shown.plot`.
        """
        return written((curves_figure if curves else regret_figure)(self), plot_target(path, force=force))

    def __repr__(self) -> str:
        return f"<Sweep: {len(self.cells):,} cells, {self.question.metric}, frequencies of {self.question.first.name}>"

    @property
    def _document(self) -> Document:
        return sweep_document(self)


@keyword_errors()
def sweep(
    *,
    eps: float | Sequence[float] | None = None,
    n: int | Sequence[int] | None = None,
    k: int | Sequence[int] | None = None,
    metric: Named = "l1",
    sample: Iterable[Any] | None = None,
    sample_counts: ArrayLike | Mapping[Any, int] | None = None,
    skew: float | None = None,
    shape: str | None = None,
    ordered: bool | None = None,
    protocol: Named | Sequence[Named] | None = None,
    method: Named | Sequence[Named] | None = None,
    repetitions: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
    backend: str | None = None,
    scheduler: str | None = None,
    resume: str | Path | None = None,
    bins: int | None = None,
    bin_width: float | None = None,
    edges: Sequence[float] = (),
    clamp: bool = False,
    unit: str | None = None,
    epsilons: float | Sequence[float] | None = None,
    users: int | Sequence[int] | None = None,
    sizes: int | Sequence[int] | None = None,
) -> Sweep:
    """Simulate all pairs in all cells of a grid of ε, n and k, and return the winners.

    Parameters
    ----------
    eps, n, k
        Values of ε, n and k; ``epsilons``, ``users`` and ``sizes`` are the same. With a sample, the defaults of n and k
        are those of the sample.
    metric, sample, sample_counts, skew, shape, ordered, protocol, method, seed
        As in `advisor.advise`.
    bins, bin_width, edges, clamp, unit
        As in `advisor.advise`.
    repetitions
        Number of simulated collections for each cell and pair (20).
    jobs
        Number of processes; results do not depend on it. Default: all cores for large sweeps.
    backend, scheduler
        ``"loky"`` (processes), ``"threading"`` or ``"dask"``, and the address of a Dask scheduler; without an address,
        Dask makes a cluster on this machine.
    resume
        File of finished cells: its cells are not simulated again, and new cells are appended as they finish.

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
    grid = {
        "epsilons": alias("eps", _values(eps), "epsilons", _values(epsilons)),
        "users": alias("n", _values(n), "users", _values(users)),
        "sizes": alias("k", _values(k), "sizes", _values(sizes)),
    }
    question = Question.of(locals() | {"n": None, "k": None} | grid)
    check_sweep(question, resumes=resume is not None)
    cluster = {"backend": backend, "scheduler": scheduler}
    on = Cluster(**{name: value for name, value in cluster.items() if value is not None})
    return Sweep.of(run_sweep(sweep_question(question), question.simulation, on, resume=resume))


def _values(given: T | Iterable[T] | None) -> tuple[T, ...] | None:
    """Return the values of a Python call as a tuple."""
    if given is None:
        return None
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
