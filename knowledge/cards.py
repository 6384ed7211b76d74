"""Cards: formula, good uses and caveats of each member of the tables."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Card:
    """Card of a member; `cards.toml` explains the fields."""

    formula: str
    good_for: str
    pitfalls: str
    cost: str


@cache
def cards() -> dict[str, Card]:
    """Return the cards by the key of the member: protocols, methods, summaries of an estimate, and metrics."""
    stored = tomllib.loads(Path(__file__).with_name("cards.toml").read_text(encoding="utf-8"))
    return {key: Card(**fields) for key, fields in stored.items()}
