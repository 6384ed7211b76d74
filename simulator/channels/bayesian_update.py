"""Iterative Bayesian update (IBU) of the outputs of a channel."""

from __future__ import annotations

from simulator._types import IntArray
from simulator.channels.channel import Channel
from simulator.methods.maximum_likelihood import MOST_UPDATES, TOLERANCE, Update, maximum

__all__ = ["Update", "ibu"]


def ibu(
    channel: Channel,
    observed: IntArray,
    *,
    accelerate: bool = True,
    tolerance: float = TOLERANCE,
    most_updates: int = MOST_UPDATES,
    closed: bool = True,
) -> Update:
    """Maximise the likelihood of the counts of outputs ``(outputs,)`` over the simplex, from equal frequencies.

    Parameters and errors as for `simulator.methods.maximum_likelihood.maximum`.
    """
    return maximum(
        channel.likelihood,
        observed,
        accelerate=accelerate,
        tolerance=tolerance,
        most_updates=most_updates,
        closed=closed,
    )
