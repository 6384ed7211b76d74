"""A sweep as the table of a paper: differences to a baseline with their significance, and LaTeX."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from advisor.answers.sweep.result import Cell, SweepResult
from advisor.errors import InputError
from advisor.members.names import method_name, pair_text, protocol_text, resolve
from advisor.question.sweep import Place
from advisor.show.data import LATEX
from simulator import __version__
from simulator.ranking import SAME, Pair, leading, paired_ratio, t_quantile

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.05
LOWER, HIGHER = r"$^{\ast}$", r"$^{\dagger}$"  # marks of errors that differ from the baseline's
Runs: TypeAlias = Mapping[Pair, Sequence[float] | NDArray[np.float64]]
SMALL, MOST_DECIMALS = -2, 4  # powers of ten below which a block has a factor, and decimals of its figures


def comparisons(cells: Iterable[tuple[Place, str, Runs]], baseline: str | Pair) -> pd.DataFrame:
    """Return the paired differences of all pairs to a baseline; see `advisor.api.sweep.Sweep.compare`.

    cells: place, metric, and the errors of all repetitions of the pairs there.
    """
    import pandas as pd  # heavy

    protocol, method = baseline_of(baseline)
    rows = []
    for (epsilon, n, k), metric, runs in cells:
        for pair, errors in runs.items():
            other = protocol or pair[0], method
            if other != pair and other in runs:
                names = {"protocol": pair[0], "method": pair[1], "baseline": " ".join(other)}
                place = {"eps": epsilon, "n": n, "k": k, "metric": metric}
                rows.append(place | names | _difference(errors, runs[other]))
    if not rows:
        name = method if protocol is None else f"{protocol} {method}"
        raise InputError(
            f"baseline {name}: there is nothing to compare with it; simulate it and others, "
            f"method=['{method}', …], or name one that was simulated"
        )
    frame = pd.DataFrame(rows)
    return frame.assign(p_holm=holm(frame["p"].to_numpy()))


def baseline_of(baseline: str | Pair) -> tuple[str | None, str]:
    """Return the protocol, if one is named, and the method of a baseline.

    Raises InputError if it is neither a method nor a pair.
    """
    if isinstance(baseline, str):
        return None, resolve("method", baseline)
    match baseline:
        case str(protocol), str(method):
            return resolve("protocol", protocol), resolve("method", method)
    raise InputError(f"baseline must be a method or a pair (protocol, method), got {baseline!r:.80}")


def _difference(
    errors: Sequence[float] | NDArray[np.float64], reference: Sequence[float] | NDArray[np.float64]
) -> dict[str, float]:
    """Return the mean paired difference of the repetitions that both have, with its t interval and test."""
    from scipy.special import stdtr  # heavy

    size = min(len(errors), len(reference))
    a, b = np.array(errors[:size]), np.array(reference[:size])
    if not np.isfinite([a, b]).all():
        return dict.fromkeys(("difference", "standard_error", "low", "high", "p"), math.nan) | {"repetitions": size}
    differences = np.where(np.abs(a - b) <= SAME * b, 0.0, a - b)
    mean, spread = float(differences.mean()), float(differences.std(ddof=1)) / math.sqrt(size)
    reach = t_quantile(size) * spread
    p = 2 * float(stdtr(size - 1, -abs(mean) / spread)) if spread else float(mean == 0)
    figures = {"difference": mean, "standard_error": spread, "low": mean - reach, "high": mean + reach, "p": p}
    return figures | {"repetitions": size}


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return p values that hold for all comparisons together, after Holm (1979); those that are not a number stay.

    >>> holm(np.array([0.01, 0.04, np.nan, 0.03])).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    order = np.argsort(p)
    steps = p[order] * (np.isfinite(p).sum() - np.arange(len(p)))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def latex_table(sweep: SweepResult, baseline: str | Pair | None) -> str:
    """Return the errors of all pairs in all cells as LaTeX; see `advisor.api.sweep.Sweep.to_latex`."""
    question, marks, lines = sweep.question, dict[tuple[object, ...], str](), _legend(sweep)
    if baseline is not None:
        frame = comparisons(((cell.place, cell.metric, cell.runs) for cell in sweep.cells), baseline)
        for row in frame[frame["p_holm"] < LEVEL].to_dict("records"):
            mark = LOWER if row["difference"] < 0 else HIGHER
            marks[row["eps"], row["n"], row["k"], row["metric"], row["protocol"], row["method"]] = mark
        protocol, method = baseline_of(baseline)
        name = f"{method_name(method)} with the same protocol" if protocol is None else pair_text(protocol, method)
        name = name.translate(LATEX)
        lines += [
            f"% {LOWER} lower, {HIGHER} higher error than {name}: $p < {LEVEL}$ in paired t tests, corrected for "
            f"{frame['p'].notna().sum():,} comparisons (Holm)."
        ]
    grid: dict[str, tuple[float, ...]] = {"eps": question.epsilons, "n": question.users, "k": question.sizes}
    along = next((name for name, values in grid.items() if len(values) > 1), "eps")
    columns, fixed = grid[along], {name: values for name, values in grid.items() if name != along}
    heads = " & ".join(_setting(along, x) for x in columns)
    lines += [rf"\begin{{tabular}}{{ll{'r' * len(columns)}}}", r"\toprule", rf"Protocol & Method & {heads} \\"]
    for metric in question.metrics:
        for values in product(*fixed.values()):
            block = dict(zip(fixed, values, strict=True))
            places = [tuple((block | {along: x})[name] for name in grid) for x in columns]
            cells = [cell for place in places for cell in sweep.cells if (cell.place, cell.metric) == (place, metric)]
            rows, unit = _rows(cells, marks)
            title = ", ".join([f"{metric.translate(LATEX)} error{unit}", *(_setting(*item) for item in block.items())])
            lines += [r"\midrule", rf"\multicolumn{{{2 + len(columns)}}}{{l}}{{{title}}} \\", *rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _legend(sweep: SweepResult) -> list[str]:
    question, repetitions = sweep.question, [len(errors) for cell in sweep.cells for errors in cell.runs.values()]
    times = " to ".join(f"{number:,}" for number in dict.fromkeys((min(repetitions), max(repetitions))))
    source = f"{question.first.name.translate(LATEX)}, seed {question.seed}, ldp-advise {__version__}"
    return [
        r"% needs \usepackage{booktabs}; a caption:",
        f"% Mean error of {times} simulated collections (standard error); {source}.",
        r"% Bold: lowest of a column and block. Underlined: within 5\,\% of it, or not separable from it.",
    ]


def _rows(cells: Sequence[Cell], marks: Mapping[tuple[object, ...], str]) -> tuple[list[str], str]:
    """Return the rows of a block, a cell for each column, and the unit of its figures as words."""
    figures = [one for cell in cells for one in cell.pairs.values() if 0 < one.error < math.inf]
    size = max((math.floor(math.log10(one.error)) for one in figures), default=0)
    power = size if size < SMALL else 0
    spreads = [math.floor(math.log10(one.standard_error)) - power for one in figures if one.standard_error > 0]
    decimals = min(max([1, *(-spread for spread in spreads)]), MOST_DECIMALS)
    texts: dict[Pair, list[str]] = {pair: [] for cell in cells for pair in cell.pairs}
    for cell in cells:
        blocks = {pair: np.array(errors) for pair, errors in cell.runs.items()}
        lowest = leading(blocks)
        for pair, row in texts.items():
            if pair not in cell.pairs:
                row.append("--")
                continue
            error, spread = (f"{figure / 10**power:.{decimals}f}" for figure in cell.pairs[pair][:2])
            if pair == lowest:
                error = rf"\textbf{{{error}}}"
            elif paired_ratio(blocks[pair], blocks[lowest]).is_tie:
                error = rf"\underline{{{error}}}"
            mark = marks.get((*cell.place, cell.metric, *pair), "")
            row.append(f"{error}{mark} ({spread})".replace("inf", r"$\infty$"))
    names = {(p, m): f"{protocol_text(p).translate(LATEX)} & {method_name(m).translate(LATEX)}" for p, m in texts}
    unit = rf" in $10^{{{power}}}$" if power else ""
    return [rf"{names[pair]} & {' & '.join(row)} \\" for pair, row in texts.items()], unit


def _setting(name: str, value: float) -> str:
    return rf"$\varepsilon = {value:g}$" if name == "eps" else f"${name} = {value:,}$".replace(",", "{,}")
