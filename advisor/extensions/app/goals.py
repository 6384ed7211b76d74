"""The four goals that people come with, and the controls of each page: at most six, and the rarer ones folded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Protocol

from advisor.checks import choice
from advisor.extensions.app.controls import YES, Choices, Control
from advisor.extensions.choose.question import Wishes
from advisor.extensions.places.question import Ground, Promise
from advisor.question.collected_request import Collection, EstimateColumns
from advisor.question.option import Settings, option
from advisor.question.settings import Categories, Columns, Limits, Menu, Plurality, Terms
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS

PLAN, ESTIMATE, COMPARE, PLACES = "plan", "estimate", "compare", "places"
MOST_CONTROLS = 6  # of a page, its data among them
FILE = ""  # the shape of data that are in a file
SHAPES: Choices = (
    ("zipf", "A few common, many rare"),
    ("uniform", "About equally common"),
    ("gaussian", "Bell-shaped, as ages or sizes"),
    ("spike", "One far more common"),
)
ESTIMATES, REPORTS = "estimate", "reports"
HOLDS: Choices = ((ESTIMATES, "an estimate for each category"), (REPORTS, "the reports, one per user"))
ORDER: Choices = (("", "as the labels say"), (YES, "yes, as ages or sizes have"), ("no", "no"))
SWITCH: Choices = (("", "no"), (YES, "yes"))
NO_BUDGET = "Give the privacy budget ε of one report, for example 1."

PEOPLE = "How many people will answer?"
KINDS = "How many possible answers?"
ORDERED = Control("ordered", Categories, "ordered", "Do the categories have an order?", choices=ORDER)
COLUMN = Control("column", Columns, "column", "Column of the values", "By name or number, if the file has several.")
COUNTS = Control("counts", Columns, "counts", "Column of counts", "If the file has one row per category.")
DEPLOYABLE = Control(
    "deployable", Limits, "deployable", "Only protocols that run in products", choices=SWITCH
)  # fmt: skip
BITS = Control("bits", Limits, "max_bits", "Largest report, in bits")


class Titled(Protocol):
    """A member of a table."""

    @property
    def title(self) -> str: ...  # noqa: D102


@dataclass(frozen=True, kw_only=True)
class ReadAs(Settings):
    """What a file of a collection holds, which decides on the command."""

    panel: ClassVar[str] = "Data"

    holds: str = option(
        "holds", read=choice((ESTIMATES, REPORTS)), metavar="KIND", default=ESTIMATES, help="estimate or reports"
    )


@dataclass(frozen=True)
class PageGoal:
    """A page: what people come with, what it asks, and what becomes of it."""

    key: str  # in the address
    title: str
    lead: str  # what the page does, in a sentence
    main: tuple[Control, ...]  # controls besides the data
    more: tuple[Control, ...]  # folded
    example: str = ""  # name of a file to look at, where a shape will not do
    example_set: str = ""  # what is set with it, as in an address
    shapes: bool = False  # whether a shape will do instead of a file
    data: str = "Your data"  # what the control of the data is called

    @property
    def controls(self) -> tuple[Control, ...]:
        """All controls but that of the data."""
        return (*self.main, *self.more)


@cache
def goals() -> dict[str, PageGoal]:
    """Return the pages by their keys, with the members that there are."""
    return {goal.key: goal for goal in (_plan(), _estimate(), _compare(), _places())}


def _plan() -> PageGoal:
    return PageGoal(
        PLAN,
        "I plan a survey",
        "Say how many people you ask and how exact it has to be. You get a verdict: collect or not, and with which "
        "privacy budget.",
        (
            Control("n", Terms, "n", PEOPLE, start="2000", needed="Give the number of people, for example 2000."),
            Control("k", Categories, "k", KINDS, "Leave it open where a file shows them.", start="18"),
            Control(
                "within", Wishes, "within", "How far off may a share be?", "Percentage points, on average.", start="1",
                needed="Give percentage points, for example 1.",
            ),
            Control(
                "sensitive", Wishes, "sensitive", "How sensitive are the answers?", start="medium",
                choices=(("low", "low: a favourite colour"), ("medium", "medium: age, opinions"),
                         ("high", "high: health, votes")),
                needed="Choose low, medium or high.",
            ),
            Control(
                "times", Wishes, "times", "How often are the same people asked?", "1 is once.", start="1",
                needed="Give how often the same people are asked; 1 is once.",
            ),
        ),
        (
            Control("eps", Terms, "epsilon", "ε, if you have settled it",
                    "The privacy budget of one report. Open: the page works it out."),
            ORDERED, COLUMN, COUNTS, DEPLOYABLE, BITS,
        ),
        shapes=True,
        data="How common are the answers?",
    )  # fmt: skip


def _estimate() -> PageGoal:
    return PageGoal(
        ESTIMATE,
        "I hold an estimate",
        "Drop what was collected. You get the method that repairs it best, the repaired frequencies with intervals, "
        "and how sure that is.",
        (
            Control("holds", ReadAs, "holds", "What does the file hold?", start=ESTIMATES, choices=HOLDS),
            Control("used", Collection, "used", "Which protocol was used?", start="oue", choices=members(PROTOCOLS),
                    needed="Choose the protocol that was used."),
            Control("eps", Terms, "epsilon", "ε of one report", start="1", needed=NO_BUDGET),
            Control("n", Terms, "n", "How many users reported?",
                    "For reports, leave it open: they are counted."),
            _metric(""),
        ),
        (
            Control("k", Categories, "k", "Number of categories", "For reports that hold numbers."),
            ORDERED, COLUMN,
            Control("estimates", EstimateColumns, "estimates", "Column of the estimates"),
            Control("method", Menu, "method", "Only these methods", choices=members(POSTPROCESSORS), several=True),
        ),
        "estimate.csv",
        data="What was collected",
    )  # fmt: skip


def _compare() -> PageGoal:
    return PageGoal(
        COMPARE,
        "I compare methods",
        "Choose data, budget and metric. You get the ranking of every protocol with every post-processing method, "
        "ties included.",
        (
            Control("k", Categories, "k", "Number of categories", "Leave it open where a file shows them.", start="64"),
            Control("n", Terms, "n", "Number of users", start="100000"),
            Control("eps", Terms, "epsilon", "ε of one report", start="1", needed=NO_BUDGET),
            _metric("l1"),
            Control("method", Menu, "method", "Methods", "None chosen: all of them.", choices=members(POSTPROCESSORS),
                    several=True),
        ),
        (
            Control("protocol", Menu, "protocol", "Protocols", "None chosen: all of them.",
                    choices=members(PROTOCOLS), several=True),
            ORDERED, COLUMN, COUNTS, BITS, DEPLOYABLE,
            Control("rounds", Plurality, "rounds", "Rounds of the collection"),
        ),
        shapes=True,
        data="Data",
    )  # fmt: skip


def _places() -> PageGoal:
    return PageGoal(
        PLACES,
        "Where are my users",
        "Drop coordinates, one row per user or per cell. You get maps, errors by distance, and what is promised "
        "between which places.",
        (
            Control("columns", Ground, "columns", "Columns of the coordinates", "Row and column, or longitude and "
                    "latitude.", start="row,col", needed="Name both columns, for example row,col."),
            Control("grid", Ground, "grid", "Size of the grid", "Rows x columns.", start="12x16",
                    needed="Give rows and columns of the grid, for example 12x16."),
            Control("privacy", Promise, "privacy", "Between which places is it promised?", start="metric",
                    choices=(("ldp", "any two places"), ("metric", "places near each other"))),
            Control("radius", Promise, "radius", "How near?", "In cells, or in km with a cell size. Open for any two "
                    "places.", start="2"),
            Control("eps", Terms, "epsilon", "ε of one report", start="1", needed=NO_BUDGET),
        ),
        (
            Control("counts", Columns, "counts", "Column of counts", "If the file has one row per cell."),
            Control("n", Terms, "n", "Number of users", "Open: those of the file."),
            Control("cell", Ground, "cell_km", "Side of a cell in km", "For longitude and latitude."),
            Control("distance", Ground, "distance", "Distance", choices=(
                ("", "as the crow flies"), ("manhattan", "along streets"))),
        ),
        "town.csv",
        "counts=people",
        data="Where people are",
    )  # fmt: skip


def _metric(start: str) -> Control:
    choices = tuple((key, f"{metric.title} ({key})") for key, metric in METRICS.items())
    return Control(
        "metric", Terms, "metric", "What is to be small?", start=start,
        choices=choices if start else (("", "the usual: sum of absolute errors (l1)"), *choices),
    )  # fmt: skip


def members(table: Mapping[str, Titled]) -> Choices:
    """Return the members of a table as choices."""
    return tuple((key, f"{key}: {member.title}") for key, member in table.items())
