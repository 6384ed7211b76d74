"""Figures as people read them, and rows as CSV."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence

from simulator.ranking import NOTHING

LEAST = 1e-10  # below it a figure is no more than that


def number(value: float, digits: int = 4) -> str:
    """Return a figure with so many significant digits, never in scientific notation.

    >>> number(0.0424371), number(12.3), number(1234567.0), number(0.0000123456), number(0), number(3e-14)
    ('0.04244', '12.30', '1,234,567', '0.00001235', '0', 'under 0.0000000001')
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "infinite" if value == math.inf else str(value)
    if abs(value) < LEAST:
        return f"under {LEAST:.10f}"
    return f"{value:,.{max(0, digits - 1 - _size(value))}f}"


def _size(value: float) -> int:
    """Return the power of ten of the first digit of a value."""
    return math.floor(math.log10(abs(value)))


def rounded(value: float, digits: int) -> float:
    """Return a value with so many significant digits.

    >>> rounded(4137.2, 2), rounded(0.0471, 1), rounded(0, 2)
    (4100.0, 0.05, 0.0)
    """
    return float(f"{value:.{digits}g}")


def users(count: float) -> str:
    """Return a number of users, rounded to what can be meant.

    >>> users(4137.2), users(3.14159), users(0.02), users(5_912_345.0)
    ('4,137', '3.1', 'under 0.1', '5,912,000')
    """
    if count < 0.1:
        return "under 0.1"
    if count < 10:
        return f"{count:.1f}"
    step = 10 ** max(0, math.floor(math.log10(count)) - 3)
    return f"{round(count / step) * step:,}"


def times(ratio: float | None) -> str:
    """Return a multiple.

    >>> times(2.713), times(31.4), times(None)
    ('2.71×', '31.4×', '–')
    """
    if ratio is None:
        return "–"
    return f"{ratio:.2f}×" if ratio < 10 else f"{ratio:,.1f}×" if ratio < 1000 else f"{ratio:,.0f}×"


def percent(share: float) -> str:
    """Return a share in percent.

    >>> percent(0.2689), percent(0.0102), percent(0.00012), percent(2.5e-6), percent(1.3e-14), percent(1 - 1.7e-6)
    ('26.9 %', '1.02 %', '0.012 %', '0.00025 %', '1.3e-12 %', '99.9998 %')
    """
    digits = 1 if share >= 0.1 else 2 if share >= 0.001 else 3
    if 0 < share < 1e-8:
        return f"{100 * share:.1e} %"
    if 0 < share < 1e-5:
        digits = 1 - math.floor(math.log10(100 * share))
    if 1e-11 < 1 - share < 5e-4:  # what is nearly certain is not
        digits = -math.floor(math.log10(100 * (1 - share)))
    return f"{100 * share:.{digits}f} %"


def whole_percent(share: float) -> str:
    """Return a share in whole percent.

    >>> whole_percent(0.2689), whole_percent(0.004)
    ('27 %', '0 %')
    """
    return f"{100 * share:.0f} %"


def gain(value: float) -> str:
    """Return by how much frequencies rise, in percent of all users.

    >>> gain(0.1234), gain(-0.00051)
    ('+12.3 %', '−0.051 %')
    """
    return f"{'−' if value < 0 else '+'}{percent(abs(value))}"


def change(error: float, reference: float) -> str:
    """Return by how much an error lies below or above another.

    >>> change(0.4, 1.0), change(1.1, 1.0), change(1.0, 1.0), change(0.0, 0.0)
    ('−60 %', '+10 %', '±0 %', '±0 %')
    """
    if error == reference:
        return "±0 %"
    if reference <= NOTHING * error or math.isinf(error) or math.isinf(reference):
        return "–"
    share = round(100 * (error / reference - 1))
    return f"−{-share} %" if share < 0 else f"+{share:,} %" if share > 0 else "±0 %"


def points(share: float) -> str:
    """Return a share in percentage points.

    >>> points(0.00428), points(0.0000012)
    ('0.43 percentage points', '0.00012 percentage points')
    """
    if share == 0:
        return "0 percentage points"
    digits = max(0, 1 - math.floor(math.log10(100 * share)))
    return f"{100 * share:.{digits}f} percentage points"


def lower_end(low: float, high: float) -> float:
    """Return the lower end of a range as people read it: 0 where it is under a thousandth of the upper end.

    >>> lower_end(1.1e-11, 0.31), lower_end(0.01, 0.31)
    (0.0, 0.01)
    """
    return 0.0 if 0 <= low < high / 1000 else low


def error_text(error: float, low: float, high: float, *, ranges: bool = False) -> str:
    """Return ``error ± half-width`` of an interval, the wider half; or ``error (low–high)``, where it is a range.

    It is one too if its wider half is larger than the error.

    The interval decides the digits: two of its half-width from 10 to 19, else one, and two to four of the error.

    >>> error_text(0.2185, 0.2148, 0.2222), error_text(0.2185, 0.2066, 0.2304), error_text(4.8, 2.7, 8.7, ranges=True)
    ('0.218 ± 0.004', '0.218 ± 0.012', '4.80 (2.7–8.7)')
    >>> error_text(0.12, 1.1e-11, 0.31, ranges=True), error_text(0.2185, 0.2185, 0.2185), error_text(0.138, 0, 0.3)
    ('0.120 (0–0.31)', '0.2185', '0.138 (0–0.30)')
    """
    if not math.isfinite(error) or error < LEAST:
        return number(error)
    half = max(high - error, error - low)
    if ranges or error < half < math.inf:
        return f"{number(error, 3)} ({number(lower_end(low, high), 2)}–{number(high, 2)})"
    if half <= 0 or not math.isfinite(half):
        return number(error)
    digits = 1 + (f"{half:e}"[0] == "1")
    decimals = max(0, min(max(digits - 1 - _size(half), 1 - _size(error)), 3 - _size(error)))
    width = f"{half:,.{decimals}f}"
    return f"{error:,.{decimals}f} ± {width}" if float(width.replace(",", "")) else number(error)


_FORMULA = re.compile(r"[=@]|[+-](?!(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$)")


def csv_of(rows: Iterable[Sequence[object]], *, safe_cells: bool = False) -> str:
    r"""Return rows as CSV; on request with an apostrophe before text, but not numbers, that a spreadsheet would run.

    >>> csv_of([("=1+1", "-0.5", "-x", -1.5)], safe_cells=True)
    "'=1+1,-0.5,'-x,-1.5\n"
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if safe_cells:
        rows = ([f"'{it}" if isinstance(it, str) and _FORMULA.match(it) else it for it in row] for row in rows)
    writer.writerows(rows)
    return text.getvalue()
