"""``ldp-advise --memoize``: whether devices that report in several rounds should remember, or send fresh noise."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.cli.ranking import RankOptions
from advisor.cli.run import Job, Output, run, silence
from advisor.extensions.rounds.answer import compare
from advisor.extensions.rounds.document import rounds_document
from advisor.extensions.rounds.question import RoundsQuestion, RoundsSettings, rounds_question
from advisor.question.frequencies import from_shape
from advisor.question.memoisation import Memoisation
from advisor.question.option import refuse
from advisor.question.sample import from_file, refuse_mixed
from advisor.question.settings import Plurality, Question


def run_memoised(
    sample: str | None,
    question: Question,
    options: RankOptions,
    plurality: Plurality,
    memoisation: Memoisation,
    others: Sequence[str],
    output: Output,
) -> None:
    """Compare memoisation with fresh noise; `others` are options of a ranking that were given.

    Raises InputError if something is missing or does not go together, or the sample is wrong.
    """
    settings = RoundsSettings(question, plurality, memoisation, options.menu, sample or options.domain.k)
    refuse(
        [
            *question.given("metric"), *options.menu.given("method"), *options.limits.given(),
            *options.instant.given(), *options.metric_settings.given(),
            *options.simulation.given("repetitions", "max_repetitions"),
            *plurality.given("attributes", "solution"), *others,
        ],
        "does not go with --memoize, which compares raw estimates in closed form",
    )  # fmt: skip
    refuse_mixed(sample, options.shape, options.columns, options.cleaning)

    def read() -> RoundsQuestion:
        if sample is None:
            k, seed = options.domain.k or 0, options.simulation.seed
            frequencies = from_shape(k, options.shape, ordered=options.domain.ordered, seed=seed)
        else:
            frequencies = from_file(sample, options.domain, options.columns, options.cleaning)
        return rounds_question(settings, frequencies)

    run(
        Job(
            read=read,
            answer=lambda question, _: compare(question),
            document=rounds_document,
            progress=silence,
            inputs=[sample, options.cleaning.domain],
            warnings=lambda question: question.warnings,
            unprotected=sample is not None,
        ),
        output,
        top=None,
    )
