"""``ldp-advise rounds`` and ``advisor.memoise``: rounds with the same users, with fresh or with remembered noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from numpy.typing import ArrayLike

from advisor.api.keywords import keyword_errors
from advisor.api.shown import Shown
from advisor.cli.options import Only
from advisor.cli.ranking import RANKED, PlainOutput, rank
from advisor.cli.run import Job, run
from advisor.extensions.rounds.answer import ROUNDS, Comparison, check_rounds, compare, rounds_question
from advisor.extensions.rounds.document import rounds_document
from advisor.question.option import refuse
from advisor.question.question import Question
from advisor.question.rules import require_budget_and_data
from advisor.question.settings import Memoisation, Shape


def rounds_command(
    *,
    question: Annotated[Question, Only(*RANKED, "instant:instant,why", "plurality")],
    memoisation: Annotated[Memoisation, Only("epsilon_forever", "changes", "bits")],
    shown: PlainOutput,
) -> None:
    """Ask the same users in several rounds: fresh or remembered noise.

    --eps is the budget of one report. With --eps-forever, that of all reports of a value, it compares devices that
    remember one randomisation of each value with fresh noise in each round; without, it ranks for fresh noise.

    Examples: ldp-advise rounds --rounds 12 --eps 1 sample.csv
              ldp-advise rounds --rounds 30 --eps 1 --eps-forever 2 --changes 0.05 --k 64 --n 1e6
    """
    if question.plurality.rounds is None:
        require_budget_and_data(question, ("--rounds", None, ROUNDS))
    if memoisation.epsilon_forever is None:
        refuse(memoisation.given(), "goes with --eps-forever, the budget of all reports of a value that is remembered")
        rank(question, shown)
        return
    alone = question.alone
    check_rounds(alone, memoisation)
    beside = shown.given("output:plot", "extras")
    refuse(beside, "does not go with --eps-forever, which compares raw estimates in closed form")
    run(
        Job(
            read=lambda: rounds_question(alone, memoisation),
            answer=lambda rounds, _: compare(rounds),
            document=rounds_document,
            data=alone,
        ),
        shown.output,
        top=None,
    )


class MemoiseAnswer(Comparison, Shown):
    """The answer of `memoise`; its attributes are those of `advisor.extensions.rounds.answer.Comparison`."""

    _document = rounds_document


@keyword_errors("rounds", "epsilon_forever", "changes", "device_bits")
def memoise(
    eps: float | None = None,
    *,
    epsilon_forever: float | None = None,
    rounds: int | None = None,
    changes: float | None = None,
    k: int | None = None,
    n: int | None = None,
    sample: Iterable[Any] | None = None,
    sample_counts: ArrayLike | Mapping[Any, int] | None = None,
    shape: float | str | Shape | None = None,
    protocol: str | Sequence[str] | None = None,
    device_bits: int | None = None,
) -> MemoiseAnswer:
    """Compare devices that remember a randomisation of each value with fresh noise in each of several rounds.

    Parameters
    ----------
    eps
        Privacy budget of one report.
    epsilon_forever
        Budget of all reports of a value, above `eps`.
    rounds
        Collections from the same users.
    changes
        Share of the users whose value changes in each round, 0.05 by default; frequencies stay.
    k, shape
        Domain size and assumed frequencies, where there is no sample, as in `advisor.advise`.
    sample, sample_counts
        One value per user, or users by category.
    n
        Users, who report in every round.
    protocol
        Memoised protocols to compare, of grr, rappor, oue, blh, olh; all, and dbitflip, by default.
    device_bits
        Categories that a device of dbitflip reports on, 1 by default.

    Returns
    -------
    The approaches, which one to take (``best``), and whether to memoise (``memoise``); errors are frequencies.

    Raises
    ------
    InputError
        If something is missing, out of range or does not go together.

    Examples
    --------
    >>> answer = memoise(1, epsilon_forever=2, rounds=30, k=16, n=100_000)
    >>> answer.memoise, answer.memory.spent_mean < answer.same_round.spent_mean
    (True, True)
    """
    question = Question.of(locals())
    memoisation = Memoisation(epsilon_forever=epsilon_forever, changes=changes, bits=device_bits)
    check_rounds(question, memoisation)
    return MemoiseAnswer.of(compare(rounds_question(question, memoisation)))
