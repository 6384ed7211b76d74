from __future__ import annotations

from knowledge.cards import cards
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.channels import PLANAR
from simulator.methods.processor import SUMMARIES
from tests.cells import over
from tests.knowledge.conftest import own_names

OWN = [*(name for table in (PROTOCOLS, POSTPROCESSORS, METRICS) for name in own_names(table)), *PLANAR]


def test_every_member_has_a_card_and_every_card_a_member() -> None:
    assert len(OWN) == len(set(OWN))  # explain NAME must be unambiguous
    assert set(cards()) == {*OWN, *SUMMARIES}


@over([*OWN, *SUMMARIES])
def test_cards_are_filled_in(name) -> None:
    card = cards()[name]
    for text in (card.formula, card.good_for, card.pitfalls):
        assert text.endswith(".")
        assert "  " not in text
    assert card.cost  # a phrase for a table: no full stop
    assert not card.cost.endswith(".")
    assert len(card.cost) <= 60
