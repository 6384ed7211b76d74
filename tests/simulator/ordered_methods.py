"""What the tests of methods for ordered domains share: a truth and what was observed of it, errors, and a channel."""

import numpy as np

from simulator import METRICS
from simulator.domain import ORDERED
from simulator.methods import observe
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for


def seen(protocol, shape, n, times=6):
    """The truth, and what was observed in some collections."""
    weights = shape if isinstance(shape, np.ndarray) else frequencies(shape, protocol.k)
    counts = apportion(weights, n)
    rng = rng_for(0, "ordered methods", protocol.key, protocol.k, n, repr(protocol.epsilon))
    tally = protocol.sample_tally(np.broadcast_to(counts, (times, protocol.k)), rng)
    return counts / n, observe(protocol, tally, ORDERED)


def error(metric, estimate, truth):
    return float(METRICS[metric](estimate, truth).mean())


def channel(protocol):
    """The matrix of a protocol: what each value may become."""
    return np.stack([protocol.likelihood.forward(row) for row in np.eye(protocol.k)])
