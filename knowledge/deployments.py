"""Known deployments of local differential privacy: the ε they state, and what it is for.

A budget means little without its unit. Most of these are for one report, of one event or one day, and add up over what
a user sends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Deployment:
    """One deployment."""

    name: str  # who collects what
    epsilon: float  # the stated budget of one unit
    unit: str  # what the budget is spent on: the unit of privacy
    categories: str  # size of the domain, or how large it gets; empty where none is stated
    source: str  # where that is stated


APPLE = "Apple, Learning with Privacy at Scale, 2017"
FUCHSIA = "Fuchsia, Cobalt"
PRIVACY_SANDBOX = "Privacy Sandbox explainers"

DEPLOYMENTS = (
    Deployment("Windows telemetry", 1.67, "six hours of use", "1 bit", "Ding, Kulkarni, Yekhanin, NeurIPS 2017"),
    Deployment("Apple Health types", 2.0, "event", "", APPLE),
    Deployment("Fuchsia Cobalt, low", 2.2, "report", "about 100", FUCHSIA),
    Deployment("Apple emoji", 4.0, "event", "2,600", APPLE),
    Deployment("Apple Safari domains", 4.0, "event", "250,000", APPLE),
    Deployment("Chrome RAPPOR", 4.4, "value, for the client's life", "8 to 128 bits", "Erlingsson et al., CCS 2014"),
    Deployment("Fuchsia Cobalt, medium", 4.4, "report", "about 100", FUCHSIA),
    Deployment("Protected Audience, least", 7.4, "report", "16 to 4,096", PRIVACY_SANDBOX),
    Deployment("Chrome Topics", 9.1, "topic of a week", "469", PRIVACY_SANDBOX),
    Deployment("Fuchsia Cobalt, high", 9.2, "report", "about 100", FUCHSIA),
    Deployment("Protected Audience, most", 12.9, "report", "16 to 4,096", PRIVACY_SANDBOX),
    Deployment("Chrome attribution reporting", 14.0, "click or view", "3 or 2,925", PRIVACY_SANDBOX),
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
