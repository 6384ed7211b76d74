"""What is asked about several columns of one file."""

from __future__ import annotations

from dataclasses import dataclass, replace

from advisor.errors import InputError
from advisor.inputs.histogram import read_columns
from advisor.question.cleaning import Cleaning
from advisor.question.frequencies import Frequencies
from advisor.question.option import refuse
from advisor.question.question import Question
from advisor.question.sample import doubted, over_domain, sample_name
from simulator.attributes import PARTS
from simulator.protocols import EPSILON_MIN


@dataclass(frozen=True, eq=False)  # holds arrays
class ColumnsQuestion:
    """Several columns, one value of each from every user."""

    core: Question  # what is asked of each
    sample: str
    columns: tuple[Frequencies, ...]  # each called by its name
    n: int  # users

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should worry about."""
        return tuple(dict.fromkeys(warning for column in self.columns for warning in column.warnings))


def check_columns(question: Question) -> None:
    """Refuse what does not go with several columns, before anything is read.

    Raises InputError if something was asked for that is about one column, or the budget is too small for so many.
    """
    flags = [flag for flag in question.given("domain:k", "columns:counts", "cleaning") if flag != "--drop-missing"]
    refuse(flags, "is about one column: leave it out, or ask ldp-advise for one --column")
    refuse(question.given("plurality"), "does not go with several columns: they are the attributes, each reported once")
    question.terms.one_metric("a plan for several columns")
    number, epsilon = len(question.columns.column), question.epsilon
    if number > PARTS or epsilon / PARTS < EPSILON_MIN:
        raise InputError(
            f"several columns: at most {PARTS}, at --eps {PARTS * EPSILON_MIN:g} or more, got {number} at {epsilon:g}"
        )


def columns_question(question: Question) -> ColumnsQuestion:
    """Read the columns of a sample file in one pass.

    Raises InputError if the file cannot be read, or a column is not there.
    """
    sample, columns = question.path, question.columns
    read = read_columns(sample, columns.column, header=columns.header, drop_missing=question.cleaning.drop_missing)
    frequencies = tuple(
        replace(over_domain(doubted(column, name), sample_name(sample), question.domain, Cleaning()), name=name)
        for name, column in zip(columns.column, read, strict=True)
    )
    n = question.terms.n or max(column.users or 0 for column in frequencies)
    if n < len(frequencies):
        raise InputError(f"n must be at least the number of columns, {len(frequencies)}, got {n:,}")
    return ColumnsQuestion(question, sample_name(sample), frequencies, n)
