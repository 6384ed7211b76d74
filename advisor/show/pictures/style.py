"""One look for all pictures: little ink, colours that differ in brightness too (Okabe and Ito, 2008)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

INK, QUIET, BAND, BARS, PAPER = "#1a1a1a", "#767676", "#e6ecf2", "#c8cdd2", "#ffffff"
BLUE, ORANGE, GREEN, SKY, PURPLE, YELLOW = "#0072b2", "#d55e00", "#009e73", "#56b4e9", "#cc79a7", "#e69f00"
SERIES = (BLUE, ORANGE, GREEN, PURPLE, YELLOW, SKY, INK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":")
DPI = 150


def settings(salt: str = "ldp-advise") -> AbstractContextManager[None]:
    """Return the context in which figures are drawn and written, whatever else is set."""
    from matplotlib import rc_context, rcParamsDefault

    return rc_context(
        {name: value for name, value in rcParamsDefault.items() if not name.startswith(("backend", "_"))}
        | {
            "font.family": "sans-serif",
            "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica"],
            "font.size": 9,
            "text.color": INK,
            "axes.labelcolor": INK,
            "axes.edgecolor": QUIET,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 10,
            "axes.titlelocation": "left",
            "xtick.color": INK,
            "ytick.color": INK,
            "legend.frameon": False,
            "legend.fontsize": 8,
            "savefig.dpi": DPI,
            "svg.fonttype": "none",
            "svg.hashsalt": salt,
            "text.usetex": False,
            "text.parse_math": False,  # labels are the user's: $ is a dollar
        }
    )


def tint(colour: str, share: float) -> str:
    """Return a colour mixed with so much white that a share of it is left.

    >>> tint("#0072b2", 0.0), tint("#0072b2", 1.0)
    ('#ffffff', '#0072b2')
    """
    parts = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(255 + share * (part - 255)):02x}" for part in parts)


def empty(width: float, height: float) -> Figure:
    """Return a figure (inches) whose axes leave room for their labels."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", facecolor=PAPER)


@contextmanager
def picture(width: float, height: float, *, grid: Literal["both", "x", "y"] = "both") -> Iterator[tuple[Figure, Axes]]:
    """Yield a figure (inches) and its one pair of axes over a grid, to be drawn in the settings of all pictures."""
    with settings():
        figure = empty(width, height)
        axes = figure.add_subplot()
        axes.grid(axis=grid, color=BAND, linewidth=0.8)
        axes.set_axisbelow(True)
        yield figure, axes


def log_axis(axis: Axis, *, powers: bool = False) -> None:
    """Make an axis logarithmic, with plain labels: ``0.02``, or powers of ten for numbers of users.

    Labels are written here because matplotlib's own need its mathematical text, which is off for the users' labels.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    (axis.axes.set_xscale if axis is axis.axes.xaxis else axis.axes.set_yscale)("log")
    low, high = axis.get_view_interval()
    decades = math.log10(high / low) if low > 0 else 9.0
    between = (1.0,) if decades > 2 else (1.0, 2.0, 5.0) if decades > 0.5 else (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
    axis.set_major_locator(LogLocator(subs=between))
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda x, _: power_of_ten(x) if powers else f"{x:g}"))


def power_of_ten(value: float) -> str:
    """Return a number as a multiple of a power of ten.

    >>> power_of_ten(1e5), power_of_ten(2e6), power_of_ten(500.0)
    ('10⁵', '2·10⁶', '500')
    """
    if value < 1000:
        return f"{value:g}"
    exponent = math.floor(math.log10(value) + 1e-9)
    digits = str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    factor = value / 10**exponent
    return f"10{digits}" if abs(factor - 1) < 1e-9 else f"{factor:g}·10{digits}"
