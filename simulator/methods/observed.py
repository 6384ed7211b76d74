"""All that a method may see of a collection."""

from __future__ import annotations

import math
from dataclasses import dataclass

from simulator._types import FloatArray, IntArray
from simulator.domain import UNORDERED, Domain
from simulator.protocols.oracle import Noise
from simulator.protocols.protocol import NEEDS, Covariance, Likelihood, Protocol, Tally

LIKELIHOODS = frozenset({"likelihood", "local_likelihood"})


@dataclass(frozen=True, eq=False)
class Suspects:
    """Reports that support all values of a set: few honest reports do, and all fakes that promote the whole set.

    Attributes
    ----------
    values
        The set, ``(r,)``.
    users
        How many reports do, ``(...,)``.
    counts
        How many of those support each value, ``(..., k)``.
    """

    values: IntArray
    users: IntArray
    counts: IntArray


@dataclass(frozen=True, eq=False)
class Observed:
    """Collected estimate or tally, and its known noise; never the truth.

    Attributes
    ----------
    estimate
        Unbiased frequency estimates ``(..., k)``, where the protocol has them.
    covariance
        Of the estimate.
    tally, likelihood
        The sufficient statistic, and how likely it is under given frequencies.
    domain
        Order and layout of the categories.
    suspects
        The reports that support all values of a set that stands out, where reports were searched for one.
    """

    estimate: FloatArray | None
    covariance: Covariance | None
    tally: Tally | None = None
    likelihood: Likelihood | None = None
    domain: Domain = UNORDERED
    suspects: Suspects | None = None

    @property
    def provides(self) -> frozenset[str]:
        """The members of `NEEDS` that are there for methods."""
        offered = frozenset[str]()
        if self.tally is not None and self.suspects is not None:
            offered |= {"suspects"}
        if self.tally is not None and self.likelihood is not None:
            offered |= self.likelihood.provides
        if self.estimate is not None and self.covariance is not None:
            offered |= self.covariance.provides(self.estimate.shape[-1])
        return offered

    @property
    def raw(self) -> FloatArray:
        """The estimate; raises ValueError where there is none."""
        if self.estimate is None:
            raise ValueError("the method needs an estimate, and there is none")
        return self.estimate

    @property
    def noise(self) -> Noise:
        """The noise of an estimate whose entries are alike; where they are not, all its figures are NaN."""
        if isinstance(self.covariance, Noise):
            return self.covariance
        return Noise(0 if self.tally is None else self.tally.n, None, None, math.nan, math.nan, sums_to_one=False)


def observe(
    protocol: Protocol,
    tally: Tally,
    domain: Domain = UNORDERED,
    *,
    needs: frozenset[str] = frozenset(NEEDS),
    suspects: Suspects | None = None,
) -> Observed:
    """Return the view of a tally for methods; parts that no method `needs` are not computed."""
    linear = protocol.linear if needs - LIKELIHOODS or not protocol.offers("likelihood") else None
    return Observed(
        None if linear is None else linear.estimate(tally),
        None if linear is None else linear.covariance(tally.n),
        tally,
        protocol.likelihood if needs & LIKELIHOODS else None,
        domain,
        suspects,
    )
