"""Heat maps side by side: the truth, one collection's reports, its raw estimate, and the post-processed one."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from advisor.figures import number
from advisor.places.result import PlacesAdvice, unit_of
from advisor.places.words import describe

MOST_ROWS = 4
DARKEST_OVER_LIGHTEST = 1e5  # at most: what is rarer looks empty


def best_of(advice: PlacesAdvice, protocol: str) -> str | None:
    """Return the best method of a protocol but for its raw estimate."""
    metric = advice.request.metrics[0]
    return next(
        (row.pair[1] for row in advice.rankings[metric] if row.pair[0] == protocol and row.pair[1] != "none"), None
    )


def places_figure(advice: PlacesAdvice) -> Figure:
    """Return the best protocols, one a row, on one logarithmic scale; what is below 0 in a raw estimate is blue."""
    request, metric = advice.request, advice.request.metrics[0]
    keys = list(dict.fromkeys(row.pair[0] for row in advice.rankings[metric]))[:MOST_ROWS]
    line = request.places.rows == 1
    height = (
        1.2
        if line
        else min(2.0, request.places.rows * request.places.height / (request.places.columns * request.places.width))
    )
    figure = Figure(figsize=(14, (3.2 * height + 0.6) * len(keys) + 0.7), layout="constrained")
    axes = figure.subplots(len(keys), 4, squeeze=False)
    scale: AxesImage | None = None
    for key, row in zip(keys, axes, strict=True):
        seen, method = advice.pictured[key], best_of(advice, key)
        pictures = [("true", request.truth), ("reported", seen.reported), ("raw (none)", seen.estimates.get("none"))]
        pictures.append((f"post-processed ({method})", None if method is None else seen.estimates[method]))
        names = ("", "reported", "none", method)
        for place, (axis, (title, values)) in enumerate(zip(row, pictures, strict=True)):
            error = None if place < 2 else advice.error_of(metric, key, names[place] or "")
            under = "" if error is None else f"\n{metric} {number(error, 3)} {unit_of(metric, request)}"
            axis.set_title(f"{'true' if place == 0 else f'{key}: {title}'}{under}", fontsize=9)
            if values is None:
                axis.text(
                    0.5, 0.5, "a report is no place" if place == 1 else "none", ha="center", transform=axis.transAxes
                )
                axis.set_axis_off()
            elif line:
                axis.bar(np.arange(len(values)), values, width=1.0, color="tab:red")
                axis.tick_params(labelsize=7)
            else:
                scale = _heat(axis, values, advice)
    if scale is not None:
        figure.colorbar(scale, ax=axes, shrink=0.6, label="frequency (below 0: the same in blue)")
    figure.suptitle(
        f"{describe(request)}; n = {request.n:,}; one collection, mean error of {request.repetitions}", fontsize=10
    )
    return figure


def _heat(axis: Axes, values: NDArray[np.float64], advice: PlacesAdvice) -> AxesImage:
    """Draw one grid and return the scale of what is above 0."""
    request, places = advice.request, advice.request.places
    highest, rarest = float(request.truth.max()), float(request.truth[request.truth > 0].min())
    lowest = min(max(highest / DARKEST_OVER_LIGHTEST, rarest / 2), highest / 10)
    table = values.reshape(places.rows, places.columns)
    aspect = places.height / places.width
    scales = [
        axis.imshow(
            np.ma.masked_less_equal(signed, lowest),
            norm=LogNorm(vmin=lowest, vmax=highest, clip=True),
            cmap=colours,
            aspect=aspect,
            interpolation="nearest",
        )
        for signed, colours in ((table, "inferno_r"), (-table, "Blues"))
    ]
    axis.set_xticks([])
    axis.set_yticks([])
    return scales[0]
