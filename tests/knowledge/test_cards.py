from __future__ import annotations

from typing import Any

from knowledge.cards import cards
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.methods.summaries import SUMMARIES
from tests.cells import failures


def own(key: str, member: Any) -> bool:
    """Whether a member is this package's: those that entry points bring in have no card here."""
    maker = member if isinstance(member, type) else member.function
    return key in cards() or str(maker.__module__).partition(".")[0] == "simulator"


OWN = [key for table in (PROTOCOLS, POSTPROCESSORS, METRICS) for key, member in table.items() if own(key, member)]


def test_every_member_has_a_card_and_every_card_a_member() -> None:
    assert len(OWN) == len(set(OWN))  # explain NAME must be unambiguous
    assert set(cards()) == {*OWN, *SUMMARIES}


def test_cards_are_filled_in() -> None:
    def check(name: str) -> None:
        card = cards()[name]
        for text in (card.formula, card.good_for, card.pitfalls):
            assert text.endswith(".")
            assert "  " not in text
        assert card.cost  # a phrase for a table: no full stop
        assert not card.cost.endswith(".")
        assert len(card.cost) <= 60

    assert failures([*OWN, *SUMMARIES], check) == {}
