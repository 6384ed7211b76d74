"""``ldp-advise plan``: how many users, or which budget, an error takes."""

from __future__ import annotations

from typing import Annotated

from advisor.answers.plan.answer import make_plan
from advisor.cli.options import Only
from advisor.cli.ranking import Audience
from advisor.cli.run import Job, Output, run
from advisor.question.option import refuse
from advisor.question.plan import plan_question
from advisor.question.question import Question
from advisor.question.rules import check_plan
from advisor.show.decision import decision_of_plan
from advisor.show.plan import plan_document

PLANNED = (
    "sample",
    "terms",
    "goal",
    "domain",
    "columns",
    "cleaning",
    "menu",
    "limits:deployable",
    "shape",
    "instant:instant",
    "simulation:max_repetitions,seed,jobs",
    "promise",
)


def plan_command(*, question: Annotated[Question, Only(*PLANNED)], audience: Audience, output: Output) -> None:
    """Say how many users, or which ε, an error takes.

    Give --target (or --detect, for a small frequency), and one of --eps and --n; the other is the answer. With a
    shuffler give --central-eps and --delta instead: the answer is the number of users.

    Examples: ldp-advise plan --target 0.1 --eps 1 sample.csv
              ldp-advise plan --detect 0.001 --eps 1 --k 256
    """
    check_plan(question)
    instant = question.instant.instant
    if audience.given():
        refuse(question.given("promise"), "does not go with --for decision, whose promise is that of a single report")
    run(
        Job(
            read=lambda: plan_question(question),
            warnings=lambda plan: plan.frequencies.warnings,
            answer=lambda plan, progress: make_plan(plan, instant=instant, progress=progress),
            document=audience.page(plan_document, decision_of_plan, output),
            data=question,
        ),
        output,
    )
