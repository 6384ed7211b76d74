"""From errors of repetitions to tiers: paired ratios, their intervals, ties called ties."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np

from simulator._types import FloatArray

Pair: TypeAlias = tuple[str, str]

PRACTICAL_RATIO = 1.05  # a disadvantage below this is no reason to prefer one pair to another
CONFIDENCE = 0.95
SAME = 1e-9  # relative difference up to which two errors are the same but for rounding


class Ratio(NamedTuple):
    """Ratio of two mean errors and its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def is_tie(self) -> bool:
        """Whether the interval includes 1, or the ratio is under 1.05."""
        return self.low <= 1 or self.value < PRACTICAL_RATIO

    @property
    def is_open(self) -> bool:
        """Whether the interval includes both 1 and a 5 % disadvantage, so that repetitions could still tell."""
        return self.low <= 1 and self.high > PRACTICAL_RATIO


class Verdict(NamedTuple):
    """Who is still in the race for the top tier (a 5 % disadvantage is not proven), and who is still undecided."""

    racing: frozenset[Pair]
    open: frozenset[Pair]


class Standing(NamedTuple):
    """One pair in a ranking."""

    pair: Pair  # (protocol, method)
    # rank, tier: competition rank (a tier of three at the top: 1, 1, 1, then 4) and number of the tier, from 1
    rank: int
    tier: int
    tied: bool  # whether others share the rank
    repetitions: int  # repetitions behind the figures
    # error, low, high: mean error and its 95 % t interval
    error: float
    low: float
    high: float
    # standard_error, spread: standard error of the mean, and standard deviation from run to run
    standard_error: float
    spread: float
    ratio: Ratio  # mean error over that of the pair with the lowest, paired repetition by repetition
    # Share of all repetitions in which the pair had the lowest error; pairs that had dropped out do not win
    win_share: float


@lru_cache(maxsize=512)
def t_quantile(repetitions: int) -> float:
    """Return the two-sided 95 % quantile of Student's t for the mean of so many repetitions."""
    from scipy.special import stdtrit  # imported when used: advice without simulation needs no scipy

    return float(stdtrit(repetitions - 1, (1 + CONFIDENCE) / 2))


def paired_ratio(errors: FloatArray, reference: FloatArray, root: int = 1) -> Ratio:
    """Return mean(errors) / mean(reference) over the repetitions both have, with a 95 % delta-method interval.

    What are roots of errors, gives a ratio of errors: the power `root` of theirs.

    The standard error is that of ``errors - ratio * reference``, so noise that the two share cancels. Where the
    reference has no error at all, the ratio is 1 if neither has the other, and infinite otherwise.
    """
    size = min(len(errors), len(reference))
    a, b = errors[:size], reference[:size]
    base = float(b.mean())
    if base == 0.0:
        value = 1.0 if float(a.mean()) == 0.0 else math.inf
        return Ratio(value, value, value)
    value = float(a.mean()) / base
    reach = t_quantile(size) * float((a - value * b).std(ddof=1)) / math.sqrt(size) / base
    return Ratio(value**root, max(0.0, value - reach) ** root, (value + reach) ** root)


def contenders(errors: Mapping[Pair, FloatArray], root: int = 1) -> Verdict:
    """Say which pairs may still belong to the top tier, and for which of them repetitions could still tell."""
    leader = min(errors, key=lambda pair: float(errors[pair].mean()))
    ratios = {pair: paired_ratio(block, errors[leader], root) for pair, block in errors.items()}
    return Verdict(
        frozenset(pair for pair, ratio in ratios.items() if ratio.low <= PRACTICAL_RATIO),
        frozenset(pair for pair, ratio in ratios.items() if ratio.is_open),
    )


def rank(errors: Mapping[Pair, FloatArray], cost: Mapping[str, float], root: int = 1) -> tuple[Standing, ...]:
    """Rank pairs by mean error in tiers that the data can tell apart.

    A tier is led by the lowest error left, and takes in all pairs whose paired 95 % interval against the leader
    includes 1 or whose ratio is under 1.05. A pair also joins when a less accurate method of its own protocol does:
    for one protocol the lower error always comes first. Inside a tier the cheaper report comes first, then the lower
    error.

    errors: for each pair ``(repetitions,)`` errors of one metric, at least two.
    cost: report size by protocol, in bits.
    root: of which root of errors `errors` are; ratios are of the errors themselves.
    """
    means = {pair: float(block.mean()) for pair, block in errors.items()}
    left = sorted(errors, key=lambda pair: means[pair])
    best, wins = left[0], win_shares(errors)
    standings: list[Standing] = []
    tier = 0
    while left:
        tier += 1
        tied = {pair for pair in left if paired_ratio(errors[pair], errors[left[0]], root).is_tie}
        last = {protocol: place for place, (protocol, method) in enumerate(left) if (protocol, method) in tied}
        members = [pair for place, pair in enumerate(left) if place <= last.get(pair[0], -1)]
        members.sort(key=lambda pair: (cost[pair[0]], means[pair]))
        place = len(standings) + 1
        for pair in members:
            block = errors[pair]
            spread = float(block.std(ddof=1))
            standard_error = spread / math.sqrt(len(block))
            reach = t_quantile(len(block)) * standard_error
            standings.append(
                Standing(
                    pair=pair,
                    rank=place,
                    tier=tier,
                    tied=len(members) > 1,
                    repetitions=len(block),
                    error=means[pair],
                    low=max(0.0, means[pair] - reach),
                    high=means[pair] + reach,
                    standard_error=standard_error,
                    spread=spread,
                    ratio=paired_ratio(block, errors[best], root),
                    win_share=wins[pair],
                )
            )
        left = [pair for pair in left if pair not in set(members)]
    return tuple(standings)


def win_shares(errors: Mapping[Pair, FloatArray]) -> dict[Pair, float]:
    """Return the share of repetitions that each pair won; pairs that differ by rounding only split the win."""
    longest = max(len(block) for block in errors.values())
    table = np.full((len(errors), longest), np.inf)
    for row, block in zip(table, errors.values(), strict=True):
        row[: len(block)] = block
    lowest = table.min(axis=0)
    won = table <= lowest + SAME * np.abs(lowest)
    shares = (won / won.sum(axis=0)).mean(axis=1)
    return {pair: float(share) for pair, share in zip(errors, shares, strict=True)}
