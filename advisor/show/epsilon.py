"""The document of a budget: where it comes from, and what it means."""

from __future__ import annotations

from dataclasses import asdict

from advisor.answers.epsilon import Meaning, Shuffled
from advisor.question.statement import Conversion
from advisor.show.model import Document, Records, Scalar, Sentence, Verdict
from advisor.show.sentences import meaning_sentences, shuffled_sentences


def epsilon_document(conversion: Conversion, meaning: Meaning, promise: Shuffled | None = None) -> Document:
    """Return what a budget means in sentences, behind where it comes from; shuffled reports first."""
    sentences = [*([] if promise is None else shuffled_sentences(promise)), *meaning_sentences(meaning)]
    first, *rest = [*_origin(conversion), *sentences]
    facts: dict[str, Scalar] = {"epsilon": conversion.epsilon, "epsilon_removal": conversion.removal}
    names = ("odds", "best_guess", "prior", "protocol_guess", "flip_probability")
    facts |= {name: getattr(meaning, name) for name in names}
    facts |= {} if promise is None else {"central_epsilon": promise.central, "delta": promise.delta}
    return Document(
        title=f"What ε = {conversion.epsilon:.4g} means",
        verdict=Verdict("meaning", first),
        parts=tuple(Sentence(text) for text in rest),
        data={
            "epsilon": conversion.epsilon,
            "epsilon_removal": conversion.removal,
            "formula": conversion.formula,
            "in_words": asdict(meaning),
            "shuffled": None if promise is None else asdict(promise),
            "sentences": sentences,
        },
        records=Records.of([facts]),
        value=f"{conversion.epsilon if promise is None else promise.central:.6g}",
    )


def _origin(conversion: Conversion) -> list[str]:
    """Return how a budget was converted."""
    if conversion.formula == "as given":
        return []
    lines = [f"ε = {conversion.epsilon:.4g} by replacement (the user's value against any other): {conversion.formula}."]
    if conversion.removal is not None:
        lines.append(f"ε = {conversion.removal:.4g} by removal (the user's value against {conversion.reference}).")
    return lines
