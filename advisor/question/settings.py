"""The options of all questions, grouped by topic; the command line and Python share them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeAlias, TypeVar

from advisor.checks import budget, choice, real, several, share, shown, text, whole
from advisor.errors import InputError
from advisor.inputs.head import FileLayout
from advisor.inputs.numbers import MOST_LABELS
from advisor.members import FORM, as_named, member_of_python
from advisor.members.names import beside_files, mechanism, resolve, resolve_all
from advisor.question.metric_settings import MetricSettings, metric_with_setting
from advisor.question.option import Settings, like, option, refuse
from simulator import POSTPROCESSORS
from simulator.channels import MOST_MEASURED, PLANAR, FixedChannel, epsilon_per_unit
from simulator.foreign import REGISTERED
from simulator.methods.processor import SUMMARIES
from simulator.places import GROUNDS, Places

N_MAX = 10**12
ATTRIBUTES_MAX, ROUNDS_MAX = 10_000, 1_000_000
REPETITIONS_MAX = 10**6
JOBS_MAX = 1024
PARALLEL_CELLS = 20_000_000  # pairs x repetitions x categories from which starting workers saves time
KM_AROUND = 40_075  # circumference of the earth
KM_PER_DEGREE = 40_007.863 / 360  # along a meridian (WGS 84)
MOST_CELLS = 4096  # a channel is a matrix of cells by cells
THREADED_DOMAIN = 10_000  # categories from which threads save time; below, they mostly wait for the interpreter
PLAIN_SOLUTIONS = ("smp", "spl")  # without fake data
EVERY = "all"
T = TypeVar("T")
Named: TypeAlias = str | Callable[..., Any]  # a member in a Python call: its name, or the object


def metric_name(name: str, value: object) -> str:
    """Return the key of a metric with its setting, if it has any, or ``"all"``.

    A metric that a Python caller gives as an object is registered.
    """
    if callable(value):
        return member_of_python("metric", value)
    word = text(name, value)
    if word.lower() == EVERY:
        return EVERY
    key, colon, setting = word.partition(":")
    return (
        metric_with_setting(resolve("metric", key), setting) if colon and FORM not in word else resolve("metric", word)
    )


def member(kind: str, name: str, value: object) -> str:
    """Return the key of a protocol or a method; a member that a Python caller gives as an object is registered."""
    del name
    key = member_of_python(kind, value) if callable(value) else resolve(kind, text(kind, value))
    if key in SUMMARIES:
        raise InputError(
            f"method {key} is not compared by name: estimate and reports take it into account unasked, and --apply "
            "FILE writes it where it is the best; leave --method out"
        )
    return key


def on_the_menu(kind: str, name: str, value: object) -> str:
    """Return the key of a protocol or a method, or ``"all"``."""
    return EVERY if isinstance(value, str) and value.strip().lower() == EVERY else member(kind, name, value)


def require_one(name: str, given: tuple[str, ...], who: str = "this command") -> str | None:
    """Return the value of an option that this command takes at most once; None without a value.

    Raises InputError for several values.
    """
    if len(given) > 1:
        raise InputError(f"{who} takes one --{name}, got {', '.join(given)}")
    return given[0] if given else None


def values(given: T | Iterable[T] | None) -> tuple[T, ...]:
    """Return a value, or several, of a Python call as a tuple; none for None."""
    if given is None:
        return ()
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)


@dataclass(frozen=True, kw_only=True)
class Terms(Settings):
    """Budget, users and metric of a question."""

    panel: ClassVar[str] = "Question"

    epsilon: float | None = option(
        "--eps", "-e", "--epsilon", read=budget, metavar="ε", help="privacy budget of one report"
    )
    n: int | None = option("--n", read=whole(1, N_MAX), metavar="N", help="number of users: 2000000, 2e6 or 2M")
    metric: tuple[str, ...] = option(
        "--metric",
        "-m",
        read=metric_name,
        metavar="NAME",
        repeated=True,
        help="kl, topk:10, …; rankings: or all [default: l1; places: emd]",
        write=as_named,
        among=partial(beside_files, "metric"),
    )

    @property
    def every_metric(self) -> bool:
        """Whether all metrics are requested."""
        return EVERY in self.metric

    @property
    def metrics(self) -> tuple[str, ...]:
        """The requested metrics in the given order, without settings."""
        return tuple(dict.fromkeys(name.partition(":")[0] for name in self.metric if name != EVERY))

    @property
    def metric_settings(self) -> MetricSettings:
        """The settings behind the names of the metrics."""
        return MetricSettings.of(self.metric)

    def check(self) -> None:
        """Raise InputError if a metric has two settings."""
        MetricSettings.of(self.metric)

    def one_metric(self, who: str) -> str:
        """Return the metric of a question that takes a single metric; the default is l1.

        Raises InputError for several metrics.
        """
        if self.every_metric or len(self.metrics) > 1:
            raise InputError(f"{who} answers for one metric at a time, got {', '.join(self.metric)}: run it for each")
        return self.metrics[0] if self.metrics else "l1"


@dataclass(frozen=True, kw_only=True)
class Menu(Settings):
    """Protocols and methods to rank."""

    panel: ClassVar[str] = "Menu"

    protocol: tuple[str, ...] = option(
        "--protocol",
        "-p",
        read=partial(on_the_menu, "protocol"),
        metavar="NAME",
        repeated=True,
        write=as_named,
        among=partial(beside_files, "protocol"),
        help="only this protocol, or several: a,b or all,mine.py:Mine",
    )
    method: tuple[str, ...] = option(
        "--method",
        read=partial(on_the_menu, "method"),
        metavar="NAME",
        repeated=True,
        write=as_named,
        among=partial(beside_files, "method"),
        help="only this method, or several: a,b or all,mine.py:soft",
    )

    def check(self) -> None:
        """Replace ``all`` by the whole menu, alone or with published members; keep it beside the caller's members."""
        for name in ("protocol", "method"):
            given = getattr(self, name)
            if EVERY in given and not REGISTERED.keys() & set(given) and not self.parametrised:
                object.__setattr__(self, name, ())

    @property
    def parametrised(self) -> tuple[str, ...]:
        """The named methods with parameters, which no table lists."""
        return tuple(name for name in self.method if ":" in name)

    @property
    def protocols(self) -> tuple[str, ...]:
        """Protocols on the menu, in table order: the named protocols, or all."""
        return resolve_all("protocol", () if EVERY in self.protocol else self.protocol)

    @property
    def methods(self) -> tuple[str, ...]:
        """Methods on the menu, in table order: the named methods, or all except the remedies for poisoning."""
        whole = not self.method or EVERY in self.method
        named = resolve_all("method", () if whole else self.method) + (self.parametrised if whole else ())
        return tuple(name for name in named if not POSTPROCESSORS[name].is_remedy) if whole else named


