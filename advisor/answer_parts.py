"""An answer for people, part by part: sentences, and advice whose ranked table stands there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from advisor.rank.advice import Advice
from advisor.rank.table import TOP, hidden_sentence
from advisor.rank.words import answer_sentence, footer_sentences, next_round_sentence, why_sentences, worth_sentences


class Sentence(NamedTuple):
    """A line of text, and how a terminal shows it (a style of rich)."""

    text: str
    style: str = ""


def answer_parts(
    advices: tuple[Advice, ...], *, top: int | None = TOP, quiet: bool = False
) -> Iterator[Sentence | Advice]:
    """Yield for each advice the answer in a sentence and the ranked table, and then what all rests on."""
    for place, advice in enumerate(advices):
        if place:
            yield Sentence("")
        yield Sentence(answer_sentence(advice), "bold" if advice.beats_uniform_guess else "bold yellow")
        if not quiet:
            yield from map(Sentence, worth_sentences(advice))
        if not advice.recommendations:
            continue
        yield advice
        if advice.next_round is not None and not quiet:
            yield Sentence(next_round_sentence(advice.next_round), "bold")
            yield advice.next_round
    if quiet:
        yield from map(Sentence, why_sentences(advices[0].why) if advices[0].why else ())  # asked for
        return
    for sentence in footer_sentences(advices[0]):
        yield Sentence(sentence, "dim")
    if advices[0].recommendations:
        yield Sentence(hidden_sentence(advices[0], top), "dim")
