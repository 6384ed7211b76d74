"""The ranked table: its columns, what they mean, and its rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
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
SQUARED = ("mse", "l2")  # metrics of which users are worth something, as n times the error stays the same
REPEATED = "mean over the repetitions, with its 95 % interval"
ERROR = "mean over what the frequencies may be (of squares: of their roots, squared), with its 95 % range"
ATTACK = "how often the best guess from one report is the user's value"
RANK = "1=: within 5 % of the lowest error, or not separable from it; else the place by error"
PICK, LEAST_BAD = "recommended", "best of these"  # the first row, and where not even that is worth it

Field = tuple[Column, Callable[[Recommendation], Cell]]  # a column, and how a cell of it is made


def ranked_table(ranking: Ranking) -> Table:
    """Return all rows of a ranking and, where their errors belong, the rows to compare with.

    Tied rows of a protocol are a group: a table that is cut shows the first of them, or those to compare with.
    """
    baselines = {(row.protocol or "", row.method or ""): BASELINE_NAMES[row.kind] for row in ranking.baselines}
    pick, pick_tone = (LEAST_BAD, Tone.MARKED) if ranking.verdict == USELESS else (PICK, Tone.PICK)
    notes = {**baselines, ranking.best.pair: ", ".join(filter(None, (pick, baselines.get(ranking.best.pair))))}
    kept = {*notes, *best_of_own(row.pair for row in ranking.recommendations)}
    fields = _fields(ranking, notes)
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
                    ratio=_ratio(row),
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
    return Row.of((cells.get(one.header, "") for one in columns), Tone.MARKED, extra=True, ratio=_ratio(row))


def error_cell(row: Recommendation, ranking: Ranking) -> tuple[str, float]:
    """Return the error of a row with its 95 % interval, and the figure alone."""
    return error_text(row.error, row.error_low, row.error_high, ranges=ranking.over_populations), row.error


def _in_unit(ranking: Ranking) -> str:
    return "" if ranking.request.bins is None else f"in {ranking.request.bins.name}"


def _in_data(ranking: Ranking, row: Recommendation | Baseline) -> Cell:
    return figure_cell(data_error(ranking.metric, row.error, ranking.request.bins), size_text)


def _ratio(row: Recommendation | Baseline) -> Ratio | None:
    ratio = row.ratio_to_best
    return None if ratio is None else Ratio(ratio, row.ratio_low or ratio, row.ratio_high or ratio)


def _interval(row: Recommendation | Baseline) -> Cell:
    if row.ratio_low is None or row.ratio_high is None:
        return "–", row.ratio_low
    return f"{row.ratio_low:.2f}–{row.ratio_high:.2f}", row.ratio_low


def _versus_raw(row: Recommendation) -> Cell:
    raw = row.error_without_postprocessing
    return "–" if raw is None else (change(row.error, raw), row.error / raw if 0 < raw < math.inf else None)


def _fields(ranking: Ranking, notes: Mapping[tuple[str, str], str]) -> list[Field]:
    """Return the columns of a ranking: some depend on the metric, a threat, or simulation."""
    threat = () if ranking.request.threat is None else _THREAT
    return [*_result_fields(ranking, notes), *threat, *_cost_fields(ranking)]


def _result_fields(ranking: Ranking, notes: Mapping[tuple[str, str], str]) -> list[Field]:
    """Return the columns of the pair, its error, and what that is compared with."""
    meaning = "" if ranking.source == "grid" else ERROR if ranking.over_populations else REPEATED
    protocol: Field = (Column("protocol", text=True, names=protocol_text), lambda row: row.protocol)
    collected = {ranking.request.collected and ranking.request.collected.protocol}
    fields: list[Field] = [
        (Column("rank", RANK, drop=1), lambda row: (f"{row.rank}=" if row.tied else str(row.rank), row.rank)),
        *([protocol] if {row.protocol for row in ranking.recommendations} != collected else []),
        (Column("method", text=True, names=method_name), lambda row: row.method),
        (Column("", text=True, drop=1), lambda row: f"◂ {notes[row.pair]}" if row.pair in notes else ""),
        (Column(f"{ranking.metric} error", meaning), lambda row: error_cell(row, ranking)),
    ]
    if data_error(ranking.metric, 0.0, ranking.request.bins) is not None:
        column = Column(_in_unit(ranking), "the error in the unit of the data: bins times their width", drop=2)
        fields.append((column, partial(_in_data, ranking)))
    fields += [
        (
            Column("ratio", "error over the lowest one, paired over the repetitions that both have", drop=2),
            lambda row: (times(row.ratio_to_best), row.ratio_to_best),
        ),
        (Column("95 % interval", "of the ratio", drop=4, verbose=True), _interval),
        (Column("vs raw", "change against the raw estimate of the protocol", drop=3, verbose=True), _versus_raw),
    ]
    if _is_estimate(ranking):
        best = Column("best", "probability that the error is within 2 % of the lowest", drop=1)
        fields.append((best, lambda row: figure_cell(row.probability_best, whole_percent)))
    return fields


def _is_estimate(ranking: Ranking) -> bool:
    return any(row.probability_best is not None for row in ranking.recommendations)


_THREAT: tuple[Field, ...] = (
    (
        Column("no attack", "mean error where nobody attacks", drop=1),
        lambda row: figure_cell(row.error_unattacked, number),
    ),
    (
        Column("random gain", "rise of the promoted frequencies when fake users send random reports", drop=3),
        lambda row: figure_cell(row.gain_random_value, gain),
    ),
    (
        Column("max. gain", "the same when they send the reports that help most", drop=1),
        lambda row: "no bound" if row.gain_maximal is None else (gain(row.gain_maximal), row.gain_maximal),
    ),
)


def _cost_fields(ranking: Ranking) -> list[Field]:
    """Return the columns of what a pair costs, and of what its figures rest on."""
    request, simulated = ranking.request, ranking.source != "grid"
    one_report = request.collected is not None and len({row.protocol for row in ranking.recommendations}) == 1

    def worth(row: Recommendation) -> Cell:
        ratio = None if row.equivalent_users is None else row.equivalent_users / request.n
        return times(ratio), ratio

    # Whether the column is there, the column, and how a cell of it is made.
    fields: list[tuple[bool, Column, Callable[[Recommendation], Cell]]] = [
        (
            simulated and ranking.metric in SQUARED,
            Column("user gain", "users that the raw estimate would need for the same error", drop=5, verbose=True),
            worth,
        ),
        (
            request.central is not None,
            Column("ε₀", "budget of one report: with the shuffler it keeps the promise", drop=2),
            lambda row: figure_cell(row.epsilon, "{:.3g}".format),
        ),
        (
            not one_report,
            Column("bits", "size of one report", drop=3),
            lambda row: (f"{row.report_bits:,}", row.report_bits),
        ),
        (
            True,
            Column("attack", f"{ATTACK}, {attacker_text(request)}", drop=7, verbose=True),
            lambda row: (percent(row.attack_success), row.attack_success),
        ),
        (
            simulated and not _is_estimate(ranking),
            Column("win rate", "share of the repetitions with the lowest error", drop=8, verbose=True),
            lambda row: figure_cell(row.win_share, whole_percent),
        ),
        (
            simulated,
            Column(
                "runs", "repetitions behind the row; more for pairs that are hard to separate", drop=9, verbose=True
            ),
            lambda row: (f"{row.repetitions:,}", row.repetitions),
        ),
        (
            not simulated,
            Column(
                "figures",
                "whether the model interpolates between what was simulated",
                text=True,
                drop=6,
                verbose=True,
                shared="All figures are {}.",
            ),
            lambda row: row.origin or "",
        ),
    ]
    return [(column, cell) for there, column, cell in fields if there]


def attacker_text(request: Request) -> str:
    """Return what the attacker knows besides a report, and how often a guess without one is right."""
    informed = "by who knows the frequencies of the sample"
    equal = f"of {request.k:,} equally likely ones"
    return f"{informed if request.has_sample else equal}; without a report {percent(request.prior_guess)}"
