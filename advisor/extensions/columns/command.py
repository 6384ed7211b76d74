"""``ldp-advise columns``: one plan for several columns, or for attributes that are alike."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from advisor.cli.options import Only
from advisor.cli.ranking import RANKED, PlainOutput, check_or_price, rank
from advisor.cli.run import Job, run
from advisor.extensions.columns.answer import check_columns, columns_question, joint_plan
from advisor.extensions.columns.document import joint_document
from advisor.question.option import refuse
from advisor.question.question import Question
from advisor.question.rules import require_budget_and_data


def columns_command(
    *,
    question: Annotated[Question, Only(*RANKED, "instant:instant,why", "plurality:attributes,solution")],
    shown: PlainOutput,
) -> None:
    """Say how each user reports on several columns, or attributes.

    That is one of them, drawn at random, or all with a part of the budget. Give each --column of SAMPLE, or
    --attributes D where D attributes are like the one that is shown; --eps is for all.

    Examples: ldp-advise columns --eps 2 survey.csv --column age --column town
              ldp-advise columns --eps 1 --k 10 --n 1e5 --attributes 10
    """
    several = question.columns.column[1:] or None
    if several is None and question.plurality.attributes is None:
        hint = "several columns, for example --column age --column town, or how many, for example --attributes 4"
        require_budget_and_data(question, ("--column or --attributes", None, hint))
    if several is None:
        rank(question, shown)
        return
    check_or_price(question)
    refuse(
        question.given("instant:why") + shown.given("output:plot", "extras"),
        "is about one column: ask ldp-advise for one",
    )
    check_columns(question.alone)
    run(
        Job(read=partial(columns_question, question.alone), answer=joint_plan, document=joint_document, data=question),
        shown.output,
    )
