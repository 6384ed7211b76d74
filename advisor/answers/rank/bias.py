"""Bias and variance of each category under one pair, by repeating its simulation."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from advisor.answers.rank.simulate import experiment_of, simulated_answer
from advisor.errors import InputError
from advisor.question.constraints import fitting_pairs
from advisor.question.request import Request, nothing_left_sentence
from simulator._types import FloatArray, IntArray
from simulator.benchmark import CHUNK_CELLS, deviations
from simulator.progress import Progress, part, within
from simulator.ranking import Pair, t_quantile

ALONE = 24  # categories that have a row each; of more, blocks of ranks that double


class BiasAnswer(NamedTuple):
    """Bias and variance under a pair, by rank, the most frequent category first.

    Rows of figures: true frequency, bias, half of its 95 % interval, variance of the estimate (where the truth is
    another in each repetition, of the deviation from it).
    """

    request: Request
    pair: Pair
    among: int  # pairs that the request allows, of which it is the recommended one
    repetitions: int
    labels: list[str]  # ``(k,)``
    categories: FloatArray  # ``(4, k)`` figures
    starts: IntArray  # ``(blocks + 1,)`` first rank of each block, from 0, and k
    blocks: FloatArray  # ``(4, blocks)`` figures: means over the categories of a block


def bias_of(request: Request, progress: Progress, jobs: int | None = None) -> BiasAnswer:
    """Return bias and variance under the pair that a request names, or else under the one that it recommends.

    Raises InputError if no pair is left.
    """
    pairs = fitting_pairs(request, request.protocols)
    among = len(pairs)
    parts = 1 if among == 1 else 2
    if among != 1:
        first = simulated_answer(request, jobs=jobs, progress=part(progress, 0, parts)).first
        if not first.recommendations:
            raise InputError(nothing_left_sentence(request.removals))
        pairs = [first.best.pair]
    request = replace(request, protocols=pairs[0][:1], methods=pairs[0][1:])
    k, repetitions, (experiment, _) = request.k, request.max_repetitions, experiment_of(request)
    step = max(1, CHUNK_CELLS // k)
    truth = experiment.populations.mean(axis=0) / experiment.n
    order = np.argsort(-truth, kind="stable")
    steps, chunks = within(part(progress, parts - 1, parts), "the named pair afresh", 0, repetitions), []
    for start in range(0, repetitions, step):
        end = min(start + step, repetitions)
        chunks.append(deviations(experiment, pairs[0], range(start, end)))
        steps(end, repetitions)
    errors = np.concatenate(chunks)[:, order]
    firsts = np.arange(k) if k <= ALONE else 2 ** np.arange(k.bit_length()) - 1
    starts = np.append(firsts, k)
    reach = t_quantile(repetitions) / np.sqrt(repetitions)
    categories = np.stack(
        [truth[order], errors.mean(axis=0), reach * errors.std(axis=0, ddof=1), errors.var(axis=0, ddof=1)]
    )
    blocks = np.add.reduceat(categories, firsts, axis=1) / np.diff(starts)
    blocks[2] = reach * (np.add.reduceat(errors, firsts, axis=1) / np.diff(starts)).std(axis=0, ddof=1)
    labels = [request.labels[place] if request.labels else str(place) for place in order.tolist()]
    return BiasAnswer(request, pairs[0], among, repetitions, labels, categories, starts, blocks)
