"""The family of protocols given by a matrix, their leakage, and their estimators."""

from __future__ import annotations

from simulator.channels.channel import FixedChannel, SingularChannelError
from simulator.channels.leakage import MOST_MEASURED, epsilon_per_unit, epsilon_within, finite_precision
from simulator.channels.mechanisms import PLANAR, cloaking, krr, optimal, planar_geometric, planar_laplace
from simulator.methods.maximum_likelihood import Update

__all__ = [
    "MOST_MEASURED",
    "PLANAR",
    "FixedChannel",
    "SingularChannelError",
    "Update",
    "cloaking",
    "epsilon_per_unit",
    "epsilon_within",
    "finite_precision",
    "krr",
    "optimal",
    "planar_geometric",
    "planar_laplace",
]
