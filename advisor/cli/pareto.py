"""``ldp-advise pareto``: the pairs that no other beats in error, attack success and bits per report at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from advisor.answers.rank.simulate import ranking_answer
from advisor.answers.rank.trade_offs import frontier_of
from advisor.cli.options import Only, Sample
from advisor.cli.ranking import RANKED, check_or_price
from advisor.cli.run import Job, Output, run
from advisor.question.question import Question
from advisor.question.ranking import ranking_requests
from advisor.question.settings import Picture
from advisor.show.rank.pareto import pareto_document


def pareto_command(
    *, sample: Sample = None, question: Annotated[Question, Only(*RANKED, "promise")], picture: Picture, output: Output
) -> None:
    """Show the trade-offs between error, attack and report size.

    A pair is shown where no other beats it in all three at once.

    Examples: ldp-advise pareto --eps 1 sample.csv
              ldp-advise pareto --eps 1 --k 256
    """
    asked = replace(question, sample=sample)
    asked.terms.one_metric("pareto")
    check_or_price(asked.alone)
    run(
        Job(
            read=lambda: ranking_requests(asked.alone)[0],
            answer=lambda request, progress: frontier_of(ranking_answer(asked, request, progress).first),
            document=pareto_document,
            inputs=asked.files,
            plot=picture.plot,
            unprotected=sample is not None,
        ),
        output,
        top=None,
    )
