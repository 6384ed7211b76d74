"""The ranked table as lines of text cells, for every renderer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from advisor.rank.advice import Advice, Baseline, Recommendation
from advisor.rank.words import change, error_with_margin, gain, number, percent, times

TOP = 10
LEGEND_SURE = (
    "best: probability that the row has the lowest error, whatever the truth behind the estimate may be; error: "
    "average over the populations (the mean of square roots, squared), and its 95 % range. "
)
LEGEND = (
    "to best: error over the lowest, paired over the repetitions both have; vs no PP: change against the same "
    "protocol's raw estimate; n′/n: times the users the raw estimate would need for the same mean squared error; "
    "attack: how often one report gives its user away; won: share of repetitions with the lowest error."
)
BASELINE_NAMES = {"raw": "raw estimate", "uniform": "uniform guess", "default": "usual default"}


class Column(NamedTuple):
    """A column of the table; when space is short, columns with a higher `drop` go first and 0 never goes."""

    key: str
    header: str
    right: bool
    drop: int


COLUMNS = (
    Column("rank", "rank", True, 0),
    Column("protocol", "protocol", False, 0),
    Column("method", "method", False, 0),
    Column("error", "error", True, 0),
    Column("ratio", "to best", True, 1),
    Column("interval", "95 % interval", True, 4),
    Column("gain", "vs no PP", True, 3),
    Column("sure", "best", True, 1),
    Column("gain_random", "random gain", True, 2),
    Column("gain_maximal", "max. gain", True, 1),
    Column("worth", "n′/n", True, 5),
    Column("bits", "bits", True, 6),
    Column("attack", "attack", True, 7),
    Column("won", "won", True, 8),
    Column("origin", "figures", False, 6),
    Column("note", "", False, 2),
)


class Line(NamedTuple):
    """One line: cells in the order of `COLUMNS`, and whether it is in the top tier, marked, or a row of the ranking."""

    cells: tuple[str, ...]
    top: bool
    marked: bool
    ranked: bool
    gap_before: bool = False

    def cells_of(self, columns: Iterable[Column]) -> list[str]:
        """Return the cells of some columns."""
        return [self.cells[COLUMNS.index(column)] for column in columns]


def table_lines(advice: Advice, top: int | None = TOP) -> list[Line]:
    """Return the first `top` rows (None: all) and, wherever they stand, the rows to compare with."""
    notes = {(row.protocol, row.method): row.kind for row in advice.baselines if row.protocol is not None}
    rows: list[tuple[float, int, Recommendation | Baseline]] = [
        (row.error, place, row) for place, row in enumerate(advice.recommendations)
    ]
    inside = {row.pair for row in advice.recommendations}
    last_shown = len(rows) if top is None else min(top, len(rows))
    for baseline in advice.baselines:
        if baseline.protocol is None or (baseline.protocol, baseline.method) not in inside:
            # Tiers are not sorted by error row by row, so a marked row goes behind the last row that it loses to.
            better = [
                place for error, place, row in rows if isinstance(row, Recommendation) and error <= baseline.error
            ]
            rows.append((baseline.error, max(better, default=-1), baseline))
    rows.sort(key=lambda item: (item[1], isinstance(item[2], Baseline)))
    lines: list[Line] = []
    skipped = False
    for _, place, row in rows:
        note = notes.get((row.protocol or "", row.method or "")) if row.protocol is not None else "uniform"
        if place >= last_shown and note is None:
            skipped = True
            continue
        cells = _cells(row, advice) if isinstance(row, Recommendation) else _baseline_cells(row)
        note_text = "" if note is None else f"◂ {BASELINE_NAMES[note]}"
        ranked = isinstance(row, Recommendation)
        in_top = isinstance(row, Recommendation) and row.tier == 1
        lines.append(Line((*cells, note_text), in_top, note is not None, ranked, gap_before=skipped and bool(lines)))
        skipped = False
    return lines


def columns_of(advice: Advice) -> tuple[Column, ...]:
    """Return the columns that say something: how sure a row is in place of its wins, where that is known."""
    if advice.source == "grid":
        without = {"sure", "won", "worth"}
    elif any(row.probability_best is not None for row in advice.recommendations):
        without = {"won", "origin"}
    else:
        without = {"sure", "origin"}
    if advice.request.threat is None:
        without |= {"gain_random", "gain_maximal"}
    return tuple(column for column in COLUMNS if column.key not in without)


def header_of(column: Column, advice: Advice) -> str:
    """Return what stands above a column."""
    return f"{advice.metric} error" if column.key == "error" else column.header


def legend(advice: Advice) -> str:
    """Return what the columns mean."""
    return (LEGEND_SURE if any(row.probability_best is not None for row in advice.recommendations) else "") + LEGEND


def hidden_sentence(advice: Advice, top: int | None = TOP) -> str:
    """Return how many rows a table leaves out, and where to find what its columns mean."""
    hidden = len(advice.recommendations) - sum(line.ranked for line in table_lines(advice, top))
    more = f"{hidden} more pairs: --all shows them; " if hidden else ""
    return f"{more}--verbose tells what the columns mean."


def _cells(row: Recommendation, advice: Advice) -> tuple[str, ...]:
    n = advice.request.n
    return (
        f"{row.rank}=" if row.tied else str(row.rank),
        row.protocol,
        row.method,
        error_with_margin(row, ranges=advice.over_populations),
        times(row.ratio_to_best),
        _interval(row),
        change(row.error, row.error_without_postprocessing),
        "–" if row.probability_best is None else f"{100 * row.probability_best:.0f} %",
        "–" if row.gain_random_value is None else gain(row.gain_random_value),
        "no bound" if row.gain_maximal is None else gain(row.gain_maximal),
        "–" if row.equivalent_users is None else times(row.equivalent_users / n),
        f"{row.report_bits:,}",
        percent(row.attack_success),
        "–" if row.win_share is None else f"{100 * row.win_share:.0f} %",
        row.origin or "",
    )


def _baseline_cells(row: Baseline) -> tuple[str, ...]:
    return (
        "–",
        row.protocol or "–",
        row.method or "(no data)",
        number(row.error),
        times(row.ratio_to_best),
        _interval(row),
        *[""] * (len(COLUMNS) - 7),
    )


def _interval(row: Recommendation | Baseline) -> str:
    if row.ratio_low is None or row.ratio_high is None:
        return "–"
    return f"{row.ratio_low:.2f}–{row.ratio_high:.2f}"
