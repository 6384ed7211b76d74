"""The question about places: its options, checked before any byte is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from advisor.checks import budget, choice, path, several, text
from advisor.errors import InputError, listed, near_miss
from advisor.names import ALIASES, squash
from advisor.question.option import Settings, like, option, require
from advisor.question.question import Question
from advisor.question.settings import Cells, Menu
from simulator import METRICS, POSTPROCESSORS, frequency_oracles

PRIVACIES = ("ldp", "metric")
REPETITIONS, MAX_REPETITIONS = 10, 400
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
    """Coordinates of places, and their distances."""

    panel: ClassVar[str] = "Places"

    grid: str | None = like(Cells, "grid", help="32x32: cells row,col, or cut from the extent of coordinates")
    columns: str | None = option(
        "--columns",
        read=text,
        metavar="A,B",
        help="the coordinates: row,col, longitude,latitude or x,y [default: by header]",
    )
    cell_km: float | None = like(Cells, "cell_km", help="side of a cell of degrees [default: round, at most 32x32]")
    distance: str | None = like(Cells, "distance")


@dataclass(frozen=True, kw_only=True)
class Promise(Settings):
    """The pairs of places for which the budget is promised."""

    panel: ClassVar[str] = "Places"

    privacy: str = option(
        "--privacy",
        read=choice(PRIVACIES),
        metavar="KIND",
        default="ldp",
        help="ldp, or metric: --eps only for places within --radius [default: ldp]",
    )
    radius: float | None = like(Cells, "radius", help="for --privacy metric: in cells, or km of degrees")
    curve: tuple[float, ...] = option(
        "--curve",
        read=several(budget),
        metavar="ε,ε,…",
        default=(),
        help="also privacy against quality of service, at these budgets",
    )

    def check(self) -> None:
        """Raise InputError for a promise without its radius, and a radius or a curve without its promise."""
        if self.privacy == "metric" and self.radius is None:
            raise InputError(
                "--privacy metric needs --radius: --eps is then promised for places at most that far apart, for "
                "example --radius 3"
            )
        if self.privacy == "ldp" and self.radius is not None:
            raise InputError("--radius goes with --privacy metric: without it --eps is promised for any two places")
        if self.privacy == "ldp" and self.curve:
            raise InputError("--curve goes with --privacy metric: give it, and --radius, for example --radius 3")


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

    ground: Ground = Ground()
    privacy: Promise = Promise()
    places_menu: PlacesMenu = PlacesMenu()

    @property
    def repetitions(self) -> tuple[int, int]:
        """Repetitions at the start, and their maximum."""
        return self.simulation.race(REPETITIONS, MAX_REPETITIONS)

    @property
    def protocols(self) -> tuple[str, ...]:
        """The protocols on the menu: channels that are calibrated to the promise, or those of local privacy."""
        if self.privacy.privacy == "metric":
            named = self.places_menu.protocol
            return _named("protocol", named, (*CHANNELS, *BY_NAME) if named else CHANNELS, CHANNEL_ALIASES)
        return _named("protocol", self.places_menu.protocol, frequency_oracles(), ALIASES["protocol"])

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods on the menu."""
        table = CHANNEL_METHODS if self.privacy.privacy == "metric" else METHODS
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
        located = self.ground.grid is not None or self.ground.cell_km is not None
        in_a_row = self.privacy.privacy == "metric" and self.ground.columns is None
        require(
            ("SAMPLE", self.sample, "a file with coordinates, or - for standard input"),
            ("--eps", self.terms.epsilon, "the privacy budget of one report, for example --eps 1"),
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
