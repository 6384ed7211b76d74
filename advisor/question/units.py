"""Errors in bins, said in the unit of the data too."""

from __future__ import annotations

from advisor.figures import number
from advisor.inputs.bins import Bins, edge_text
from simulator import METRICS


def data_error(metric: str, error: float, bins: Bins | None) -> float | None:
    """Return an error in the unit of the data; None where it is not in bins, or these have no common width."""
    if bins is None or bins.width is None or METRICS[metric].unit != "bins":
        return None
    return error * bins.width


def size_text(size: float) -> str:
    """Return a figure with three significant digits: an error has no more.

    >>> size_text(10268.1), size_text(1.6604)
    ('10,300', '1.66')
    """
    return number(float(f"{size:.3g}"), 3)


def data_text(metric: str, error: float, bins: Bins | None) -> str:
    """Return an error in the unit of the data as what follows that in bins; nothing where there is none."""
    size = data_error(metric, error, bins)
    return "" if bins is None or size is None else f", about {size_text(size)} {bins.phrase}"


def unit_text(metric: str, bins: Bins | None) -> str:
    """Return the unit of a metric, with what a bin is."""
    unit = METRICS[metric].unit
    if bins is None or unit != "bins":
        return unit
    return f"bins of width {edge_text(bins.width)}" if bins.width else "bins of different widths"
