"""Predicted errors of all pairs and metrics for a question, by the models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from knowledge.describe.assumption import AssumedSkew
from knowledge.describe.features import Description, describe
from knowledge.describe.log_density import log_density_figures
from knowledge.describe.ordered_protocols import log_curve_reference, tree_figures
from knowledge.describe.profile import Profile
from knowledge.menu import CURVE_PROTOCOLS, EPSILON, USERS, Labels
from knowledge.model import CURVES, DATA, LEAVES, Model, load
from simulator import Noise, frequency_oracles
from simulator._types import FloatArray, IntArray

REFERENCE = "oue"  # its noise describes the question for ordered-domain protocols, in addition to theirs

# Frequencies of a question: a histogram; several of the same k, if any of them may be true; or a skew.
Frequencies = Profile | Sequence[Profile] | AssumedSkew


@dataclass(frozen=True, eq=False, repr=False)  # holds arrays
class ModelBlock:
    """Predictions of a model for a question: errors of pairs in metrics."""

    places: Mapping[Labels, int]  # pairs and their numbers
    metrics: tuple[str, ...]
    logs: FloatArray  # log errors ``(profiles, pairs, metrics)``
    # spread, own_spread: as in the model, for each of the pairs
    spread: FloatArray
    own_spread: FloatArray
    # outside, described: by how much features are out of the simulated range, in shares of it, ``(P, F)``, and which
    # row of that belongs to each pair
    outside: FloatArray
    described: IntArray
    largest: int  # domain that was simulated

    @cached_property
    def means(self) -> FloatArray:
        """Log errors, mean over the profiles."""
        result: FloatArray = self.logs.mean(axis=0)
        return result


@dataclass(frozen=True, eq=False, repr=False)  # holds arrays
class PredictedErrors:
    """Predictions for a question: all pairs and metrics."""

    # k, epsilon, n, ordered: domain size, privacy budget per report, users who report, and whether the categories have
    # an order
    k: int
    epsilon: float
    n: int
    ordered: bool
    noises: Mapping[str, Noise]  # noise of each protocol with a single noise scale
    blocks: tuple[ModelBlock, ...]  # if several blocks have a pair and metric, the first counts
    models: tuple[Model, ...]  # models that predict
    skew: float | None = None  # if only the skew of the frequencies is known

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics that are predicted: those that were simulated, and mae, which is l1 / k."""
        first, *others = dict.fromkeys(metric for block in self.blocks for metric in block.metrics)
        return (first, "mae", *others)

    def mean(self, pair: Labels, metric: str) -> float:
        """Return the log error of a pair by the first model that has it, NaN if none has."""
        for block in self.blocks:
            place = block.places.get(pair)
            if place is not None and metric in block.metrics:
                return float(block.means[place, block.metrics.index(metric)])
        return math.nan


def predicted(
    frequencies: Frequencies,
    epsilon: float,
    n: int,
    protocols: Iterable[str] | None = None,
    *,
    ordered: bool,
    model: Model | None = None,
    budgets: Mapping[str, float] | None = None,
) -> PredictedErrors:
    """Predict the errors of each method for protocols by name, for all by default.

    frequencies: the histogram. Several of the same k, if it is not certain: their log errors are averaged, and their
        differences widen the intervals. Or an assumed skew, for several histograms with this skew.
    epsilon, n: privacy budget per report, and users who report.
    ordered: whether the categories have an order.
    model: default: the shipped model; those of ordered domains are in the same folder.
    budgets: of protocols whose budget differs from epsilon.
    """
    menu = None if protocols is None else tuple(protocols)
    noises = noises_of(first_of(frequencies).k, epsilon, n, menu, budgets)
    # Two categories have no useful order: all these protocols are then randomised response.
    alike = len(noises) > 0 and first_of(frequencies).k == 2
    curves = [name for name in CURVE_PROTOCOLS if (menu is None or name in menu) and not alike] if ordered else []
    result = predict(frequencies, noises, epsilon, n, curves, ordered=ordered, model=model)
    if budgets or epsilon >= EPSILON[0]:
        return result
    # No smaller budget is better than the smallest that was simulated, with so few users that the noise is the same.
    users = max(USERS[0], round(n * (epsilon / EPSILON[0]) ** 2))
    edge = predicted(frequencies, EPSILON[0], users, protocols, ordered=ordered, model=model)
    pairs = zip(result.blocks, edge.blocks, strict=True)
    return replace(result, blocks=tuple(replace(a, logs=np.maximum(a.logs, b.logs)) for a, b in pairs))


