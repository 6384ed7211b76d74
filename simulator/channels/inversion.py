"""Matrix inversion: the unbiased estimate of the frequencies behind the outputs of a channel."""

from __future__ import annotations

from simulator._types import FloatArray, IntArray
from simulator.channels.channel import Channel


def invert(channel: Channel, observed: IntArray) -> FloatArray:
    """Return unbiased estimates ``(..., k)`` from counts of outputs ``(..., outputs)``; negative ones stay negative.

    Agrawal, Srikant, Thomas, "Privacy preserving OLAP", SIGMOD 2005; Kairouz, Bonawitz, Ramage, ICML 2016 (for k-RR).

    Raises SingularChannelError as `Channel.decoder`.
    """
    shares = observed / observed.sum(axis=-1, keepdims=True)
    result: FloatArray = shares @ channel.decoder
    return result
