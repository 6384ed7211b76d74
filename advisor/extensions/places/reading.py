"""A question about places that can be answered: joined with the sample, and with a channel if there is one."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.extensions.places.question import PlacesQuestion
from advisor.inputs.channel import read_channel
from advisor.inputs.columns import CoordinatesError
from advisor.inputs.places import MOST_CELLS, PlacesRead, read_places
from advisor.question.sample import sample_frequencies, sample_name
from simulator.channels import FixedChannel
from simulator.domain import Domain
from simulator.places import Places
from simulator.populations import apportion

FULL_RACE_CELLS = 256  # above it the most repetitions fall as 1/k: what a collection costs grows faster than that


@dataclass(frozen=True, eq=False)
class PlacesRequest:
    """A question about places that can be answered."""

    question: PlacesQuestion
    # places, counts, unit: the cells, the users who hold each ``(k,)``, and the unit of distances
    places: Places
    counts: NDArray[np.int64] = field(repr=False)
    unit: str
    sample: str
    # repetitions, max_repetitions: to start with, and at most, for the pairs that lead
    repetitions: int
    max_repetitions: int
    channel: FixedChannel | None  # the user's channel, or None
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of users."""
        return int(self.counts.sum())

    @property
    def truth(self) -> NDArray[np.float64]:
        """True frequencies ``(k,)``."""
        result: NDArray[np.float64] = self.counts / self.n
        return result

    @property
    def domain(self) -> Domain:
        """What methods may know of the cells: how far apart they are."""
        return Domain(ground=self.places)

    @property
    def radius(self) -> float | None:
        """Largest distance of places for which a metric promise holds; None if it holds for any two places."""
        return self.question.privacy.radius


def places_request(question: PlacesQuestion) -> PlacesRequest:
    """Read a sample of places, and a channel if there is one, and build the request.

    Raises InputError if the sample, the channel or a setting is wrong.
    """
    ground = question.ground
    try:
        in_a_row = question.privacy.privacy == "metric" and (ground.grid or ground.cell_km or ground.columns) is None
        read = _line(question) if in_a_row else _grid(question)
    except CoordinatesError:
        if question.path == "-":
            raise
        read = _grid(question)
    assumed, counts, n, k = list(read.assumptions), read.counts, question.terms.n, read.places.k
    users = int(counts.sum())
    if n is not None and n != users:
        assumed.append(f"the frequencies of the sample's {users:,} users stand for those of n")
        counts = apportion(counts, n)
    channel = None
    if question.places_menu.channel is not None:
        channel, notes = read_channel(question.places_menu.channel, k)
        assumed += notes
    first, most = question.repetitions
    if question.simulation.max_repetitions is None and k > FULL_RACE_CELLS:
        most = max(first, most * FULL_RACE_CELLS // k)
        assumed.append(f"at most {most} repetitions, because there are many cells (--max-reps says otherwise)")
    assumed += question.terms.metric_settings.resolved(k).assumptions(question.metrics)
    if "range" in question.metrics and read.places.rows > 1:
        assumed.append("range is the mean over all axis-parallel rectangles of the grid, exactly")
    return PlacesRequest(
        question=question,
        places=read.places,
        counts=counts,
        unit=read.unit,
        sample=sample_name(question.path),
        repetitions=first,
        max_repetitions=most,
        channel=channel,
        assumptions=tuple(assumed),
        warnings=(*read.warnings, *_short_radius(question.privacy.radius, question.epsilon, read)),
    )


def _short_radius(radius: float | None, epsilon: float, read: PlacesRead) -> tuple[str, ...]:
    """Return a warning if the radius of a promise is below the distance of neighbouring cells."""
    places = read.places
    nearest = min(side for side, cells in ((places.height, places.rows), (places.width, places.columns)) if cells > 1)
    if radius is None or radius >= nearest * (1 - 1e-9):
        return ()
    return (
        f"--radius {radius:g} is below the distance of neighbouring cells ({nearest:.3g} {read.unit}), between whose "
        f"centres it is measured: two people on the two sides of a border are told apart as at ε = "
        f"{epsilon * nearest / radius:.3g}; give a --radius of at least {nearest:.3g}, or smaller cells",
    )


def _grid(question: PlacesQuestion) -> PlacesRead:
    """Read two columns of coordinates."""
    ground = question.ground
    return read_places(
        question.path,
        columns=ground.columns,
        grid=ground.grid,
        cell_km=ground.cell_km,
        ground=ground.distance or "euclidean",
        counts=question.columns.counts,
        layout=question.columns.layout,
    )


def _line(question: PlacesQuestion) -> PlacesRead:
    """Read ordered categories, which are places in a row."""
    read = sample_frequencies(question)
    if not read.ordered:
        raise InputError(
            "--privacy metric needs places: --grid and --columns, or an ordered domain (--ordered if the order of the "
            "categories means something)"
        )
    if read.k > MOST_CELLS:
        raise InputError(f"--privacy metric takes at most {MOST_CELLS:,} categories, got {read.k:,}")
    notes = (*read.assumptions, "neighbouring categories are one step apart")
    places = Places(1, read.k, question.ground.distance or "euclidean")
    return PlacesRead(places, read.counts(read.users or 0), "steps", notes, read.warnings)
