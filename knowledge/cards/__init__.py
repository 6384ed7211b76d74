"""Cards: for every member of the tables its formula, when it is a good choice, and what to look out for."""

from __future__ import annotations

from knowledge.cards.card import Card
from knowledge.cards.methods import METHOD_CARDS
from knowledge.cards.metrics import METRIC_CARDS
from knowledge.cards.protocols import PROTOCOL_CARDS
from simulator.methods.summaries import POSTERIOR_MEAN, POSTERIOR_MEDIAN

CARDS: dict[str, Card] = PROTOCOL_CARDS | METHOD_CARDS | METRIC_CARDS

_DRAWN = "of f₁ … f_m: frequencies drawn from all that may be behind the estimate, by how likely each is."
_UNLISTED = {
    POSTERIOR_MEAN: Card(
        formula=f"f̃ = mean {_DRAWN}",
        good_for="An estimate that is there, under l2, kl and what is like them: no other result has less expected "
        "error. estimate and reports list it beside the methods.",
        pitfalls="It has a little of every shape that may be there. It takes a hundredth of a second to a few seconds.",
        cost="that of drawing the frequencies",
    ),
    POSTERIOR_MEDIAN: Card(
        formula=f"f̃ = median {_DRAWN} It is divided by its sum.",
        good_for="An estimate that is there, under l1: it has what most of the shapes have that may be there. "
        "estimate and reports list it beside the methods.",
        pitfalls="Rare categories that may be next to nothing come out as nothing. It takes a hundredth of a second "
        "to a few seconds.",
        cost="that of drawing the frequencies",
    ),
}


def card_of(key: str) -> Card | None:
    """Return the card of a member, or of a summary of what may be behind an estimate; else None."""
    return _UNLISTED.get(key) or CARDS.get(key)


__all__ = ["CARDS", "Card", "card_of"]
