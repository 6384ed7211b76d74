"""Known deployments of local differential privacy, and which protocols run in products; `deployments.toml` has them."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class KnownDeployment:
    """A deployment."""

    name: str  # collector and data
    epsilon: float  # the stated budget per unit
    unit: str  # the unit of privacy
    categories: str  # size of the domain, or how large it gets; empty where none is stated
    source: str  # where that is stated


_STORED = tomllib.loads(Path(__file__).with_name("deployments.toml").read_text(encoding="utf-8"))
DEPLOYMENTS = tuple(KnownDeployment(**fields) for fields in _STORED["deployments"])  # by rising ε
# Protocols used in products, with their collectors; the option ``--deployable`` keeps these.
DEPLOYED: dict[str, str] = {
    protocol: one["who"] for one in _STORED["implementations"] if one["product"] for protocol in one["protocols"]
}


def nearest(epsilon: float, count: int = 2) -> tuple[KnownDeployment, ...]:
    """Return the deployments whose ε is nearest by ratio, nearest first; equally near ones in the order of the list.

    Raises ValueError if epsilon is not above 0.

    >>> [deployment.name for deployment in nearest(1.0)]
    ['Windows telemetry', 'Apple Health types']
    """
    if not epsilon > 0:
        raise ValueError(f"epsilon must be above 0, got {epsilon:g}")
    return tuple(sorted(DEPLOYMENTS, key=lambda deployment: abs(math.log(deployment.epsilon / epsilon)))[:count])
