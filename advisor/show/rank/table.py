"""The ranked table: its columns, what they mean, and its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial

from advisor.answers.rank.result import Baseline, Ranking, Recommendation
from advisor.figures import change, error_text, gain, number, percent, times
from advisor.question.request import Request
from advisor.question.units import data_error, size_text
from advisor.show.model import Column, Row, Table, Tone
from simulator.foreign import REGISTERED
from simulator.ranking import Pair

BASELINE_NAMES = {
    "raw": "raw estimate",
    "uniform": "uniform guess",
    "zero": "guessing 0",
    "default": "usual default",
    "central": "trusted server",
}
SQUARED = ("mse", "l2")  # metrics of which users are worth something, as n times the error stays the same
REPEATED = "mean over the repetitions, with its 95 % interval"
ERROR = "mean over what the frequencies may be (of squares: of their roots, squared), with its 95 % range"
ATTACK = "how often the best guess from one report is the user's value"
RANK = "1=: within 5 % of the lowest error, or not separable from it; else the place by error"
PICK = "recommended"

Figure = tuple[str, float | None]  # what a cell shows, and the figure behind it


@dataclass(frozen=True)
class _Field:
    """A column, how a cell of it is made, and for which rankings it says something."""

    column: Column
    cell: Callable[[Recommendation, Ranking], Figure]
    _: KW_ONLY
    fits: Callable[[Ranking], bool] | None = None


def ranked_table(ranking: Ranking) -> Table:
    """Return all rows of a ranking and, where their errors belong, the rows to compare with."""
    chosen = [field for field in _fields(ranking) if field.fits is None or field.fits(ranking)]
    columns = (*(field.column for field in chosen), Column("", text=True, drop=2))
    notes = {(row.protocol, row.method): row.kind for row in ranking.baselines if row.protocol is not None}
    own = best_of_own(row.pair for row in ranking.recommendations)
    rows: list[tuple[int, bool, Row]] = []
    for place, one in enumerate(ranking.recommendations):
        note = notes.get(one.pair)
        figures = [field.cell(one, ranking) for field in chosen]
        tone = Tone.GOOD if one.tier == 1 else Tone.PLAIN if note is None else Tone.MARKED
        marks = ([PICK] if place == 0 else []) + ([] if note is None else [BASELINE_NAMES[note]])
        mark = f"◂ {', '.join(marks)}" if marks else ""
        cells, values = tuple(text for text, _ in figures), tuple(value for _, value in figures)
        rows.append(
            (place, False, Row((*cells, mark), (*values, None), tone, kept=note is not None or one.pair in own))
        )
    inside = {row.pair for row in ranking.recommendations}
    for baseline in map(partial(_better_guess, ranking), ranking.baselines):
        if baseline.protocol is None or (baseline.protocol, baseline.method) not in inside:
            better = [place for place, row in enumerate(ranking.recommendations) if row.error <= baseline.error]
            rows.append((max(better, default=-1), True, _baseline_row(baseline, columns, ranking)))
    rows.sort(key=lambda item: item[:2])
    return Table(columns, tuple(row for _, _, row in rows), noun="pairs")


def best_of_own(pairs: Iterable[Pair]) -> set[Pair]:
    """Return of each member that the caller brought the pair that is ranked first: it is shown wherever it stands."""
    first: dict[str, Pair] = {}
    for pair in pairs:
        for name in REGISTERED.keys() & set(pair):
            first.setdefault(name, pair)
    return set(first.values())


def _better_guess(ranking: Ranking, row: Baseline) -> Baseline:
    """Return the row of an answer without data as the better of the two guesses, which verdicts compare with."""
    without = ranking.error_without_data
    if row.kind != "uniform" or without is None or not without < row.error:
        return row
    ratio = None if row.ratio_to_best is None else row.ratio_to_best * without / row.error
    return row._replace(kind="zero", error=without, ratio_to_best=ratio, ratio_low=None, ratio_high=None)


def _baseline_row(row: Baseline, columns: tuple[Column, ...], ranking: Ranking) -> Row:
    shown: dict[str, Figure] = {
        "rank": ("–", None),
        "protocol": (row.protocol or "–", None),
        "method": (row.method or "(no data)", None),
        _in_unit(ranking): _in_data(row, ranking),
        "to best": (times(row.ratio_to_best), row.ratio_to_best),
        "95 % interval": (_interval(row), row.ratio_low),
        "": (f"◂ {BASELINE_NAMES[row.kind]}", None),
    }
    error = (number(row.error), row.error)
    cells = [error if column.header.endswith(" error") else shown.get(column.header, ("", None)) for column in columns]
    return Row(tuple(text for text, _ in cells), tuple(value for _, value in cells), Tone.MARKED, extra=True)


def _in_unit(ranking: Ranking) -> str:
    return "" if ranking.request.bins is None else f"in {ranking.request.bins.name}"


def _error(row: Recommendation, ranking: Ranking) -> Figure:
    return error_text(row.error, row.error_low, row.error_high, ranges=ranking.over_populations), row.error


def _in_data(row: Recommendation | Baseline, ranking: Ranking) -> Figure:
    size = data_error(ranking.metric, row.error, ranking.request.bins)
    return "–" if size is None else size_text(size), size


def _is_estimate(ranking: Ranking) -> bool:
    return any(row.probability_best is not None for row in ranking.recommendations)


def _is_threatened(ranking: Ranking) -> bool:
    return ranking.request.threat is not None


def _interval(row: Recommendation | Baseline) -> str:
    if row.ratio_low is None or row.ratio_high is None:
        return "–"
    return f"{row.ratio_low:.2f}–{row.ratio_high:.2f}"


def _versus_raw(row: Recommendation, _: Ranking) -> Figure:
    raw = row.error_without_postprocessing
    return ("–", None) if raw is None else (change(row.error, raw), row.error / raw if raw else None)


def _worth(row: Recommendation, ranking: Ranking) -> Figure:
    ratio = None if row.equivalent_users is None else row.equivalent_users / ranking.request.n
    return times(ratio), ratio


def _share(value: float | None) -> Figure:
    return "–" if value is None else f"{100 * value:.0f} %", value


def _gain(value: float | None, missing: str) -> Figure:
    return missing if value is None else gain(value), value


def _fields(ranking: Ranking) -> tuple[_Field, ...]:
    meaning = "" if ranking.source == "grid" else ERROR if ranking.over_populations else REPEATED
    errors = (
        _Field(Column(f"{ranking.metric} error", meaning), _error),
        _Field(
            Column(_in_unit(ranking), "the error in the unit of the data: bins times their width", drop=2),
            _in_data,
            fits=lambda one: data_error(one.metric, 0.0, one.request.bins) is not None,
        ),
    )
    return (*_NAMES, *errors, *(_of_request(one, ranking.request) for one in _FIGURES))


def _of_request(one: _Field, request: Request) -> _Field:
    """Return a field with what its meaning depends on: what an attacker knows besides the report."""
    if one.column.meaning != ATTACK:
        return one
    return replace(one, column=replace(one.column, meaning=f"{ATTACK}, {attacker_text(request)}"))


def attacker_text(request: Request) -> str:
    """Return what the attacker knows besides a report, and how often a guess without one is right."""
    known = "by who knows the frequencies of the sample"
    equal = f"of {request.k:,} equally likely ones"
    return f"{known if request.has_sample else equal}; without a report {percent(request.prior_guess)}"


_NAMES = (
    _Field(Column("rank", RANK), lambda row, _: (f"{row.rank}=" if row.tied else str(row.rank), row.rank)),
    _Field(Column("protocol", text=True), lambda row, _: (row.protocol, None)),
    _Field(Column("method", text=True), lambda row, _: (row.method, None)),
)
_FIGURES = (
    _Field(
        Column("to best", "error over the lowest one, paired over the repetitions that both have", drop=2),
        lambda row, _: (times(row.ratio_to_best), row.ratio_to_best),
    ),
    _Field(Column("95 % interval", drop=4), lambda row, _: (_interval(row), row.ratio_low)),
    _Field(Column("vs no PP", "change against the raw estimate of the same protocol", drop=3), _versus_raw),
    _Field(
        Column("best", "probability that the error is within 2 % of the lowest", drop=1),
        lambda row, _: _share(row.probability_best),
        fits=_is_estimate,
    ),
    _Field(
        Column("no attack", "mean error where nobody attacks", drop=1),
        lambda row, _: (
            "–" if row.error_unattacked is None else number(row.error_unattacked),
            row.error_unattacked,
        ),
        fits=_is_threatened,
    ),
    _Field(
        Column("random gain", "rise of the promoted frequencies when fake users send random reports", drop=3),
        lambda row, _: _gain(row.gain_random_value, "–"),
        fits=_is_threatened,
    ),
    _Field(
        Column("max. gain", "the same when they send the reports that help most", drop=1),
        lambda row, _: _gain(row.gain_maximal, "no bound"),
        fits=_is_threatened,
    ),
    _Field(
        Column("n′/n", "times the users that the raw estimate would need for the same mean squared error", drop=5),
        _worth,
        fits=lambda ranking: ranking.source != "grid" and ranking.metric in SQUARED,
    ),
    _Field(
        Column("ε₀", "budget of one report: with the shuffler it keeps the promise", drop=2),
        lambda row, _: ("–" if row.epsilon is None else f"{row.epsilon:.3g}", row.epsilon),
        fits=lambda ranking: ranking.request.central is not None,
    ),
    _Field(Column("bits", "size of one report", drop=1), lambda row, _: (f"{row.report_bits:,}", row.report_bits)),
    _Field(Column("attack", ATTACK, drop=7), lambda row, _: (percent(row.attack_success), row.attack_success)),
    _Field(
        Column("won", "share of the repetitions in which the row has the lowest error", drop=8),
        lambda row, _: _share(row.win_share),
        fits=lambda ranking: ranking.source != "grid" and not _is_estimate(ranking),
    ),
    _Field(
        Column("runs", "repetitions behind the row; more for pairs that are hard to separate", drop=9, verbose=True),
        lambda row, _: (f"{row.repetitions:,}", row.repetitions),
        fits=lambda ranking: ranking.source != "grid",
    ),
    _Field(
        Column(
            "figures",
            "whether the model interpolates between what was simulated",
            text=True,
            drop=6,
            shared="All figures are {}.",
        ),
        lambda row, _: (row.origin or "", None),
        fits=lambda ranking: ranking.source == "grid",
    ),
)
