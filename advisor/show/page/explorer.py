"""Figures that move with two dials, and the curve behind them: all values stand in the page."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise

from advisor.show.explorer import Dial, Explorer

WIDTH, HEIGHT = 420, 250
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 26, 40
KINDS = ("main", "second", "third")  # of the curves, in their order


def explorer_html(explorer: Explorer) -> str:
    """Return the figures as they are where the question was asked, the dials, and the curve."""
    at = tuple(dial.at for dial in explorer.dials)
    texts = explorer.figures[at[0]][at[1]]
    readouts = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>"
        for name, text in zip(explorer.names, texts, strict=True)
    )
    texts_of, values_of = [dial.texts for dial in explorer.dials], [dial.values for dial in explorer.dials]
    data = json.dumps({"at": at, "figures": explorer.figures, "dials": texts_of, "values": values_of})
    safe = data.replace("<", "\\u003c")  # a label must not end the element
    turned = any(len(dial.texts) > 1 for dial in explorer.dials)
    dials = "".join(_dial(place, dial) for place, dial in enumerate(explorer.dials)) if turned else ""
    form = f'<form class="dials" hidden>{dials}<button type="reset">Back to the question</button></form>'
    curve = _curve(explorer) if explorer.curves else ""
    return (
        f'<section class="explorer" id="explorer"><h2>{escape(explorer.title)}</h2>'
        f"{form if turned else ''}"
        f'<div class="panel"><dl class="readouts" aria-live="polite">{readouts}</dl>{curve}</div>'
        f'<p class="quiet">{escape(explorer.note)}</p>'
        f'<script type="application/json">{safe}</script></section>'
    )


def _dial(place: int, dial: Dial) -> str:
    if len(dial.texts) < 2:
        return ""
    return (
        f"<label>{escape(dial.name)} <output>{escape(dial.texts[dial.at])}</output>"
        f'<input type="range" min="0" max="{len(dial.texts) - 1}" step="1" value="{dial.at}" data-dial="{place}" '
        f'aria-valuetext="{escape(dial.texts[dial.at], quote=True)}"></label>'
    )


class _Scale:
    """A logarithmic axis from one end of a picture to the other."""

    def __init__(self, values: Iterable[float], start: float, end: float) -> None:
        known = [value for value in values if value > 0]
        low, high = math.log10(min(known)), math.log10(max(known))
        margin = 0.04 * (high - low) or 0.1
        self.low, self.high, self.start, self.end = low - margin, high + margin, start, end

    def __call__(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        """Return powers of ten, with 2 and 5 times them where there are few."""
        powers = range(math.floor(self.low), math.ceil(self.high) + 1)
        steps = (1,) if self.high - self.low > 2.5 else (1, 2, 5)
        return [
            step * 10.0**power for power in powers for step in steps
            if self.low <= math.log10(step * 10.0**power) <= self.high
        ]  # fmt: skip


def _curve(explorer: Explorer) -> str:
    """Return the curves along the first dial, those of the chosen value of the second bold, as an ``<svg>``."""
    along, at = explorer.along, explorer.dials[1].at
    every = [value for curve in explorer.curves for row in curve.values for value in row if value is not None]
    x, y = _Scale(along, LEFT, WIDTH - RIGHT), _Scale(every, HEIGHT - BOTTOM, TOP)
    marks = []
    for kind, curve in zip(KINDS, explorer.curves, strict=False):
        for place, row in enumerate(curve.values):
            chosen = " chosen" if place == at else ""
            for run in _runs([(x(a), y(value)) if value else None for a, value in zip(along, row, strict=True)]):
                points = " ".join(f"{a:g},{b:g}" for a, b in run)
                marks.append(f'<polyline class="{kind}{chosen}" data-second="{place}" points="{points}"/>')
    dots = [[None if not value else [x(a), y(value)] for a, value in zip(along, row, strict=True)]
            for row in explorer.curves[0].values]  # fmt: skip
    own = dots[at][explorer.dials[0].at] or [LEFT, TOP]
    names = "".join(
        f'<span class="{kind}">{escape(name)}</span>'
        for kind, name in [
            *zip(KINDS, (curve.name for curve in explorer.curves), strict=False),
            *([("others", "other numbers of users")] if len(explorer.dials[1].texts) > 1 else []),
        ]
    )
    said = f"{explorer.axis} against {explorer.dials[0].name}, at {explorer.dials[1].texts[at]}: " + "; ".join(
        f"{text}: {figures[at][0]}" for text, figures in zip(explorer.dials[0].texts, explorer.figures, strict=True)
    )
    return (
        f'<figure class="curve"><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'aria-labelledby="curve-title curve-desc" '
        f'data-dots="{escape(json.dumps(dots, separators=(",", ":")), quote=True)}">'
        f'<title id="curve-title">{escape(explorer.axis)} against {escape(explorer.dials[0].name)}</title>'
        f'<desc id="curve-desc">{escape(said)}</desc>{_axes(explorer, x, y)}{"".join(marks)}'
        f'<circle r="5" cx="{own[0]:g}" cy="{own[1]:g}"/></svg>'
        f'<figcaption class="key">{names}</figcaption></figure>'
    )


def _runs(points: Sequence[tuple[float, float] | None]) -> list[list[tuple[float, float]]]:
    """Return the runs of points between those that are missing."""
    gaps = [-1, *(place for place, point in enumerate(points) if point is None), len(points)]
    runs = ([point for point in points[first + 1 : last] if point is not None] for first, last in pairwise(gaps))
    return [run for run in runs if len(run) > 1]


def _axes(explorer: Explorer, x: _Scale, y: _Scale) -> str:
    bottom = HEIGHT - BOTTOM
    parts = [
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick):g}" y2="{y(tick):g}"/>'
        f'<text x="{LEFT - 5}" y="{y(tick) + 4:g}" text-anchor="end">{tick:g}</text>'
        for tick in y.ticks()
    ]
    last = -math.inf
    for value in explorer.along:
        place = x(value)
        parts.append(f'<line class="grid" x1="{place:g}" x2="{place:g}" y1="{bottom}" y2="{bottom + 4}"/>')
        if place - last >= 28:
            parts.append(f'<text x="{place:g}" y="{bottom + 16}" text-anchor="middle">{value:g}</text>')
            last = place
    parts.append(f'<text x="4" y="12">{escape(explorer.axis)}</text>')
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:g}" y="{HEIGHT - 6}" text-anchor="middle">'
        f"{escape(explorer.dials[0].name)}</text>"
    )
    return "".join(parts)
