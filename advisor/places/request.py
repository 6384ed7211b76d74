"""What is asked of places, checked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError, listed, near_miss
from advisor.places.options import PlacesOptions
from advisor.question.constraints import Constraints, Removal
from simulator import METRICS
from simulator.channels import Channel
from simulator.places import GROUNDS, Places

PRIVACIES = ("ldp", "metric")
REPETITIONS = 10


@dataclass(frozen=True, eq=False)
class PlacesRequest:
    """A question about places that can be answered.

    Attributes
    ----------
    privacy
        ``"metric"``: `epsilon` bounds the log-ratio of places at most `radius` apart; ``"ldp"``: of any two.
    places, counts, unit
        The cells, the users who hold each ``(k,)``, and the unit of distances.
    channel
        The user's own, or None.
    constraints, removals
        What a pair must keep to be ranked, and what each constraint took off the menu, once it has been applied.
    """

    privacy: str
    epsilon: float
    radius: float | None
    places: Places
    counts: NDArray[np.int64] = field(repr=False)
    unit: str
    metrics: tuple[str, ...]
    metric_options: dict[str, Any]
    protocols: tuple[str, ...]
    methods: tuple[str, ...]
    seed: int
    repetitions: int
    sample: str
    channel: Channel | None
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]
    constraints: Constraints = field(default_factory=Constraints)
    removals: tuple[Removal, ...] = ()

    @property
    def n(self) -> int:
        """Number of users."""
        return int(self.counts.sum())

    @property
    def truth(self) -> NDArray[np.float64]:
        """True frequencies ``(k,)``."""
        result: NDArray[np.float64] = self.counts / self.n
        return result


def check_options(options: PlacesOptions, unsupported: dict[str, Any]) -> str:
    """Return the kind of promise; refuse combinations that mean nothing.

    Raises
    ------
    InputError
        For the first that does not go together.
    """
    privacy = "ldp" if options.privacy is None else options.privacy.lower()
    if privacy not in PRIVACIES:
        raise InputError(f"--privacy must be ldp or metric, got {options.privacy!r}{near_miss(privacy, PRIVACIES)}")
    if options.distance is not None and options.distance.lower() not in GROUNDS:
        raise InputError(
            f"--distance must be {listed(GROUNDS)}, got {options.distance!r}"
            f"{near_miss(options.distance.lower(), GROUNDS)}"
        )
    if privacy == "metric" and options.radius is None:
        raise InputError(
            "--privacy metric needs --radius: --eps is then promised for places at most so far apart, for example "
            "--radius 3"
        )
    if privacy == "ldp" and options.radius is not None:
        raise InputError("--radius goes with --privacy metric: without it --eps is promised for any two places")
    if options.radius is not None and not (math.isfinite(options.radius) and options.radius > 0):
        raise InputError(f"--radius must be a number above 0, got {options.radius:g}")
    located = options.grid is not None or options.cell_km is not None
    if located and options.columns is None:
        raise InputError("--grid and --cell-km need --columns with the two coordinates, for example --columns row,col")
    if options.columns is not None and not located:
        raise InputError("--columns needs --grid ROWSxCOLS (rows and columns), or --cell-km (longitude and latitude)")
    if privacy == "ldp" and not located:
        raise InputError(
            f"{' and '.join(options.given)} {'is' if len(options.given) == 1 else 'are'} for places: give --grid or "
            "--cell-km with --columns, or --privacy metric with --radius"
        )
    for name, given in unsupported.items():
        if given:
            raise InputError(f"{name} is not available for places (--grid, --cell-km, --privacy metric)")
    return privacy


def fitting_metrics(settings: dict[str, Any], asked: bool) -> tuple[str, ...]:
    """Return the metrics for places: those asked for, or the earth mover's distance.

    Raises
    ------
    InputError
        If one needs an order along which places do not stand.
    """
    allowed = [name for name, metric in METRICS.items() if name == "emd" or not metric.ordered_only]
    for name in settings["metrics"]:
        if name not in allowed:
            raise InputError(f"metric {name} is for ordered categories, not for places: take {listed(allowed)}")
    if not asked:
        return ("emd",)
    return tuple(dict.fromkeys([*settings["metrics"], *(allowed if settings["every_metric"] else [])]))


def known(kind: str, names: Iterable[str], table: Iterable[str], aliases: dict[str, str]) -> tuple[str, ...]:
    """Return the members of a table that were named (any case, hyphens), all of them if none was.

    Raises
    ------
    InputError
        If a name is not in the table.
    """
    members = list(table)
    chosen = []
    for name in names:
        plain = name.lower().replace("-", "_")
        plain = aliases.get(plain, plain)
        if plain not in members:
            raise InputError(f"unknown {kind} {name!r} here: allowed are {listed(members)}{near_miss(plain, members)}")
        chosen.append(plain)
    return tuple(member for member in members if member in chosen or not chosen)
