"""The question about places: its options, checked before any byte is read, and joined with the sample."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from advisor.checks import budget, choice, path, several, text
from advisor.errors import InputError, listed, near_miss
from advisor.extensions.places.cells import PlacesRead, read_places
from advisor.extensions.places.channel import read_channel
from advisor.inputs.columns import CoordinatesError
from advisor.members.names import ALIASES, squash
from advisor.question.option import Settings, like, option, require
from advisor.question.question import BUDGET, Question
from advisor.question.request import Request
from advisor.question.sample import sample_name, simulated_frequencies
from advisor.question.settings import MOST_CELLS, Cells, Menu
from simulator import METRICS, POSTPROCESSORS, frequency_oracles
from simulator.channels import FixedChannel
from simulator.places import Places
from simulator.populations import apportion

PRIVACIES = ("ldp", "metric")
REPETITIONS, MAX_REPETITIONS = 10, 400
FULL_RACE_CELLS = 256  # above it the most repetitions fall as 1/k: what a collection costs grows faster than that
CHANNEL_METHODS = ("none", "norm_mul", "norm_sub", "wavelet_eb", "ibu")
METHODS = tuple(
    name
    for name, method in POSTPROCESSORS.items()
    if not (method.queries_only or method.is_remedy) and "order" not in method.needs
)
CHANNELS = ("krr", "planar_geometric", "planar_laplace")
BY_NAME = ("optimal", "optimal_uniform")  # channels that compete only if they are named: a linear programme each
METHOD_ALIASES = ALIASES["method"] | {"inversion": "none"}
CHANNEL_ALIASES = {"grr": "krr", "flat": "krr", "geometric": "planar_geometric", "laplace": "planar_laplace"}


@dataclass(frozen=True, kw_only=True)
class Ground(Settings):
    """Coordinates of places, and the pairs of places for which the budget is promised."""

    panel: ClassVar[str] = "Places"

    columns: str | None = option(
        "--columns",
        read=text,
        metavar="A,B",
        help="the coordinates: row,col, longitude,latitude or x,y [default: by header]",
    )
    privacy: str = option(
        "--privacy",
        read=choice(PRIVACIES),
        metavar="KIND",
        default="ldp",
        help="ldp, or metric: --eps only for places within --radius [default: ldp]",
    )
    curve: tuple[float, ...] = option(
        "--curve",
        read=several(budget),
        metavar="ε,ε,…",
        default=(),
        help="also privacy against quality of service, at these budgets",
    )


@dataclass(frozen=True, kw_only=True)
class PlacesMenu(Settings):
    """Protocols and methods to rank on places."""

    panel: ClassVar[str] = "Menu"

    protocol: tuple[str, ...] = like(Menu, "protocol", read=text, help="only this protocol, or several: a,b")
    method: tuple[str, ...] = like(Menu, "method", read=text, help="only this method, or several: a,b")
    channel: str | None = option(
        "--channel", read=path, metavar="FILE", help="a matrix of your own as a protocol: .csv or .npy"
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacesQuestion(Question):
    """The question about places: the core question, the cells, the promise, and the menu."""

    cells: Cells = Cells()
    ground: Ground = Ground()
    places_menu: PlacesMenu = PlacesMenu()

    @property
    def protocols(self) -> tuple[str, ...]:
        """The protocols on the menu: channels that are calibrated to the promise, or those of local privacy."""
        if self.ground.privacy == "metric":
            named = self.places_menu.protocol
            return _named("protocol", named, (*CHANNELS, *BY_NAME) if named else CHANNELS, CHANNEL_ALIASES)
        return _named("protocol", self.places_menu.protocol, frequency_oracles(), ALIASES["protocol"])

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods on the menu."""
        table = CHANNEL_METHODS if self.ground.privacy == "metric" else METHODS
        return _named("method", self.places_menu.method, table, METHOD_ALIASES)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The requested metrics, or the earth mover's distance.

        Raises InputError if a metric needs an order, which places do not have.
        """
        allowed = [name for name, metric in METRICS.items() if metric.takes_ground or not metric.ordered_only]
        for name in self.terms.metrics:
            if name not in allowed:
                raise InputError(f"metric {name} is for ordered categories, not for places: take {listed(allowed)}")
        if not self.terms.metric:
            return ("emd",)
        different = [name for name in allowed if self.terms.every_metric and not METRICS[name].same_order_as]
        return tuple(dict.fromkeys([*self.terms.metrics, *different]))

    def check_places(self) -> None:
        """Check the options.

        Raises InputError for all missing options together, otherwise for the first contradiction.
        """
        located = self.cells.grid is not None or self.cells.cell_km is not None
        in_a_row = self.ground.privacy == "metric" and self.ground.columns is None
        if self.ground.privacy == "metric" and self.cells.radius is None:
            raise InputError(
                "--privacy metric needs --radius: --eps is then promised for places at most that far apart, for "
                "example --radius 3"
            )
        if self.ground.privacy == "ldp" and self.cells.radius is not None:
            raise InputError("--radius goes with --privacy metric: without it --eps is promised for any two places")
        if self.ground.privacy == "ldp" and self.ground.curve:
            raise InputError("--curve goes with --privacy metric: give it, and --radius, for example --radius 3")
        require(
            ("SAMPLE", self.sample, "a file with coordinates, or - for standard input"),
            ("--eps", self.terms.epsilon, BUDGET),
        )
        if (located or not in_a_row) and (flags := ", ".join(self.given("columns:column", "domain:k"))):
            raise InputError(f"{flags}: this is about one column of values; places have two, --columns row,col")
        _ = self.protocols, self.methods, self.metrics  # each raises InputError for an unknown name


def _named(kind: str, names: Iterable[str], table: Iterable[str], aliases: dict[str, str]) -> tuple[str, ...]:
    """Return the named members of a table (any case, hyphens), or all members without a name."""
    members = list(table)
    keys = aliases | {squash(member): member for member in members}
    wanted_keys = set()
    for name in names:
        member = keys.get(squash(name), name.lower())
        if member not in members:
            names = near_miss(member, members) or f": allowed are {listed(members)}"
            raise InputError(f"unknown {kind} {name!r} here{names}")
        wanted_keys.add(member)
    return tuple(one for one in members if one in wanted_keys or not wanted_keys)


@dataclass(frozen=True, eq=False, kw_only=True)
class PlacesRequest(Request):
    """A question about places: a request to rank on their ground, and what is asked beside."""

    ground: Places
    question: PlacesQuestion
    channel: FixedChannel | None  # the user's channel, or None

    @property
    def truth(self) -> NDArray[np.float64]:
        """True frequencies ``(k,)``."""
        result: NDArray[np.float64] = self.counts / self.n
        return result

    @property
    def radius(self) -> float | None:
        """Largest distance of places for which a metric promise holds; None if it holds for any two places."""
        return self.question.cells.radius


def places_request(question: PlacesQuestion) -> PlacesRequest:
    """Read a sample of places, and a channel if there is one, and build the request.

    Raises InputError if the sample, the channel or a setting is wrong.
    """
    cells, ground = question.cells, question.ground
    try:
        in_a_row = ground.privacy == "metric" and (cells.grid or cells.cell_km or ground.columns) is None
        read = _line(question) if in_a_row else _grid(question)
    except CoordinatesError:
        if question.path == "-":
            raise
        read = _grid(question)
    assumed, users, k = list(read.assumptions), int(read.counts.sum()), read.places.k
    n = question.terms.n or users
    if n != users:
        assumed.append(f"the frequencies of the sample's {users:,} users stand for those of n")
    channel = None
    if question.places_menu.channel is not None:
        channel, notes = read_channel(question.places_menu.channel, k)
        assumed += notes
    first, most = question.simulation.race(REPETITIONS, MAX_REPETITIONS)
    if question.simulation.max_repetitions is None and k > FULL_RACE_CELLS:
        most = max(first, most * FULL_RACE_CELLS // k)
        assumed.append(f"at most {most} repetitions, because there are many cells (--max-reps says otherwise)")
    values = question.terms.metric_settings.resolved(k)
    assumed += values.assumptions(question.metrics)
    if "range" in question.metrics and read.places.rows > 1:
        assumed.append("range is the mean over all axis-parallel rectangles of the grid, exactly")
    return PlacesRequest(
        epsilon=question.epsilon,
        k=k,
        n=n,
        metrics=question.metrics,
        protocols=question.protocols,
        methods=question.methods,
        ordered=False,
        labels=(),
        counts=read.counts if n == users else apportion(read.counts, n),
        sample=sample_name(question.path),
        sample_users=users,
        seed=question.simulation.seed,
        repetitions=first,
        max_repetitions=most,
        metric_values=values,
        assumptions=tuple(assumed),
        warnings=(*read.warnings, *_short_radius(question.cells.radius, question.epsilon, read)),
        ground=read.places,
        unit=read.unit,
        question=question,
        channel=channel,
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
    cells = question.cells
    return read_places(
        question.path,
        columns=question.ground.columns,
        grid=cells.grid,
        cell_km=cells.cell_km,
        ground=cells.distance or "euclidean",
        counts=question.columns.counts,
        layout=question.columns.layout,
    )


def _line(question: PlacesQuestion) -> PlacesRead:
    """Read ordered categories, which are places in a row."""
    read = simulated_frequencies(question)
    if not read.ordered:
        raise InputError(
            "--privacy metric needs places: --grid and --columns, or an ordered domain (--ordered if the order of the "
            "categories means something)"
        )
    if read.k > MOST_CELLS:
        raise InputError(f"--privacy metric takes at most {MOST_CELLS:,} categories, got {read.k:,}")
    notes = (*read.assumptions, "neighbouring categories are one step apart")
    places = Places(1, read.k, question.cells.distance or "euclidean")
    return PlacesRead(places, read.counts(read.users or 0), "steps", notes, read.warnings)
