"""Which protocol and which post-processing method to use under local differential privacy, and how sure that is.

A collection to come
    advise(1.0, k=256, n=100_000)                       rank pairs; with sample=series, for data like these
    plan(target=0.05, eps=1.0, k=64, instant=True)      how many users, or which ε
    choose(n=2000, k=18, within=1.0)                    whether to collect, without a word of ε
    sweep(eps=[0.5, 1], n=10_000, k=16, method="none")  all pairs in all cells of a grid
    pareto(advise(1.0, k=64))                           error against attack and size of a report
    memoise(1.0, epsilon_forever=2, rounds=30, k=16)    devices that remember
    places("visits.csv", 1.0)                           places on a map
A collection that is over
    estimate([0.5, 0.3, 0.25, -0.05], "oue", eps=1.0, n=20_000)
    reports(["yes", "no", "no"] * 500, "grr", eps=1.0)
    audit(1.0, k=10, protocol="grr")                    attack reports: a bound of their privacy loss

All answers: print(), .summary, .to_frame(), .to_json(), .plot(), .report("page.html").
Settings in groups (Limits, Simulation, Cleaning, Threat, Cells, AttackSettings, …): see help(advise), help(audit).
Members: simulator.PROTOCOLS, POSTPROCESSORS, METRICS; your own: simulator.register.

>>> from advisor import advise
>>> advice = advise(1, sample=["red", "red", "green", "blue"] * 2500, protocol="grr", method="Norm-Sub")
>>> advice.best.protocol, advice.best.method, round(advice.best.error, 2)
('grr', 'norm_sub', 0.03)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from advisor.answers.rank.result import Recommendation as Recommendation
    from advisor.api.advice import Advice as Advice
    from advisor.api.advice import advise as advise
    from advisor.api.advice import pareto as pareto
    from advisor.api.collected import estimate as estimate
    from advisor.api.collected import reports as reports
    from advisor.api.plan import Plan as Plan
    from advisor.api.plan import plan as plan
    from advisor.api.sweep import Sweep as Sweep
    from advisor.api.sweep import sweep as sweep
    from advisor.errors import InputError as InputError
    from advisor.extensions.audit.command import AuditAnswer as AuditAnswer
    from advisor.extensions.audit.command import audit as audit
    from advisor.extensions.audit.question import AttackSettings as AttackSettings
    from advisor.extensions.audit.question import ForeignClient as ForeignClient
    from advisor.extensions.audit.question import Subjects as Subjects
    from advisor.extensions.choose.command import ChoiceAnswer as ChoiceAnswer
    from advisor.extensions.choose.command import choose as choose
    from advisor.extensions.places.command import PlacesAnswer as PlacesAnswer
    from advisor.extensions.places.command import places as places
    from advisor.extensions.rounds.command import MemoiseAnswer as MemoiseAnswer
    from advisor.extensions.rounds.command import memoise as memoise
    from advisor.question.central import CentralPromise as CentralPromise
    from advisor.question.cleaning import Cleaning as Cleaning
    from advisor.question.cluster import Cluster as Cluster
    from advisor.question.collected_request import Collection as Collection
    from advisor.question.collected_request import ReportFormat as ReportFormat
    from advisor.question.settings import Cells as Cells
    from advisor.question.settings import Limits as Limits
    from advisor.question.settings import Memoisation as Memoisation
    from advisor.question.settings import Plurality as Plurality
    from advisor.question.settings import Shape as Shape
    from advisor.question.settings import Simulation as Simulation
    from advisor.question.settings import Threat as Threat
    from simulator._version import __version__ as __version__

# Without __all__, which would have help() print every class in full.
_NAMES = {
    "advisor.answers.rank.result": ("Recommendation",),
    "advisor.api.advice": ("Advice", "advise", "pareto"),
    "advisor.api.collected": ("estimate", "reports"),
    "advisor.api.plan": ("Plan", "plan"),
    "advisor.api.sweep": ("Sweep", "sweep"),
    "advisor.errors": ("InputError",),
    "advisor.extensions.audit.command": ("AuditAnswer", "audit"),
    "advisor.extensions.audit.question": ("AttackSettings", "ForeignClient", "Subjects"),
    "advisor.extensions.choose.command": ("ChoiceAnswer", "choose"),
    "advisor.extensions.places.command": ("PlacesAnswer", "places"),
    "advisor.extensions.rounds.command": ("MemoiseAnswer", "memoise"),
    "advisor.question.central": ("CentralPromise",),
    "advisor.question.cleaning": ("Cleaning",),
    "advisor.question.cluster": ("Cluster",),
    "advisor.question.collected_request": ("Collection", "ReportFormat"),
    "advisor.question.settings": ("Cells", "Limits", "Memoisation", "Plurality", "Shape", "Simulation", "Threat"),
    "simulator._version": ("__version__",),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}
_GROUPS = {name for name, home in _HOMES.items() if ".question" in home}


def __getattr__(name: str) -> Any:
    """Import the parts when they are first asked for: ``--help`` does not wait for numpy, nor an interrupt for any."""
    if name in _HOMES:
        from importlib import import_module

        from advisor.api.keywords import python_group

        value = getattr(import_module(_HOMES[name]), name)
        return python_group(value) if name in _GROUPS else value
    raise AttributeError(f"module 'advisor' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, whether they are imported yet or not."""
    return sorted({*_HOMES, *(name for name in globals() if name.startswith("__"))})
