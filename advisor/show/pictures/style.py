"""One look for all pictures: little ink, as wide as a text, words that stay readable on a phone.

Colours differ in brightness too (Okabe and Ito, 2008), and have names on pages, which are light or dark.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import accumulate
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal

from advisor.figures import rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

INK, QUIET, BAND, BARS, PAPER = "#1a1a1a", "#767676", "#e6ecf2", "#c8cdd2", "#ffffff"
BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
SERIES = (BLUE, ORANGE, GREEN, PURPLE, INK)
MARKERS = ("o", "s", "^", "D", "v")
DASHES = ("-", "--", "-.", ":")
DPI = 150
WIDTH = 6.9  # inches, of a text on paper
SIZE, LARGE = 10.5, 12.5  # points: 8 pixels and more on a phone of 390 pixels
LINE = 1.25  # of the size of its letters
MOST_TICKS = 8  # values that each have a label
TITLE, SUBTITLE = 63, 90  # characters in a line as wide as a picture


def settings(salt: str = "ldp-advise") -> AbstractContextManager[None]:
    """Return the context in which figures are drawn and written, whatever else is set."""
    from matplotlib import rc_context, rcParamsDefault

    return rc_context(
        {name: value for name, value in rcParamsDefault.items() if not name.startswith(("backend", "_"))}
        | {
            "font.family": "sans-serif",
            "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica"],
            "font.size": SIZE,
            "text.color": INK,
            "axes.labelcolor": INK,
            "axes.edgecolor": QUIET,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": "medium",
            "figure.labelsize": "medium",
            "axes.titlelocation": "left",
            "xtick.color": INK,
            "ytick.color": INK,
            "legend.frameon": False,
            "savefig.dpi": DPI,
            "svg.fonttype": "none",
            "svg.hashsalt": salt,
            "text.usetex": False,
            "text.parse_math": False,  # labels are the user's: $ is a dollar
        }
    )


def empty(height: float, width: float = WIDTH) -> Figure:
    """Return a figure (inches) whose axes leave room for their labels."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", facecolor=PAPER)


@contextmanager
def picture(height: float, *, grid: Literal["both", "x", "y"] = "both") -> Iterator[tuple[Figure, Axes]]:
    """Yield a figure (inches) and its one pair of axes over a grid, to be drawn in the settings of all pictures."""
    with settings():
        figure = empty(height)
        axes = figure.add_subplot()
        axes.grid(axis=grid, color=BAND, linewidth=0.8)
        axes.set_axisbelow(True)
        yield figure, axes


def headline(figure: Figure, title: str, subtitle: str) -> None:
    """Write what a picture says above it, and below that in grey how to read it; the picture grows by as much."""
    width, height = figure.get_size_inches().tolist()
    title, subtitle = (
        fill(text.replace(" %", "\N{NO-BREAK SPACE}%"), int(letters * width / WIDTH))
        for text, letters in ((title, TITLE), (subtitle, SUBTITLE))
    )
    large, small = ((1 + text.count("\n")) * LINE / 72 for text in (title, subtitle))
    first = 0.05 + large * LARGE
    whole = height + first + small * SIZE
    figure.set_size_inches(width, whole)
    places: dict[str, Any] = {"x": 0.01, "ha": "left", "va": "top", "in_layout": False}
    figure.suptitle(title, y=1 - 0.05 / whole, fontsize=LARGE, fontweight="bold", **places)
    figure.text(y=1 - first / whole, s=subtitle, color=QUIET, **places)
    figure.set_layout_engine("constrained", rect=(0, 0, 1, height / whole))


def log_axis(axis: Axis, at: Sequence[float] | None = None) -> None:
    """Make an axis logarithmic, with plain labels; of some values if there are any.

    Labels are written here because matplotlib's own need its mathematical text, which is off for the users' labels.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    (axis.axes.set_xscale if axis is axis.axes.xaxis else axis.axes.set_yscale)("log")
    if at is not None and len(at) <= MOST_TICKS:
        axis.set_ticks(at, [plain(value) for value in at])
        axis.set_ticks([], minor=True)
        return
    low, high = axis.get_view_interval()
    decades = math.log10(high / low) if low > 0 else 9.0
    between = (1.0,) if decades > 2 else (1.0, 2.0, 5.0) if decades > 0.5 else (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
    axis.set_major_locator(LogLocator(subs=between))
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))


def plain(value: float, digits: int = 15) -> str:
    """Return a figure as people write it, never in powers of ten.

    >>> plain(0.00001), plain(20_000.0), plain(1e9), plain(0.0000386912, 3), plain(1_234_567.0, 2)
    ('0.00001', '20,000', '1 billion', '0.0000387', '1.2 million')
    """
    if math.isinf(value):
        return "infinite"
    value = rounded(value, digits)
    for size, word in ((1e9, " billion"), (1e6, " million")):
        if value >= size:
            return f"{value / size:,g}{word}"
    return f"{value:,.12f}".rstrip("0").rstrip(".")


def level_line(axes: Axes, level: float, words: str) -> None:
    """Draw a level across a picture, with its words on it."""
    axes.axhline(level, color=INK, linestyle=":", linewidth=1.2)
    place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    axes.annotate(words, (1, level), (-2, 3), ha="right", va="bottom", **place)


def faded(colour: str, share: float) -> tuple[float, float, float, float]:
    """Return a colour of a scale that begins at no ink, which is light on light pages and dark on dark ones."""
    from matplotlib.colors import to_rgba

    return to_rgba(colour, min(max(share, 0.0), 1.0))


def apart(places: Sequence[float], gap: float, high: float) -> list[float]:
    """Return rising places below an end, moved to be a gap apart.

    >>> apart([1.0, 1.5, 5.0], 1.0, 5.5), apart([4.5, 5.0], 1.0, 5.0)
    ([1.0, 2.0, 5.0], [4.0, 5.0])
    """
    rising = list(accumulate(places, lambda before, place: max(place, before + gap)))
    rising[-1:] = [min(place, high) for place in rising[-1:]]
    return list(accumulate(rising[::-1], lambda after, place: min(place, after - gap)))[::-1]


def name_beside(axes: Axes, marks: Sequence[tuple[float, float, str, str]], gap: float) -> None:
    """Write names in a column right of a picture, in the order of their marks, with a line to each.

    marks: x, y, text, and colour of the text. gap: between the middles of two names, as a share of the height.
    """
    axes.get_xlim(), axes.get_ylim()  # which sets the scale
    across = axes.transData - axes.transAxes
    marks = sorted(marks, key=lambda mark: mark[1])
    heights = apart([across.transform(mark[:2])[1] for mark in marks], gap, 1 - gap / 2)
    for (x, y, text, colour), height in zip(marks, heights, strict=True):
        line = {"arrowstyle": "-", "color": QUIET, "linewidth": 0.6, "relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 5}
        look: dict[str, Any] = {"textcoords": "axes fraction", "color": colour, "arrowprops": line}
        axes.annotate(text, (x, y), (1.05, height), va="center", **look)
