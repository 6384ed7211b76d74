"""``ldp-advise columns``: one plan for several columns, or for attributes that are alike."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated

from advisor.cli.options import Only, Sample
from advisor.cli.ranking import RANKED, RankOutput, check_or_price, rank
from advisor.cli.run import Job, run
from advisor.extensions.columns.answer import check_columns, columns_question, joint_plan
from advisor.extensions.columns.document import joint_document
from advisor.question.option import refuse
from advisor.question.question import Question
from advisor.question.rules import require_budget_and_data


def columns_command(
    *,
    sample: Sample = None,
    question: Annotated[Question, Only(*RANKED, "plurality:attributes,solution")],
    shown: RankOutput,
) -> None:
    """Say how each user reports on several columns, or attributes.

    That is one of them, drawn at random, or all with a part of the budget. Give each --column of SAMPLE, or
    --attributes D where D attributes are like the one that is shown; --eps is for all.

    Examples: ldp-advise columns --eps 2 survey.csv --column age --column town
              ldp-advise columns --eps 1 --k 10 --n 1e5 --attributes 10
    """
    asked = replace(question, sample=sample)
    several = asked.columns.column[1:] or None
    if several is None and asked.plurality.attributes is None:
        hint = "several columns, for example --column age --column town, or how many, for example --attributes 4"
        require_budget_and_data(asked, ("--column or --attributes", None, hint))
    if several is None:
        rank(asked, shown)
        return
    check_or_price(asked)
    refuse(shown.given("reasons", "picture", "extras"), "is about one column: ask ldp-advise for one")
    check_columns(asked.alone)
    run(
        Job(
            read=partial(columns_question, asked.alone),
            answer=joint_plan,
            document=joint_document,
            inputs=[sample],
            unprotected=True,
        ),
        shown.output,
    )
