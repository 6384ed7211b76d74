"""The ranked table: its columns, what they mean, and its rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from advisor.answers.rank.result import ZERO, Baseline, Ranking, Recommendation
from advisor.answers.rank.verdict import USELESS
from advisor.figures import change, error_text, gain, number, percent, times, whole_percent
from advisor.members.names import method_name, protocol_text
from advisor.question.request import Request
from advisor.show.model import Cell, Column, Row, Table, Tone, figure_cell
from advisor.show.sentences import data_error, size_text
from simulator.foreign import REGISTERED
from simulator.ranking import Pair, Ratio

BASELINE_NAMES = {
    "raw": "raw estimate",
    "uniform": "uniform guess",
    "zero": "guessing 0",
    "default": "usual default",
    "central": "trusted server",
}
REPEATED = "mean over the repetitions, with its 95 % interval"
ERROR = "mean over what the frequencies may be (of squares: of their roots, squared), with its 95 % range"
ATTACK = "how often the best guess from one report is the user's value"
RATIO = "error over the lowest one, paired over the repetitions that both have"
UNIT = "the error in the unit of the data: bins times their width"
RAW = "change against the raw estimate of the protocol"
BEST = "probability that the error is within 2 % of the lowest"
CALM = "mean error where nobody attacks"
GAIN = "rise of the promoted frequencies when fake users send random reports"
MAXIMAL = "the same when they send the reports that speak most for them"
BUDGET = "budget of one report: with the shuffler it keeps the promise"
RUNS = "repetitions behind the row; more for pairs that are hard to separate"
RANK = "1=: within 5 % of the lowest error, or not separable from it; else the place by error"
PICK, LEAST_BAD = "recommended", "best of these"  # the first row, and where not even that is worth it

Field = tuple[Column, Callable[[Recommendation], Cell]]  # a column, and how a cell of it is made


def ranked_table(ranking: Ranking, own: Sequence[Field] = ()) -> Table:
    """Return all rows of a ranking and, where their errors belong, the rows to compare with.

    Tied rows of a protocol are a group: a table that is cut shows the first of them, or those to compare with.

    own: columns beside those of every ranking.
    """
    baselines = {(row.protocol or "", row.method or ""): BASELINE_NAMES[row.kind] for row in ranking.baselines}
    pick, pick_tone = (LEAST_BAD, Tone.MARKED) if ranking.verdict == USELESS else (PICK, Tone.PICK)
    notes = {**baselines, ranking.best.pair: ", ".join(filter(None, (pick, baselines.get(ranking.best.pair))))}
    kept = {*notes, *best_of_own(row.pair for row in ranking.recommendations)}
    fields = _fields(ranking, notes, own)
    columns = tuple(column for column, _ in fields)
    rows: list[tuple[int, bool, Row]] = []
    for place, row in enumerate(ranking.recommendations):
        tone = Tone.MARKED if row.pair in notes else Tone.FAINT if row.tier == 1 else Tone.PLAIN
        rows.append(
            (
                place,
                False,
                Row.of(
                    [cell(row) for _, cell in fields],
                    pick_tone if place == 0 else tone,
                    kept=row.pair in kept,
                    group=row.protocol if row.tier == 1 else "",
                    ratio=ratio_of(row),
                ),
            )
        )
    inside = {row.pair for row in ranking.recommendations}
    for baseline in map(partial(_better_guess, ranking), ranking.baselines):
        if baseline.protocol is None or (baseline.protocol, baseline.method) not in inside:
            better = [place for place, row in enumerate(ranking.recommendations) if row.error <= baseline.error]
            rows.append((max(better, default=-1), True, _baseline_row(baseline, columns, ranking)))
    rows.sort(key=lambda item: item[:2])
    return Table(columns, tuple(row for _, _, row in rows), noun="pairs", brief=True)


def best_of_own(pairs: Iterable[Pair]) -> set[Pair]:
    """Return of each member that the caller brought the pair that is ranked first: it is shown wherever it stands."""
    first: dict[str, Pair] = {}
    for pair in pairs:
        for name in REGISTERED.keys() & set(pair):
            first.setdefault(name, pair)
    return set(first.values())


def _better_guess(ranking: Ranking, row: Baseline) -> Baseline:
    """Return the row of a uniform guess, or that of guessing 0 where this has the lower error."""
    without = ranking.error_without_data
    if row.kind != "uniform" or without is None or ranking.guess_without_data != ZERO:
        return row
    ratio = None if row.ratio_to_best is None else row.ratio_to_best * without / row.error
    return row._replace(kind="zero", error=without, ratio_to_best=ratio, ratio_low=None, ratio_high=None)


def _baseline_row(row: Baseline, columns: tuple[Column, ...], ranking: Ranking) -> Row:
    cells: dict[str, Cell] = {
        "rank": "–",
        "protocol": row.protocol or "–",
        "method": row.method or "(no data)",
        f"{ranking.metric} error": (number(row.error, 3), row.error),
        _in_unit(ranking): _in_data(ranking, row),
        "ratio": (times(row.ratio_to_best), row.ratio_to_best),
        "95 % interval": _interval(row),
        "": f"◂ {BASELINE_NAMES[row.kind]}",
    }
    return Row.of((cells.get(one.header, "") for one in columns), Tone.MARKED, extra=True, ratio=ratio_of(row))


def error_cell(row: Recommendation, ranking: Ranking, scale: float = 1.0) -> tuple[str, float]:
    """Return the error of a row with its 95 % interval, and the figure alone; `scale`: that of an error of 1."""
    error, low, high = (scale * value for value in (row.error, row.error_low, row.error_high))
    return error_text(error, low, high, ranges=ranking.over_populations), error


def _in_unit(ranking: Ranking) -> str:
    return "" if ranking.request.bins is None else f"in {ranking.request.bins.name}"


def _in_data(ranking: Ranking, row: Recommendation | Baseline) -> Cell:
    return figure_cell(data_error(ranking.metric, row.error, ranking.request.bins), size_text)


def ratio_of(row: Recommendation | Baseline) -> Ratio | None:
    """Return the error of a row over the lowest one; without an interval its ends are the ratio itself."""
    ratio = row.ratio_to_best
    return None if ratio is None else Ratio(ratio, row.ratio_low or ratio, row.ratio_high or ratio)


def _interval(row: Recommendation | Baseline) -> Cell:
    if row.ratio_low is None or row.ratio_high is None:
        return "–", row.ratio_low
    return f"{row.ratio_low:.2f}–{row.ratio_high:.2f}", row.ratio_low


def _versus_raw(row: Recommendation) -> Cell:
    raw = row.error_without_postprocessing
    return "–" if raw is None else (change(row.error, raw), row.error / raw if 0 < raw < math.inf else None)


def _fields(ranking: Ranking, notes: Mapping[tuple[str, str], str], own: Sequence[Field]) -> list[Field]:
    """Return the columns of a ranking: some depend on the metric, a threat, a shuffler, or simulation."""
    request, rows, simulated = ranking.request, ranking.recommendations, ranking.source != "grid"
    judged = any(row.probability_best is not None for row in rows)
    meaning = "" if not simulated else ERROR if ranking.over_populations else REPEATED
    attack = Column("attack", f"{ATTACK}, {attacker_text(request)}", drop=7, verbose=True)
    columns: list[tuple[bool, Column, Callable[[Recommendation], Cell]]] = [  # whether it is there, and its cells
        (True, Column("rank", RANK, drop=1), lambda row: (f"{row.rank}=" if row.tied else str(row.rank), row.rank)),
        (not ranking.of_estimate, Column("protocol", text=True, names=protocol_text), lambda row: row.protocol),
        (True, Column("method", text=True, names=method_name), lambda row: row.method),
        (True, Column("", text=True, drop=1), lambda row: f"◂ {notes[row.pair]}" if row.pair in notes else ""),
        (True, Column(f"{ranking.metric} error", meaning), lambda row: error_cell(row, ranking)),
        (
            data_error(ranking.metric, 0.0, request.bins) is not None,
            Column(_in_unit(ranking), UNIT, drop=2),
            partial(_in_data, ranking),
        ),
        (True, Column("ratio", RATIO, drop=2), lambda row: (times(row.ratio_to_best), row.ratio_to_best)),
        (True, Column("95 % interval", "of the ratio", drop=4, verbose=True), _interval),
        (True, Column("vs raw", RAW, drop=3, verbose=True), _versus_raw),
        (judged, Column("best", BEST, drop=1), lambda row: figure_cell(row.probability_best, whole_percent)),
        (
            request.threat is not None,
            Column("no attack", CALM, drop=1),
            lambda row: figure_cell(row.error_unattacked, number),
        ),
        (
            request.threat is not None,
            Column("random gain", GAIN, drop=3),
            lambda row: figure_cell(row.gain_random_value, gain),
        ),
        (request.threat is not None, Column("max. gain", MAXIMAL, drop=1), _maximal_gain),
        (
            request.central is not None,
            Column("ε₀", BUDGET, drop=2),
            lambda row: figure_cell(row.epsilon, "{:.3g}".format),
        ),
        *((True, column, cell) for column, cell in own),
        (
            not ranking.of_estimate,
            Column("bits", "size of one report", drop=3),
            lambda row: (f"{row.report_bits:,}", row.report_bits),
        ),
        (True, attack, lambda row: (percent(row.attack_success), row.attack_success)),
        (simulated, Column("runs", RUNS, drop=9, verbose=True), lambda row: (f"{row.repetitions:,}", row.repetitions)),
    ]
    return [(column, cell) for there, column, cell in columns if there]


def _maximal_gain(row: Recommendation) -> Cell:
    return "no bound" if row.gain_maximal is None else (gain(row.gain_maximal), row.gain_maximal)


def attacker_text(request: Request) -> str:
    """Return what the attacker knows besides a report, and how often a guess without one is right."""
    informed = "by who knows the frequencies of the sample"
    equal = f"of {request.k:,} equally likely ones"
    return f"{informed if request.has_sample else equal}; without a report {percent(request.prior_guess)}"
