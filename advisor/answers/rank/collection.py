"""The frequencies of a collection: true, raw estimate, and post-processed by the recommended method."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from advisor.answers.rank.apply import collected_frequencies, frequency_interval
from advisor.answers.rank.result import Ranking
from simulator import POSTPROCESSORS
from simulator._types import FloatArray
from simulator.methods import observe
from simulator.poisoning import NOBODY, Attack
from simulator.seeding import rng_for


class OneCollection(NamedTuple):
    """Frequencies ``(k,)``."""

    truth: FloatArray  # true, or the mean of the populations that stand for the truth
    answer: FloatArray  # post-processed as advised
    # raw, low, high: raw estimate, and the 95 % interval of the true frequency that follows from it; None without one
    raw: FloatArray | None
    low: FloatArray | None
    high: FloatArray | None

    def at(self, places: NDArray[np.intp]) -> OneCollection:
        """Return the frequencies of some categories."""
        known = (None if column is None else column[places] for column in (self.raw, self.low, self.high))
        return OneCollection(self.truth[places], self.answer[places], *known)


def one_collection(advice: Ranking, repetition: int = 0) -> OneCollection:
    """Return what was collected; or of a sample, one repetition of the simulation with the best pair, without fakes."""
    request, method = advice.request, POSTPROCESSORS[advice.best.method]
    truth = request.counts / request.counts.sum()
    if request.collected is not None:
        observed = request.collected.observed
        raw = observed.estimate
        answer = raw if method.queries_only and raw is not None else collected_frequencies(advice)
    else:
        protocol = request.oracle(advice.best.protocol)
        rng = rng_for(request.seed, "collect", advice.best.protocol, repetition)
        attack = None if request.threat is None else Attack(NOBODY, request.threat, request.promoted)
        calm = None if attack is None else attack.collect(protocol, request.counts, rng, rng)
        tally = protocol.sample_tally(request.counts, rng) if calm is None else calm.tally
        observed = observe(protocol, tally, request.domain, suspects=None if calm is None else calm.suspects)
        raw, answer = observed.estimate, method.apply(observed)
    if raw is None or observed.covariance is None:
        return OneCollection(truth, answer, raw, None, None)
    return OneCollection(truth, answer, raw, *frequency_interval(raw, observed.covariance))
