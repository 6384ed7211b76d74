"""``advisor.choose``: whether to collect, and with which ε, as a function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import ArrayLike

from advisor.api.keywords import keyword_errors
from advisor.api.shown import Shown
from advisor.extensions.choose import answer
from advisor.extensions.choose.answer import Wishes
from advisor.extensions.choose.document import choice_document, price_figure
from advisor.question.option import require
from advisor.question.question import Question
from advisor.question.sample import sample_frequencies
from advisor.show.model import Document


class ChoiceAnswer(answer.Choice, Shown):
    """The answer of `choose`; its attributes are those of `advisor.extensions.choose.answer.Choice`."""

    @property
    def _document(self) -> Document:
        return choice_document(self)

    def _figure(self) -> Any:
        return price_figure(self) if self.prices else None


@keyword_errors()
def choose(
    *,
    n: int | None = None,
    k: int | None = None,
    within: float | None = None,
    sensitive: str = "high",
    times: int = 1,
    sample: Iterable[Any] | None = None,
    sample_counts: ArrayLike | Mapping[Any, int] | None = None,
    ordered: bool | None = None,
    instant: bool = False,
) -> ChoiceAnswer:
    """Say whether to collect, and with which ε, from what people know who have never heard of ε.

    Parameters
    ----------
    n
        How many people will answer.
    k
        How many possible answers the question has; a sample says it too.
    within
        How far off a share may be, in percentage points on average; None: what makes a collection worth it.
    sensitive
        ``"low"``, ``"medium"`` or ``"high"``.
    times
        How often the same people are asked.
    sample, sample_counts, ordered
        Published or pilot data, as in `advisor.advise`: what decides is then simulated.
    instant
        Predict for such data too, instead of simulating.

    Returns
    -------
    The choice: ``.epsilon`` is None where collecting is not advised, and ``.reason`` says why.

    Raises
    ------
    InputError
        If something is missing, out of range or does not go together.

    Examples
    --------
    >>> choose(n=2000, k=18, within=1.0, sensitive="medium").epsilon is None
    True
    """
    question = Question.of({"sample": sample, "sample_counts": sample_counts, "k": k, "ordered": ordered})
    wishes = Wishes(people=n, answers=k, within=within, sensitive=sensitive, times=times, ordered=ordered)
    require(
        ("--n", n, "the number of people, for example --n 2000"),
        ("--k", k if question.sample is None else True, "the number of possible answers, for example --k 18"),
    )
    frequencies = None if question.sample is None else sample_frequencies(question)
    words = () if frequencies is None else ("--sample", "DATA")
    return ChoiceAnswer.of(answer.choose(wishes, frequencies, words, instant=instant))
