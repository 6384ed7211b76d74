"""Known deployments of local differential privacy: the ε they state, and what it is for.

A budget means little without its unit. Most of these are for one report, of one event or one day, and add up over what
a user sends.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass


@dataclass(frozen=True)
class Deployment:
    """One deployment."""

    name: str  # who collects what
    _: KW_ONLY
    epsilon: float  # the stated budget of one unit
    unit: str  # what the budget is spent on: the unit of privacy
    categories: str  # size of the domain, or how large it gets; empty where none is stated
    source: str  # where that is stated


APPLE = "Apple, Learning with Privacy at Scale, 2017"
FUCHSIA = "Fuchsia, Cobalt"
PRIVACY_SANDBOX = "Privacy Sandbox explainers"

DEPLOYMENTS = (
    Deployment(
        "Windows telemetry",
        epsilon=1.67,
        unit="six hours of use",
        categories="1 bit",
        source="Ding, Kulkarni, Yekhanin, NeurIPS 2017",
    ),
    Deployment("Apple Health types", epsilon=2.0, unit="event", categories="", source=APPLE),
    Deployment("Fuchsia Cobalt, low", epsilon=2.2, unit="report", categories="about 100", source=FUCHSIA),
    Deployment("Apple emoji", epsilon=4.0, unit="event", categories="2,600", source=APPLE),
    Deployment("Apple Safari domains", epsilon=4.0, unit="event", categories="250,000", source=APPLE),
    Deployment(
        "Chrome RAPPOR",
        epsilon=4.4,
        unit="value, for the client's life",
        categories="8 to 128 bits",
        source="Erlingsson et al., CCS 2014",
    ),
    Deployment("Fuchsia Cobalt, medium", epsilon=4.4, unit="report", categories="about 100", source=FUCHSIA),
    Deployment(
        "Protected Audience, least", epsilon=7.4, unit="report", categories="16 to 4,096", source=PRIVACY_SANDBOX
    ),
    Deployment("Chrome Topics", epsilon=9.1, unit="topic of a week", categories="469", source=PRIVACY_SANDBOX),
    Deployment("Fuchsia Cobalt, high", epsilon=9.2, unit="report", categories="about 100", source=FUCHSIA),
    Deployment(
        "Protected Audience, most", epsilon=12.9, unit="report", categories="16 to 4,096", source=PRIVACY_SANDBOX
    ),
    Deployment(
        "Chrome attribution reporting",
        epsilon=14.0,
        unit="click or view",
        categories="3 or 2,925",
        source=PRIVACY_SANDBOX,
    ),
)


def nearest(epsilon: float, count: int = 2) -> tuple[Deployment, ...]:
    """Return the deployments whose ε is nearest by ratio, nearest first; equally near ones in the order of the list.

    Raises ValueError if epsilon is not above 0.

    >>> [deployment.name for deployment in nearest(1.0)]
    ['Windows telemetry', 'Apple Health types']
    """
    if not epsilon > 0:
        raise ValueError(f"epsilon must be above 0, got {epsilon:g}")
    return tuple(sorted(DEPLOYMENTS, key=lambda one: abs(math.log(one.epsilon / epsilon)))[:count])
