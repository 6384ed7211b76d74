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
    from advisor.answer import advise
    from advisor.frontier import pareto
    from advisor.plan_question import Plan
    from advisor.planning import plan
    from advisor.result import Advice, Recommendation

__all__ = ["Advice", "InputError", "Plan", "Recommendation", "__version__", "advise", "pareto", "plan"]

_HOMES = {
    "advise": "advisor.answer",
    "pareto": "advisor.frontier",
    "Advice": "advisor.result",
    "Recommendation": "advisor.result",
    "Plan": "advisor.plan_question",
    "plan": "advisor.planning",
}


def __getattr__(name: str) -> Any:
    """Import the heavier parts when they are first asked for, so that ``--help`` does not wait for numpy."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'advisor' has no attribute {name!r}")
