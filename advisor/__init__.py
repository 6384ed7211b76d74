"""Advice for people: read their data, run the simulation, say which pair to use and how sure that is.

>>> from advisor import advise
>>> advice = advise(epsilon=1, sample=["red", "red", "green", "blue"] * 2500, protocol="grr", method="Norm-Sub")
>>> advice.best.protocol, advice.best.method, round(advice.best.error, 2)
('grr', 'norm_sub', 0.03)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.errors import InputError
from simulator._version import __version__

if TYPE_CHECKING:
    from advisor.plans.answer import plan
    from advisor.plans.question import Plan
    from advisor.rank.advice import Advice, Recommendation
    from advisor.rank.pareto import pareto
    from advisor.rank.simulate import advise

__all__ = ["Advice", "InputError", "Plan", "Recommendation", "__version__", "advise", "pareto", "plan"]

_HOMES = {
    "advise": "advisor.rank.simulate",
    "pareto": "advisor.rank.pareto",
    "Advice": "advisor.rank.advice",
    "Recommendation": "advisor.rank.advice",
    "Plan": "advisor.plans.question",
    "plan": "advisor.plans.answer",
}


def __getattr__(name: str) -> Any:
    """Import the heavier parts when they are first asked for, so that ``--help`` does not wait for numpy."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'advisor' has no attribute {name!r}")
