"""Cards: for every member of the tables its formula, when it is a good choice, and what to look out for."""

from __future__ import annotations

from dataclasses import replace

from knowledge.cards.card import Card
from knowledge.cards.methods import METHOD_CARDS
from knowledge.cards.metrics import METRIC_CARDS
from knowledge.cards.protocols import PROTOCOL_CARDS
from simulator.methods.blend import POSTERIOR_MEDIAN, UNIFORM, parts_of, shares_text

CARDS: dict[str, Card] = PROTOCOL_CARDS | METHOD_CARDS | METRIC_CARDS

_BLEND = Card(
    formula="f̃ = {}: the weighted mean of what these methods make of the same estimate.",
    good_for="An estimate behind which several shapes may be: where each method may turn out the best, a blend errs "
    "less than the mean of their errors, and often less than any of them.",
    pitfalls="It keeps only what all of its methods keep. Where one of them is nearly exact, any blend is worse.",
    cost="that of its methods, one after the other",
)

_UNIFORM = Card(
    formula="f̃ = 1/k for every category, whatever was collected.",
    good_for="A part of blends: where the noise hides the shape, an estimate that leans on the uniform guess errs "
    "less. Its share is taken off the noise.",
    pitfalls="It is not compared alone: every table has its error below, as the uniform guess.",
    cost="nothing",
)

_POSTERIOR_MEDIAN = Card(
    formula="f̃ = median of f₁ … f_m, divided by the sum: of populations drawn from what the estimate says, by "
    "models whose shares follow their likelihoods.",
    good_for="An estimate behind which several shapes may be: estimate and reports list it where it errs less than "
    "every method and every blend.",
    pitfalls="It takes a tenth of a second to a few seconds, and is not simulated: its error on each population is "
    "that of the median of the others. For sums of categories and the few largest all else must err a fifth more; "
    "without an order it is not for the few largest.",
    cost="that of drawing the populations",
)

_UNLISTED = {UNIFORM: _UNIFORM, POSTERIOR_MEDIAN: _POSTERIOR_MEDIAN}


def card_of(key: str) -> Card | None:
    """Return the card of a member, of a blend of methods and what is in it, or of the posterior median; else None."""
    if key in _UNLISTED:
        return _UNLISTED[key]
    if parts := parts_of(key):
        return replace(_BLEND, formula=_BLEND.formula.format(shares_text(parts)))
    return CARDS.get(key)


__all__ = ["CARDS", "Card", "card_of"]
