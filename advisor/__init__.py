"""Advice for people: read their data, run the simulation, say which pair to use and how sure that is.

>>> from advisor import advise
>>> advice = advise(epsilon=1, sample=["red", "red", "green", "blue"] * 2500, protocol="grr", method="Norm-Sub")
>>> advice.best.protocol, advice.best.method, round(advice.best.error, 2)
('grr', 'norm_sub', 0.03)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from advisor.answers.rank.result import Recommendation
    from advisor.api.advice import Advice, pareto
    from advisor.api.advise import advise
    from advisor.api.plan import Plan, plan
    from advisor.api.sweep import Sweep, sweep
    from advisor.errors import InputError
    from advisor.extensions.audit.audit import AuditAnswer, audit
    from advisor.extensions.rounds.memoise import memoise
    from simulator._version import __version__

__all__ = [
    "Advice",
    "AuditAnswer",
    "InputError",
    "Plan",
    "Recommendation",
    "Sweep",
    "__version__",
    "advise",
    "audit",
    "memoise",
    "pareto",
    "plan",
    "sweep",
]

_HOMES = {
    "advise": "advisor.api.advise",
    "audit": "advisor.extensions.audit.audit",
    "AuditAnswer": "advisor.extensions.audit.audit",
    "memoise": "advisor.extensions.rounds.memoise",
    "pareto": "advisor.api.advice",
    "plan": "advisor.api.plan",
    "sweep": "advisor.api.sweep",
    "Advice": "advisor.api.advice",
    "InputError": "advisor.errors",
    "Plan": "advisor.api.plan",
    "Recommendation": "advisor.answers.rank.result",
    "Sweep": "advisor.api.sweep",
    "__version__": "simulator._version",
}


def __getattr__(name: str) -> Any:
    """Import the parts when they are first asked for: ``--help`` does not wait for numpy, nor an interrupt for any."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'advisor' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, whether they are imported yet or not."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
