"""Cards: for every member of the tables its formula, when it is a good choice, and what to look out for."""

from __future__ import annotations

from knowledge.cards.card import Card
from knowledge.cards.methods import METHOD_CARDS
from knowledge.cards.metrics import METRIC_CARDS
from knowledge.cards.protocols import PROTOCOL_CARDS

CARDS: dict[str, Card] = PROTOCOL_CARDS | METHOD_CARDS | METRIC_CARDS

__all__ = ["CARDS", "Card"]