def protocol_or_mechanism(name: str, value: object) -> str:
    """Return the key of a protocol, or of a mechanism for places, or ``"all"``."""
    return (mechanism(value) if isinstance(value, str) else None) or on_the_menu("protocol", name, value)


@dataclass(frozen=True, kw_only=True)
class AnyProtocol(Menu):
    """Protocols for categories, and mechanisms for places."""

    protocol: tuple[str, ...] = like(Menu, "protocol", read=protocol_or_mechanism)


@dataclass(frozen=True, kw_only=True)
class Categories(Settings):
    """The categories: how many, and whether they have an order."""

    panel: ClassVar[str] = "Data"

    k: int | None = option(
        "--k", read=whole(2, MOST_LABELS), metavar="N", help="number of categories, if more than SAMPLE shows"
    )
    ordered: bool | None = option("--ordered/--unordered", help="treat as ordered [default: numbers and ranges]")


@dataclass(frozen=True, kw_only=True)
class Grid(Settings):
    """Several budgets, users and domain sizes at once."""

    panel: ClassVar[str] = "Question"

    epsilons: tuple[float, ...] = like(
        Terms,
        "epsilon",
        read=several(budget),
        metavar="ε,…",
        default=(),
        help="privacy budget of a report; several: 0.5,1,2",
    )
    users: tuple[int, ...] = like(
        Terms, "n", read=several(whole(1, N_MAX)), metavar="N,N,…", default=(), help="numbers of users: 1e4,1e5,1M"
    )
    sizes: tuple[int, ...] = like(
        Categories, "k", read=several(whole(2, MOST_LABELS)), metavar="N,N,…", default=(), help="domain sizes"
    )


