"""``ldp-advise rounds``: the same users in several rounds, with fresh noise or devices that remember."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from advisor.cli.options import Only, Sample
from advisor.cli.ranking import RANKED, RankOutput, rank
from advisor.cli.run import Job, run
from advisor.extensions.rounds.answer import check_rounds, compare, rounds_question
from advisor.extensions.rounds.document import rounds_document
from advisor.question.option import refuse, require
from advisor.question.question import Question
from advisor.question.rules import BUDGET, DATA
from advisor.question.settings import Memoisation


def rounds_command(
    *,
    sample: Sample = None,
    question: Annotated[Question, Only(*RANKED, "plurality")],
    memoisation: Annotated[Memoisation, Only("epsilon_forever", "changes", "bits")],
    shown: RankOutput,
) -> None:
    """Ask the same users in several rounds: fresh or remembered noise.

    --eps is the budget of one report. With --eps-forever, that of all reports of a value, it compares devices that
    remember one randomisation of each value with fresh noise in each round; without, it ranks for fresh noise.

    Examples: ldp-advise rounds --rounds 12 --eps 1 sample.csv
              ldp-advise rounds --rounds 30 --eps 1 --eps-forever 2 --changes 0.05 --k 64 --n 1e6
    """
    asked = replace(question, sample=sample)
    if asked.plurality.rounds is None:
        require(
            ("--rounds", None, "the number of collections, for example --rounds 30"),
            ("--eps", asked.grid.epsilons, BUDGET),
            ("SAMPLE", sample or asked.domain.k, DATA),
        )
    if memoisation.epsilon_forever is None:
        refuse(memoisation.given(), "goes with --eps-forever, the budget of all reports of a value that is remembered")
        rank(asked, shown)
        return
    alone = asked.alone
    check_rounds(alone, memoisation)
    beside = shown.given("reasons", "picture", "extras")
    refuse(beside, "does not go with --eps-forever, which compares raw estimates in closed form")
    run(
        Job(
            read=lambda: rounds_question(alone, memoisation),
            answer=lambda rounds, _: compare(rounds),
            document=rounds_document,
            inputs=alone.files,
            warnings=lambda rounds: rounds.warnings,
            unprotected=sample is not None,
        ),
        shown.output,
        top=None,
    )