def predict(
    frequencies: Frequencies,
    noises: Mapping[str, Noise],
    epsilon: float,
    n: int,
    curves: Sequence[str] = (),
    *,
    ordered: bool = False,
    model: Model | None = None,
) -> PredictedErrors:
    """Predict for protocols given by their noise, and for those protocols for ordered domains; see `predicted`."""
    profiles = profiles_of(frequencies, n)
    models = [load() if model is None else model]
    all_noises = list(noises.values())
    if ordered:
        models.append(load(models[0].folder, LEAVES))
        all_noises.append(_reference(profiles[0].k, epsilon, n))
    description = describe(profiles, all_noises)
    blocks = []
    for one in models if noises else ():
        pairs = [(protocol, method) for protocol in noises for _, method in one.table.pairs]
        figures = one.log_errors(description.of(slice(len(noises))))
        blocks.append(_block(one, pairs, tuple(noises), figures, few=description.few))
    if curves:
        models.append(load(models[0].folder, CURVES))
        features, reference = _curve_inputs(profiles, description.of(slice(-1, None)), epsilon, n)
        ratios, outside = models[-1].log_ratios(features)
        figures = ratios + reference, outside[None]
        blocks.append(_block(models[-1], models[-1].table.pairs, curves, figures, few=description.few))
    skew = frequencies.skew if isinstance(frequencies, AssumedSkew) else None
    return PredictedErrors(profiles[0].k, epsilon, n, ordered, noises, tuple(blocks), tuple(models), skew)


def _reference(k: int, epsilon: float, n: int) -> Noise:
    return frequency_oracles()[REFERENCE](k, epsilon).noise(n)


def _block(
    model: Model,
    pairs: Sequence[Labels],
    protocols: Sequence[str],
    figures: tuple[FloatArray, FloatArray],
    *,
    few: bool,
) -> ModelBlock:
    """Return the predictions of a model for its pairs with the given protocols.

    figures: log errors ``(S, ...)``, and how far features are out of range ``(P, F)``; pairs of a row stand together.
    few: whether many categories share few frequencies.
    """
    logs, outside = figures
    return ModelBlock(
        places={pair: place for place, pair in enumerate(pairs) if pair[0] in protocols},
        metrics=model.table.metrics,
        logs=logs.reshape(len(logs), len(pairs), -1),
        spread=np.tile(model.spread[int(few)], (len(outside), 1)),
        own_spread=np.tile(model.own_spread[int(few)], (len(outside), 1)),
        outside=outside,
        described=np.repeat(np.arange(len(outside)), len(model.table.pairs)),
        largest=model.provenance.largest,
    )


def curve_inputs(profiles: Sequence[Profile], epsilon: float, n: int) -> tuple[FloatArray, FloatArray]:
    """Return features ``(S, F)`` and log reference errors ``(S, pairs, metrics)`` of protocols for ordered domains."""
    description = describe(profiles, [_reference(profiles[0].k, epsilon, n)])
    return _curve_inputs(profiles, description, epsilon, n)


def _curve_inputs(
    profiles: Sequence[Profile], description: Description, epsilon: float, n: int
) -> tuple[FloatArray, FloatArray]:
    tree = tree_figures(profiles, epsilon, n)
    density = log_density_figures([profile.smoothness for profile in profiles], tree.k, epsilon, n)
    features = np.concatenate([description.features[:, 0], tree.features, density], axis=1)
    return features, log_curve_reference(description, tree)


def predicted_metrics(*, ordered: bool, model: Model | None = None) -> tuple[str, ...]:
    """Return the metrics that are predicted, on a domain with or without an order."""
    first = load() if model is None else model
    predicted = load(first.folder, LEAVES).provenance.predicted if ordered else ()
    return tuple(dict.fromkeys((*first.provenance.predicted, *predicted)))


def simulated_populations(*, ordered: bool) -> int:
    """Return how many simulated populations stand behind look-ups, on a domain with or without an order."""
    return load().populations + (load(DATA, CURVES).populations if ordered else 0)


def predicted_protocols() -> tuple[str, ...]:
    """Return the protocols that are predicted."""
    return (*frequency_oracles(), *CURVE_PROTOCOLS)


def profiles_of(frequencies: Frequencies, n: int) -> tuple[Profile, ...]:
    """Return the histograms that a question asks about, as `n` users hold them."""
    if isinstance(frequencies, AssumedSkew):
        return frequencies.profiles(n)
    return (frequencies,) if isinstance(frequencies, Profile) else tuple(frequencies)


def first_of(frequencies: Frequencies) -> Profile | AssumedSkew:
    """Return the profile or assumption with the domain size and skew of a question."""
    return frequencies if isinstance(frequencies, Profile | AssumedSkew) else frequencies[0]


def noises_of(
    k: int, epsilon: float, n: int, protocols: Iterable[str] | None = None, budgets: Mapping[str, float] | None = None
) -> dict[str, Noise]:
    """Return the noise of protocols by name, of all by default, if it has a single scale.

    budgets: of protocols whose budget differs from epsilon.
    """
    oracles, budget_of = frequency_oracles(), budgets or {}
    menu = oracles if protocols is None else protocols
    return {name: oracles[name](k, budget_of.get(name, epsilon)).noise(n) for name in menu if name in oracles}