def parse_grid(text: str) -> tuple[int, int]:
    """Return rows and columns of ``ROWSxCOLS``.

    Raises InputError if it is not two whole numbers, or the grid has fewer than 2 rows or columns, or more than 4,096
    cells.

    >>> parse_grid("32x16")
    (32, 16)
    """
    match = re.fullmatch(r"\s*(\d{1,6})\s*[x×X]\s*(\d{1,6})\s*", text)
    if match is None:
        raise InputError(f"--grid must be ROWSxCOLS, for example 32x32, got {text!r}")
    rows, columns = int(match[1]), int(match[2])
    if min(rows, columns) < 2 or rows * columns > MOST_CELLS:
        raise InputError(
            f"--grid must have at least 2 rows and 2 columns and at most {MOST_CELLS:,} cells, got {rows}x{columns}"
        )
    return rows, columns


def degrees(name: str, value: object) -> tuple[float, float]:
    """Return latitude and longitude, from two numbers with a comma between them or a pair."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or len(parts) != 2:
        raise InputError(f"{name} must be latitude and longitude in degrees, such as 48.85,2.35, got {shown(value)}")
    return real(-89, 89)(name, parts[0]), real(-180, 180)(name, parts[1])


@dataclass(frozen=True, kw_only=True)
class Cells(Settings):
    """Cells of a map, and the distance within which the budget is promised."""

    panel: ClassVar[str] = "Places"

    grid: str | None = option("--grid", read=text, metavar="ROWSxCOLS", help="size of the grid, such as 32x32")
    distance: str | None = option(
        "--distance", read=choice(GROUNDS), metavar="NAME", help="euclidean or manhattan [default: euclidean]"
    )
    cell_km: float | None = option(
        "--cell-km", read=real(above=0, below=KM_AROUND), metavar="KM", help="side of a cell; distances are then in km"
    )
    radius: float | None = option(
        "--radius", read=real(above=0), metavar="R", help="--eps is promised for cells at most R apart"
    )
    centre: tuple[float, float] | None = option(
        "--centre", read=degrees, metavar="LAT,LON", help="middle of the grid; clients then take latitude and longitude"
    )

    @property
    def places(self) -> Places:
        """The cells.

        Raises InputError for a grid that is none.
        """
        side = self.cell_km or 1.0
        return Places(*parse_grid(self.grid or ""), self.distance or "euclidean", side, side)

    @property
    def within(self) -> str:
        """The radius with its unit."""
        return f"{self.radius:g} {'km' if self.cell_km else 'cell' if self.radius == 1 else 'cells'}"

    @property
    def promise(self) -> str:
        """Where the budget is promised, in words."""
        return f"for places at most {self.within} apart, on {self.grid} cells"

    def refuse_for(self, protocol: str) -> None:
        """Raise InputError if anything was given for a protocol that is not for places."""
        refuse(self.given(), f"belongs to {' and '.join(PLANAR)}, not to {protocol}; leave it out")

    def mechanism(self, name: str | None, size: Iterable[str]) -> str | None:
        """Return the mechanism for places of this name, None if there is none; size: options that count categories.

        Raises InputError for options that do not go with it.
        """
        key = mechanism(name or "")
        if key is not None:
            refuse(size, f"does not go with {key}: the cells of --grid are the answers")
        elif name is not None:
            self.refuse_for(name)
        return key

    def missing(self) -> tuple[tuple[str, object, str], ...]:
        """Return what a mechanism for places needs, see `advisor.question.option.require`."""
        return (
            ("--grid", self.grid, "the rows and columns of cells, for example --grid 32x32"),
            ("--radius", self.radius, "the distance within which --eps is promised, for example --radius 3"),
            ("--cell-km", self.cell_km if self.centre else 1, "the side of a cell in km, for example --cell-km 0.5"),
        )

    def leakage(self, channel: FixedChannel) -> str:
        """Return what the matrix of a mechanism leaks, in words; per distance only where that takes seconds."""
        unit = f"{epsilon_per_unit(channel, self.places):.6g} per unit and " if channel.k <= MOST_MEASURED else ""
        return f"its matrix leaks at most {unit}{channel.epsilon:.6g} between any two cells"

    def channel(self, mechanism: str, epsilon: float) -> FixedChannel:
        """Return the matrix of a mechanism; raise InputError where noise at this budget reaches too far."""
        try:
            return PLANAR[mechanism](self.places, epsilon / (self.radius or 1.0))
        except ValueError as error:
            raise InputError(str(error)) from None


@dataclass(frozen=True, kw_only=True)
class Goal(Settings):
    """The goal of a plan."""

    panel: ClassVar[str] = "Question"

    target: float | None = option("--target", read=real(above=0), metavar="X", help="mean error to be reached")
    detect: float | None = option(
        "--detect", read=share, metavar="F", help="frequency to detect among all k: power 0.8"
    )


@dataclass(frozen=True, kw_only=True)
class Columns(Settings):
    """Columns of a file with the values."""

    panel: ClassVar[str] = "Data"

    column: tuple[str, ...] = option(
        "--column",
        read=text,
        metavar="NAME",
        repeated=True,
        undivided=True,
        help="column of the values, by name or number",
    )
    counts: str | None = option("--counts", read=text, metavar="NAME", help="column of counts: SAMPLE is a histogram")
    header: bool | None = option(
        "--header/--no-header", advanced=True, help="first line is a header [default: detected]"
    )
    skip: int | None = option(
        "--skip", read=whole(0), metavar="N", advanced=True, help="lines above the table [default: detected]"
    )
    decimal: str | None = option(
        "--decimal",
        read=choice((",", ".")),
        metavar="SIGN",
        advanced=True,
        help="decimal sign of numbers, a comma or a point",
    )

    @property
    def layout(self) -> FileLayout:
        """What the user says about the layout of the file."""
        return FileLayout(self.header, self.skip, self.decimal)

    @property
    def label(self) -> str | None:
        """The column of a question that takes a single column.

        Raises InputError for several columns.
        """
        return require_one("column", self.column)


@dataclass(frozen=True, kw_only=True)
class Shape(Settings):
    """Assumed frequencies if there is no sample."""

    panel: ClassVar[str] = "Without data"

    skew: float | None = option(
        "--skew", read=real(), metavar="S", help="Zipf exponent of the frequencies, 0 = even [default: 1]"
    )
    shape: str | None = option("--shape", read=text, metavar="NAME[:X]", help="a named shape, such as gaussian:0.1")

    def check(self) -> None:
        """Raise InputError for two assumptions."""
        if self.skew is not None and self.shape is not None:
            raise InputError("give either skew or shape, not both")


@dataclass(frozen=True, kw_only=True)
class Instant(Settings):
    """Whether a sample is looked up, with reasons, or a pair shown by category, instead of a simulated ranking."""

    panel: ClassVar[str] = "Without data"

    instant: bool = option("--instant", help="predict for SAMPLE at once instead of simulating")
    bias: bool = option("--bias", advanced=True, help="bias and variance of each category under one pair")
    why: bool = option("--why", help="explain a prediction, and what would change it")


@dataclass(frozen=True, kw_only=True)
class Limits(Settings):
    """Constraints: pairs that violate them are not ranked."""

    panel: ClassVar[str] = "Menu"

    max_bits: int | None = option("--max-bits", read=whole(1), metavar="N", help="reports of at most N bits")
    max_attack: float | None = option(
        "--max-attack",
        read=share,
        metavar="X",
        advanced=True,
        help="best guess of a user's value is right at most this often",
    )
    proper: bool = option("--proper", help="only results without negatives that sum to 1")
    deployable: bool = option("--deployable", advanced=True, help="only protocols that run in products: grr, rappor")
    unbiased: bool = option("--unbiased", advanced=True, help="unbiased methods only")
    server_cost: int | None = option(
        "--server-cost", read=whole(1), metavar="N", advanced=True, help="at most N server operations for all reports"
    )


@dataclass(frozen=True, kw_only=True)
class Plurality(Settings):
    """Several attributes of each user, and several rounds."""

    panel: ClassVar[str] = "Question"

    attributes: int | None = option(
        "--attributes", read=whole(1, ATTRIBUTES_MAX), metavar="D", help="attributes of each user; --eps is for all"
    )
    solution: str | None = option(
        "--solution",
        read=choice(PLAIN_SOLUTIONS),
        metavar="NAME",
        advanced=True,
        help="smp (report one attribute) or spl (split --eps)",
    )
    rounds: int | None = option(
        "--rounds", read=whole(1, ROUNDS_MAX), metavar="R", help="repeat the collection R times, --eps each time"
    )

    def check(self) -> None:
        """Raise InputError for a solution if there is only one attribute."""
        if self.solution is not None and (self.attributes or 1) == 1:
            raise InputError("solution goes with attributes, at least 2 of them")


@dataclass(frozen=True, kw_only=True)
class Threat(Settings):
    """Attackers among the users."""

    panel: ClassVar[str] = "Question"

    threat: float | None = option(
        "--threat", read=share, metavar="SHARE", help="rank by the error when this share of users is fake"
    )
    targets: tuple[str, ...] = option(
        "--targets",
        read=text,
        metavar="LABEL",
        repeated=True,
        help="with --threat: the categories that fake users are known to promote: a,b",
    )

    def check(self) -> None:
        """Raise InputError for targets without attackers."""
        if self.targets and self.threat is None:
            raise InputError("targets goes with threat: give --threat SHARE, the share of the users who may be fake")


@dataclass(frozen=True, kw_only=True)
class Simulation(Settings):
    """Size and settings of the simulation."""

    panel: ClassVar[str] = "Simulation"

    repetitions: int | None = option(
        "--reps", read=whole(2, REPETITIONS_MAX), metavar="N", advanced=True, help="simulated collections to start with"
    )
    max_repetitions: int | None = option(
        "--max-reps", read=whole(2), metavar="N", advanced=True, help="most repetitions, for the leading pairs"
    )
    seed: int = option(
        "--seed", read=whole(0), metavar="N", default=0, advanced=True, help="same seed, same numbers [default: 0]"
    )
    jobs: int | None = option(
        "--jobs",
        read=whole(1, JOBS_MAX),
        metavar="N",
        advanced=True,
        help="parallel workers; they change no number [default: auto]",
    )

    def check(self) -> None:
        """Raise InputError if the maximum of repetitions is below their number at the start."""
        first, most = self.repetitions, self.max_repetitions
        if first is not None and most is not None and most < first:
            message = f"max-reps must be at least reps, got max-reps {most} and reps {first}"
            raise InputError(message, ("--max-reps", "--reps"))

    def race(self, first: int, most: int) -> tuple[int, int]:
        """Return the repetitions at the start and their maximum: the given options, or these defaults."""
        given, bound = self.repetitions, self.max_repetitions
        start = first if given is None else given
        end = max(start, most) if bound is None else bound
        return min(start, end), end

    def workers(self, cells: float) -> int:
        """Return the number of workers for `cells` (pairs x repetitions x categories): the option, or all that help."""
        if self.jobs is not None:
            return self.jobs
        return (os.cpu_count() or 1) if cells > PARALLEL_CELLS else 1

    def threads(self, pairs: int, repetitions: int, k: int) -> int:
        """Return the number of threads for a simulation of this size: the option, or all that help."""
        if self.jobs is None and k < THREADED_DOMAIN:
            return 1
        return self.workers(pairs * repetitions * k)


CATEGORIES_MAX = 1_000_000  # categories of a device


@dataclass(frozen=True, kw_only=True)
class Memoisation(Settings):
    """Whether devices remember a permanent randomisation of each value, and its budget."""

    panel: ClassVar[str] = "Devices that remember"

    memoize: bool = option("--memoize", help="with --rounds: each device keeps one randomisation of a value for ever")
    epsilon_forever: float | None = option(
        "--eps-forever", read=budget, metavar="ε", help="budget of all reports of a value, once devices remember it"
    )
    changes: float | None = option(
        "--changes",
        read=real(0, 1),
        metavar="X",
        help="with --eps-forever: share of users whose value changes in each round [default: 0.05]",
    )
    bits: int | None = option(
        "--device-bits",
        read=whole(1, CATEGORIES_MAX),
        metavar="D",
        advanced=True,
        help="with --eps-forever (audit: --memoize): categories that a device of dbitflip reports on [default: 1]",
    )

    def check_budgets(self, epsilon: float | None) -> None:
        """Raise InputError if a single report may spend as much as all reports of a value."""
        if epsilon is not None and self.epsilon_forever is not None and epsilon >= self.epsilon_forever:
            raise InputError(
                f"--eps is the budget of one report and must be below --eps-forever, that of all reports of a value, "
                f"got --eps {epsilon:g} and --eps-forever {self.epsilon_forever:g}"
            )
