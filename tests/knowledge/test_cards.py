from __future__ import annotations

import dataclasses

from knowledge.cards import CARDS
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS


def test_every_member_has_a_card_and_every_card_a_member() -> None:
    members = [*PROTOCOLS, *POSTPROCESSORS, *METRICS]
    assert len(members) == len(set(members))  # explain NAME must be unambiguous
    assert set(CARDS) == set(members)


def test_cards_are_filled_in() -> None:
    for name, card in CARDS.items():
        for text in dataclasses.astuple(card):
            assert text.endswith("."), name
