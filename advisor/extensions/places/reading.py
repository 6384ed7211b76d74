"""A sample of places, read and joined with the options."""

from __future__ import annotations

from advisor.errors import InputError
from advisor.extensions.places.question import PlacesQuestion
from advisor.extensions.places.request import PlacesRequest
from advisor.inputs.channel import read_channel
from advisor.inputs.domain import build_domain
from advisor.inputs.histogram import read_histogram
from advisor.inputs.places import MOST_CELLS, PlacesRead, read_places
from advisor.question.sample import sample_name
from simulator.places import Places
from simulator.populations import apportion

FULL_RACE_CELLS = 256  # above it the most repetitions fall as 1/k: what a collection costs grows faster than that


def places_request(question: PlacesQuestion) -> PlacesRequest:
    """Read a sample of places, and a channel if there is one, and build the request.

    Raises InputError if the sample, the channel or a setting is wrong.
    """
    sample = question.path
    read = _grid(sample, question) if question.ground.columns is not None else _line(sample, question)
    assumed, counts, n = list(read.assumptions), read.counts, question.terms.n
    users = int(counts.sum())
    if n is not None and n != users:
        assumed.append(f"the frequencies of the sample's {users:,} users stand for those of n")
        counts = apportion(counts, n)
    channel = None
    if question.places_menu.channel is not None:
        channel, notes = read_channel(question.places_menu.channel, read.places.k)
        assumed += notes
    first, most = question.repetitions
    if question.simulation.max_repetitions is None and read.places.k > FULL_RACE_CELLS:
        most = max(first, most * FULL_RACE_CELLS // read.places.k)
        assumed.append(f"at most {most} repetitions, because there are many cells (--max-reps says otherwise)")
    values, metrics = question.metric_settings.resolved(read.places.k), question.metrics
    return PlacesRequest(
        privacy=question.privacy.privacy,
        epsilon=question.epsilon,
        radius=question.privacy.radius,
        places=read.places,
        counts=counts,
        unit=read.unit,
        metrics=metrics,
        metric_values=values,
        protocols=question.protocols,
        methods=question.methods,
        seed=question.simulation.seed,
        repetitions=first,
        max_repetitions=most,
        sample=sample_name(sample),
        channel=channel,
        assumptions=(*assumed, *values.assumptions(metrics)),
        warnings=(*read.warnings, *_short_radius(question.privacy.radius, question.epsilon, read)),
        limits=question.limits,
    )


def _short_radius(radius: float | None, epsilon: float, read: PlacesRead) -> tuple[str, ...]:
    """Warn where the radius of a promise is below the distance of neighbouring cells, which are all that is told."""
    places = read.places
    nearest = min(side for side, cells in ((places.height, places.rows), (places.width, places.columns)) if cells > 1)
    if radius is None or radius >= nearest * (1 - 1e-9):
        return ()
    return (
        f"--radius {radius:g} is below the distance of neighbouring cells ({nearest:.3g} {read.unit}), between whose "
        f"centres it is measured: two people on the two sides of a border are told apart as at ε = "
        f"{epsilon * nearest / radius:.3g}; give a --radius of at least {nearest:.3g}, or smaller cells",
    )


def _grid(sample: str, question: PlacesQuestion) -> PlacesRead:
    """Read two columns of coordinates."""
    ground, columns = question.ground, question.columns
    return read_places(
        sample,
        columns=ground.columns or "",
        grid=ground.grid,
        cell_km=ground.cell_km,
        ground=ground.distance or "euclidean",
        counts=columns.counts,
        header=columns.header,
    )


def _line(sample: str, question: PlacesQuestion) -> PlacesRead:
    """Read ordered categories, which are places in a row."""
    columns = question.columns
    read = read_histogram(sample, column=columns.label, counts=columns.counts, header=columns.header)
    built = build_domain(
        read.labels,
        read.counts,
        from_histogram=read.from_histogram,
        k=question.domain.k,
        ordered=question.domain.ordered,
    )
    if not built.ordered:
        raise InputError(
            "--privacy metric needs places: --grid and --columns, or an ordered domain (--ordered if the order of the "
            "categories means something)"
        )
    k = len(built.labels)
    if k > MOST_CELLS:
        raise InputError(f"--privacy metric takes at most {MOST_CELLS:,} categories, got {k:,}")
    notes = (*read.assumptions, *built.assumptions, "neighbouring categories are one step apart")
    places = Places(1, k, question.ground.distance or "euclidean")
    return PlacesRead(places, built.counts, "steps", notes, (*read.warnings, *built.warnings))
