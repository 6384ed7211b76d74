"""Bias and variance of each category under one pair, by repeating its simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from advisor.answers.rank.simulate import experiment_of, simulated_answer
from advisor.errors import InputError
from advisor.question.constraints import fitting_pairs
from advisor.question.request import Request, nothing_left_sentence
from simulator._types import FloatArray, IntArray
from simulator.benchmark import CHUNK_CELLS, deviations
from simulator.ranking import CONFIDENCE, Pair, t_quantile

ALONE = 24  # categories that have a row each; of more, blocks of ranks that double


class Block(NamedTuple):
    """Categories of neighbouring ranks, and the means over them."""

    first: int  # rank of the first, from 1
    last: int
    frequency: float
    bias: float
    standard_error: float  # of the bias
    variance: float


@dataclass(frozen=True, eq=False)
class BiasAnswer:
    """Bias and variance of the estimates of a pair, ``(k,)`` each, the most frequent category first.

    Where the truth is another in each repetition, they are of the deviation from it.
    """

    request: Request
    pair: Pair
    repetitions: int
    order: IntArray = field(repr=False)  # places of the categories
    truth: FloatArray = field(repr=False)
    bias: FloatArray = field(repr=False)
    standard_error: FloatArray = field(repr=False)
    variance: FloatArray = field(repr=False)
    blocks: tuple[Block, ...]

    @property
    def biased(self) -> int:
        """Number of categories whose bias is told from 0, at 5 % for all of them together."""
        quantile = t_quantile(self.repetitions, 1 - (1 - CONFIDENCE) / self.request.k)
        return int((np.abs(self.bias) > quantile * self.standard_error).sum())

    @property
    def half_width(self) -> float:
        """Half the width of a 95 % interval, in standard errors."""
        return t_quantile(self.repetitions)

    @property
    def bias_share(self) -> float:
        """Share of the mean squared error that is squared bias; what the repetitions leave open is taken off."""
        squared = max(float((self.bias**2 - self.standard_error**2).sum()), 0.0)
        total = squared + float(self.variance.sum())
        return squared / total if total else 0.0


def bias_of(request: Request, *, jobs: int | None = None, progress: Callable[[int, int], None]) -> BiasAnswer:
    """Return bias and variance under the pair that a request names, or else under the one that it recommends.

    Raises InputError if no pair is left.
    """
    pairs = fitting_pairs(request, request.protocols)
    if len(pairs) != 1:
        first = simulated_answer(request, jobs=jobs, progress=progress).first
        if not first.recommendations:
            raise InputError(nothing_left_sentence(request.removals))
        pairs = [first.best.pair]
    (pair,) = pairs
    experiment, _ = experiment_of(replace(request, protocols=pair[:1], methods=pair[1:]))
    repetitions, truth = request.max_repetitions, experiment.populations.mean(axis=0) / experiment.n
    order = np.argsort(-truth, kind="stable")
    starts = np.arange(request.k) if request.k <= ALONE else 2 ** np.arange(request.k.bit_length()) - 1
    sizes = np.diff(starts, append=request.k)
    total, squares, means = np.zeros(request.k), np.zeros(request.k), []
    step = max(1, CHUNK_CELLS // request.k)
    origin = deviations(experiment, pair, range(1))[0, order]  # so that what never varies has no variance
    for start in range(0, repetitions, step):
        chunk = range(start, min(start + step, repetitions))
        errors = deviations(experiment, pair, chunk)[:, order]
        total += (errors - origin).sum(axis=0)
        squares += ((errors - origin) ** 2).sum(axis=0)
        means.append(np.add.reduceat(errors, starts, axis=1) / sizes)
        progress(chunk.stop, repetitions)
    variance = np.maximum(squares - total**2 / repetitions, 0.0) / (repetitions - 1)
    by_block = np.concatenate(means)
    figures = (
        np.add.reduceat(truth[order], starts) / sizes,
        by_block.mean(axis=0),
        by_block.std(axis=0, ddof=1) / np.sqrt(repetitions),
        np.add.reduceat(variance, starts) / sizes,
    )
    rows = zip(starts.tolist(), sizes.tolist(), *(column.tolist() for column in figures), strict=True)
    return BiasAnswer(
        request=replace(request, protocols=pair[:1], methods=pair[1:]),
        pair=pair,
        repetitions=repetitions,
        order=order,
        truth=truth[order],
        bias=origin + total / repetitions,
        standard_error=np.sqrt(variance / repetitions),
        variance=variance,
        blocks=tuple(Block(start + 1, start + size, *row) for start, size, *row in rows),
    )
