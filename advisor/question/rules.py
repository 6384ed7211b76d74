"""Rules for missing and contradictory options of a question, checked once before any input is read."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from advisor.errors import InputError, listed
from advisor.question.fitting import (
    checked_threat,
    fitting_methods,
    fitting_metrics,
    fitting_protocols,
    refuse_registered,
)
from advisor.question.option import refuse, require
from advisor.question.plurality import check_attributes
from advisor.question.question import BUDGET, Question
from simulator.foreign import REGISTERED
from simulator.protocols import EPSILON_MIN

MOST_CELLS = 10_000
MOST_CATEGORIES = 10_000_000  # total over all domains of a sweep: they are in memory at the same time
USERS_LOW = 10  # minimum of users in a plan
ROUNDING = 1e-9  # tolerance in users: 0.07 times 100 is not exactly 7
DATA = "a file with public, synthetic or pilot data, - for standard input, or --k without a file"
PREDICTED = "is for a simulation, and this answer is predicted: give a sample, and no --instant"


def require_budget_and_data(question: Question, *needs: tuple[str, object, str]) -> None:
    """Raise InputError for all that is missing: what a command needs itself, the budget, and the data."""
    budget = question.grid.epsilons or question.terms.epsilon or question.promise.central_epsilon
    counts = question.columns.counts
    with suppress(OSError):  # of a name that is too long
        if question.sample is None and counts and Path(counts).is_file():
            raise InputError(f"--counts names a column, and {counts} is a file: give it too, {counts} --counts NAME")
    require(*needs, ("--eps", budget, BUDGET), ("SAMPLE", question.sample or question.domain.k, DATA))


def check_ranking(question: Question) -> None:
    """Check the options of a ranking.

    Raises InputError for all missing options together, otherwise for the first contradiction.
    """
    require_budget_and_data(question)
    check_budget(question)
    check_data(question)
    if question.is_predicted:
        refuse(question.simulation.given("repetitions", "max_repetitions"), PREDICTED)
    for single in question.each:
        check_menu(single)


def check_budget(question: Question) -> None:
    """Raise InputError for both a budget and a shuffler guarantee, and for settings of metrics not requested."""
    if question.promise.central_epsilon is not None:
        refuse(
            question.given("terms:epsilon", "grid:epsilons"),
            "does not go with --central-eps: each protocol gets the budget that the shuffler allows",
        )
        refuse(
            question.given("plurality", "threat"),
            "does not go with --central-eps: the promise is of one honest report of each user",
        )


def check_data(question: Question) -> None:
    """Raise InputError for options about a sample without a sample, and for an assumed shape with a sample."""
    if question.sample is None:
        refuse(question.given("columns", "cleaning"), "needs a sample, and none is given")
        return
    name = question.sample if isinstance(question.sample, str) else "the sample"
    refuse(question.shape.given(), f"is for a question without a sample: the frequencies are those of {name}")


def check_menu(question: Question) -> None:
    """Raise InputError for metrics, protocols, methods and threats that fit no data."""
    instant, k, n = question.is_predicted, question.domain.k, question.terms.n
    if instant:
        refuse_registered(question.terms, question.menu, k)
    may_be_ordered = question.domain.ordered is not False
    metrics, _ = fitting_metrics(question.terms, may_be_ordered)
    fitting_protocols(question.menu, may_be_ordered, instant=instant)
    fitting_methods(question.menu, metrics, may_be_ordered, question.threat)
    if k is not None:
        replace(question.terms.metric_settings, sets=None).resolved(k)  # the file is read with the data
    checked_threat(question.threat, n, instant=instant)
    if n is not None and question.terms.epsilon is not None:
        check_attributes(question.plurality, question.terms.epsilon, n)


def check_plan(question: Question) -> None:
    """Check the options of a plan; for example, it needs an unknown, and takes a single metric.

    Raises InputError for all missing options together, otherwise for the first contradiction.
    """
    terms, goal, central = question.terms, question.goal, question.promise.central_epsilon
    if central is not None:
        refuse(
            terms.given("epsilon", "n"),
            "does not go with --central-eps: how many users keep the promise and reach the error is the answer",
        )
        if central < EPSILON_MIN:  # few users could not keep it
            raise InputError(f"central-eps must be at least {EPSILON_MIN:g} in a plan, got {central:g}")
    require(
        (
            "--target",
            goal.target if goal.detect is None else goal.detect,
            "the error to reach, for example --target 0.1 (or --detect with a frequency to be detected)",
        ),
        (
            "--eps or --n",
            central or (terms.n if terms.epsilon is None else terms.epsilon),
            "--eps to get the number of users, or --n to get ε",
        ),
        ("SAMPLE", question.sample or question.domain.k, DATA),
    )
    if goal.target is not None and goal.detect is not None:
        raise InputError("give either --target or --detect, not both")
    if terms.metric_settings.mix == 0 and "kl" in terms.metrics:
        raise InputError("kl:0 is infinite while an estimate may be 0: plan takes kl:X with X above 0")
    if terms.epsilon is not None and terms.n is not None:
        raise InputError("no unknown is left: --eps and --n are both given; leave out the one that is asked for")
    if terms.n is not None and terms.n < USERS_LOW:
        raise InputError(f"n must be at least {USERS_LOW}, got {terms.n}")
    if question.instant.instant:
        refuse(question.simulation.given("max_repetitions"), "is for a simulation: leave --instant out")
    if goal.detect is not None:
        flags = question.given("terms:metric", "menu:method")
        refuse(flags, "goes with --target: a detection is by the raw estimate of one value")
        flags = question.given("shape", "simulation:max_repetitions")
        refuse(flags, "goes with --target: a detection takes other values as equally frequent, and ends by itself")
        if terms.n is not None and goal.detect * terms.n < 1 - ROUNDING:
            raise InputError(f"a frequency of {goal.detect:g} is less than one of {terms.n:,} users")
    check_data(question)


def check_sweep(question: Question, *, resumes: bool) -> None:
    """Check the options of a sweep; a sample determines n and k.

    Raises InputError for all missing options together, otherwise for the first contradiction.
    """
    grid, menu = question.grid, question.menu
    needs: list[tuple[str, object, str]] = [
        ("--eps", grid.epsilons, "one or more budgets, for example --eps 0.5,1,2,4")
    ]
    if question.sample is None:
        needs += [
            ("--n", grid.users, "numbers of users, for example --n 1e4,1M (a sample brings its own)"),
            ("--k", grid.sizes, "domain sizes, for example --k 64,1024 (a sample brings its own)"),
        ]
    require(*needs)
    named = [name.partition(":")[0] for name in (*menu.protocol, *menu.method, *question.terms.metric)]
    registered = [REGISTERED[name] for name in named if name in REGISTERED]
    if resumes and registered:
        raise InputError(
            f"--resume does not go with {listed(registered)}: whether it is as it was, a file of cells cannot tell; "
            "leave --resume out"
        )
    cells = len(grid.epsilons) * max(1, len(grid.users)) * max(1, len(grid.sizes))
    if cells > MOST_CELLS:
        raise InputError(f"a sweep has at most {MOST_CELLS:,} cells, got {cells:,}: give fewer values")
    if sum(grid.sizes) > MOST_CATEGORIES:
        raise InputError(
            f"the values of --k add up to at most {MOST_CATEGORIES:,} in one sweep, got {sum(grid.sizes):,}: give "
            "fewer at once, and keep what is done with --resume"
        )
    check_data(question)
