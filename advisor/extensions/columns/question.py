"""What is asked about several columns of one file."""

from __future__ import annotations

from dataclasses import dataclass, replace

from advisor.errors import InputError
from advisor.inputs.histogram import read_columns
from advisor.question.cleaning import Cleaning
from advisor.question.frequencies import Frequencies
from advisor.question.option import refuse
from advisor.question.request import RankSettings
from advisor.question.sample import doubted, over_domain, sample_name
from advisor.question.settings import Categories, Columns
from simulator.protocols import EPSILON_MIN
from simulator.sharing import PARTS


@dataclass(frozen=True, eq=False)  # holds arrays
class ColumnsQuestion:
    """Several columns, one value of each from every user."""

    settings: RankSettings
    sample: str
    columns: tuple[Frequencies, ...]  # each called by its name
    n: int  # users
    instant: bool

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should worry about."""
        return tuple(dict.fromkeys(warning for one in self.columns for warning in one.warnings))


def check_columns(settings: RankSettings, domain: Categories, columns: Columns, cleaning: Cleaning) -> None:
    """Refuse what does not go with several columns, before anything is read.

    Raises InputError if something was asked for that is about one column, or the budget is too small for so many.
    """
    flags = (*domain.given("k"), *columns.given("counts"), *cleaning.given())
    flags = tuple(flag for flag in flags if flag != "--drop-missing")
    refuse(flags, "is about one column: leave it out, or ask for one --column")
    flags = (*settings.plurality.given(), *settings.threat.given(), *settings.promise.given())
    refuse(flags, "does not go with several columns: they are the attributes, each reported at most once")
    settings.question.one_metric("a plan for several columns")
    number, epsilon = len(columns.column), settings.epsilon
    if number > PARTS or epsilon / PARTS < EPSILON_MIN:
        raise InputError(
            f"several columns: at most {PARTS}, at --eps {PARTS * EPSILON_MIN:g} or more, got {number} at {epsilon:g}"
        )


def columns_question(
    sample: str, settings: RankSettings, domain: Categories, columns: Columns, cleaning: Cleaning, *, instant: bool
) -> ColumnsQuestion:
    """Read the columns of a sample file in one pass.

    Raises InputError if the file cannot be read, or a column is not there.
    """
    read = read_columns(sample, columns.column, header=columns.header, drop_missing=cleaning.drop_missing)
    frequencies = tuple(
        replace(over_domain(doubted(one, name), sample_name(sample), domain, Cleaning()), name=name)
        for name, one in zip(columns.column, read, strict=True)
    )
    n = settings.question.n or max(one.users or 0 for one in frequencies)
    if n < len(frequencies):
        raise InputError(f"n must be at least the number of columns, {len(frequencies)}, got {n:,}")
    return ColumnsQuestion(settings, sample_name(sample), frequencies, n, instant)
