"""Cards: for every member of the tables its formula, when it is a good choice, and what to look out for."""

from __future__ import annotations

from dataclasses import replace

from knowledge.cards.card import Card
from knowledge.cards.methods import METHOD_CARDS
from knowledge.cards.metrics import METRIC_CARDS
from knowledge.cards.protocols import PROTOCOL_CARDS
from simulator.methods.blend import parts_of, shares_text

CARDS: dict[str, Card] = PROTOCOL_CARDS | METHOD_CARDS | METRIC_CARDS

_BLEND = Card(
    "f̃ = {}: the weighted mean of what these methods make of the same estimate.",
    "An estimate behind which several shapes may be: where each method may turn out the best, a blend errs less than "
    "the mean of their errors, and often less than any of them.",
    "It keeps only what all of its methods keep. Where one of them is nearly exact, as on even frequencies, any blend "
    "is worse.",
    "that of its methods, one after the other",
)


def card_of(key: str) -> Card | None:
    """Return the card of a member, or of a blend of methods; None for members of other packages."""
    if parts := parts_of(key):
        return replace(_BLEND, formula=_BLEND.formula.format(shares_text(parts)))
    return CARDS.get(key)


__all__ = ["CARDS", "Card", "card_of"]
