"""Cards: for every member of the tables its formula, when it is a good choice, and what to look out for."""

from __future__ import annotations

from dataclasses import replace

from knowledge.cards.card import Card
from knowledge.cards.methods import METHOD_CARDS
from knowledge.cards.metrics import METRIC_CARDS
from knowledge.cards.protocols import PROTOCOL_CARDS
from simulator.methods.blend import POSTERIOR_MEDIAN, parts_of, shares_text

CARDS: dict[str, Card] = PROTOCOL_CARDS | METHOD_CARDS | METRIC_CARDS

_BLEND = Card(
    "f̃ = {}: the weighted mean of what these methods make of the same estimate.",
    "An estimate behind which several shapes may be: where each method may turn out the best, a blend errs less than "
    "the mean of their errors, and often less than any of them.",
    "It keeps only what all of its methods keep. Where one of them is nearly exact, as on even frequencies, any blend "
    "is worse.",
    "that of its methods, one after the other",
)


_POSTERIOR_MEDIAN = Card(
    "f̃ = median of f₁ … f_m, divided by the sum: of populations drawn from what the estimate says, by models whose "
    "shares follow their likelihoods.",
    "An estimate behind which several shapes may be, and metrics that add up single categories: estimate and reports "
    "list it where it errs less than every method and every blend.",
    "It takes a tenth of a second to a few seconds, and is not simulated: its error on each population is that of the "
    "median of the others. It is not for sums of categories, nor for the few largest.",
    "that of drawing the populations",
)


def card_of(key: str) -> Card | None:
    """Return the card of a member, of a blend of methods or of the posterior median; None for others."""
    if key == POSTERIOR_MEDIAN:
        return _POSTERIOR_MEDIAN
    if parts := parts_of(key):
        return replace(_BLEND, formula=_BLEND.formula.format(shares_text(parts)))
    return CARDS.get(key)


__all__ = ["CARDS", "Card", "card_of"]
