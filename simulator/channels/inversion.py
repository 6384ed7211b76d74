"""Matrix inversion: the unbiased estimate of the frequencies behind the outputs of a channel."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.channels._base import Channel

WORST_CONDITION = 2**26.5  # times 1/sqrt(2^53), the least noise there can be: as large as all frequencies together


class SingularChannelError(ValueError):
    """The frequencies cannot be told from the outputs, or not in any number of reports that can be counted."""


@lru_cache(maxsize=8)
def decoder(channel: Channel) -> FloatArray:
    """Return the matrix ``(outputs, inputs)`` that undoes the channel: the inverse, or the pseudo-inverse.

    Raises
    ------
    SingularChannelError
        If there is none, or if it can magnify the noise in the shares of the outputs 2^26.5 times.
    """
    if channel.outputs < channel.k:
        raise SingularChannelError(
            f"channel {channel.key} has {channel.k} inputs and only {channel.outputs} outputs: "
            "its matrix has no inverse"
        )
    try:
        square = channel.outputs == channel.k
        found = np.linalg.inv(channel.matrix) if square else np.linalg.pinv(channel.matrix)
    except np.linalg.LinAlgError:
        raise SingularChannelError(f"the matrix of channel {channel.key} is singular: it has no inverse") from None
    inverse = np.asarray(found, dtype=np.float64)
    magnified = condition_of(inverse)
    wrong = float(np.abs(channel.matrix @ inverse - np.eye(channel.k)).max())
    if not (magnified <= WORST_CONDITION and wrong < 1 / channel.k):
        raise SingularChannelError(
            f"the matrix of channel {channel.key} is singular or nearly so (condition {magnified:.3g}, at most "
            f"{WORST_CONDITION:.3g} is taken): its inverse would give nothing but magnified noise; use ibu"
        )
    inverse.flags.writeable = False
    return inverse


def condition_of(inverse: FloatArray) -> float:
    """Return the condition number in the maximum norm; that of a row-stochastic matrix itself is 1."""
    return float(np.abs(inverse).sum(axis=1).max())


def invert(channel: Channel, observed: IntArray) -> FloatArray:
    """Return unbiased estimates ``(..., k)`` from counts of outputs ``(..., outputs)``; negative ones stay negative.

    Agrawal, Srikant, Thomas, "Privacy preserving OLAP", SIGMOD 2005; Kairouz, Bonawitz, Ramage, ICML 2016 (for k-RR).

    Raises
    ------
    SingularChannelError
        As `decoder`.
    """
    shares = observed / observed.sum(axis=-1, keepdims=True)
    result: FloatArray = shares @ decoder(channel)
    return result


def inverse_variance(channel: Channel, frequencies: FloatArray, n: int) -> FloatArray:
    """Return the variance ``(k,)`` of each estimate of `invert` for `n` users (frequency squared).

    Every user adds a row of the decoder; given the true value it is drawn from the row of the channel, and n_x of the
    users hold x.
    """
    weights = decoder(channel)
    mean, square = channel.matrix @ weights, channel.matrix @ weights**2
    result: FloatArray = frequencies @ (square - mean**2) / n
    return result
