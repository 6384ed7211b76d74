"""The models: predicted errors of pairs and metrics for a histogram, each fitted to simulated cells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from knowledge.describe.assumption import AssumedSkew
from knowledge.describe.features import describe
from knowledge.describe.heights import heights_of
from knowledge.describe.profile import Profile
from knowledge.describe.reference import Description, log_curve_reference, log_reference
from knowledge.describe.waves import wave_figures
from knowledge.menu import CURVE_PROTOCOLS, Labels, Table
from knowledge.network import Network
from knowledge.provenance import Provenance
from knowledge.provenance import load as load_provenance
from knowledge.provenance import save as save_provenance
from simulator import Noise, frequency_oracles
from simulator._types import FloatArray, IntArray

DATA = Path(__file__).parent / "data"
OWN = ("low", "high", "spread", "own_spread")  # arrays of a model that belong to no network
REFERENCE = "oue"  # what protocols for ordered domains are described by the noise of, beside their own

# The models: of protocols whose noise of one scale is all that matters; of more methods and metrics for the same, on
# ordered domains; and of protocols for ordered domains, by budget and users.
CATEGORIES, LEAVES, CURVES = "model", "leaves", "curves"

# What a question says of the frequencies: a histogram; several of one k, if any of them may be true; or a skew.
Frequencies = Profile | Sequence[Profile] | AssumedSkew


@dataclass(frozen=True, eq=False, repr=False)  # holds arrays, which do not compare to one truth
class Model:
    """What is fitted to simulated cells."""

    network: Network  # features to log errors in units of the reference error
    # low, high: range of each feature in the simulated cells, ``(F,)``
    low: FloatArray
    high: FloatArray
    # spread, own_spread: standard deviation of the predicted log error on cells left out, ``(2, pairs, metrics)``, and
    # of the part of it that a pair does not share with the others: first of all cells, then of those with few different
    # frequencies
    spread: FloatArray
    own_spread: FloatArray
    provenance: Provenance  # how the data was made
    folder: Path = DATA  # where it is, and the others beside it

    @cached_property
    def table(self) -> Table:
        """What is predicted."""
        return Table.of(self.provenance.methods, self.provenance.metrics)

    @property
    def populations(self) -> int:
        """Number of simulated populations that the model was fitted to."""
        return self.provenance.populations

    def log_ratios(self, features: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log errors over the reference ``(S, ..., pairs, metrics)`` for features ``(S, ..., F)``.

        And by how much features are out of range ``(..., F)``, in shares of it: the largest excess of all S counts.
        """
        inside = np.clip(features, self.low, self.high)
        outside = np.abs(features - inside).max(axis=0) / (self.high - self.low)
        logs = self.network(inside.reshape(-1, features.shape[-1]))
        return logs.reshape(*features.shape[:-1], *self.spread.shape[1:]), outside

    def log_errors(self, description: Description) -> tuple[FloatArray, FloatArray]:
        """Return log errors ``(S, P, pairs, metrics)`` of what was described, and how far features are out of range."""
        ratios, outside = self.log_ratios(description.features)
        return ratios + log_reference(description, self.table), outside

    def to_arrays(self) -> dict[str, NDArray[np.float32]]:
        """Return all arrays by name, in single precision."""
        return self.network.to_arrays() | {name: getattr(self, name).astype(np.float32) for name in OWN}


@cache
def load(folder: Path = DATA, part: str = CATEGORIES) -> Model:
    """Load a model of a folder, a shipped one by default; each is read once.

    Raises FileNotFoundError if the folder does not hold the model.
    """
    with np.load(folder / f"{part}.npz", allow_pickle=False) as stored:
        arrays = dict(stored)
    own = {name: arrays.pop(name).astype(np.float64) for name in OWN}
    return Model(Network.from_arrays(arrays), **own, provenance=load_provenance(folder, part), folder=folder)


def save(model: Model, folder: Path, part: str = CATEGORIES) -> None:
    """Write a model where `load` finds it."""
    np.savez(folder / f"{part}.npz", allow_pickle=False, **model.to_arrays())
    save_provenance(model.provenance, folder, part)


@dataclass(frozen=True, eq=False, repr=False)  # holds arrays
class Block:
    """What one model predicts for one question: errors of pairs in metrics."""

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

    @property
    def protocols(self) -> tuple[str, ...]:
        """Protocols that there are pairs of."""
        return tuple(dict.fromkeys(protocol for protocol, _ in self.places))


@dataclass(frozen=True, eq=False, repr=False)  # holds arrays
class Prediction:
    """What is predicted for one question: every pair and metric."""

    k: int  # domain size
    noises: Mapping[str, Noise]  # noise of each protocol that has one of one scale
    blocks: tuple[Block, ...]  # of a pair that several have in a metric, the first says it
    models: tuple[Model, ...]  # who predicts
    skew: float | None = None  # of frequencies of which no more was said

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


class Collection(NamedTuple):
    """What a question on an ordered domain says beside the frequencies and the noises."""

    epsilon: float
    n: int
    protocols: tuple[str, ...]  # those asked about that are predicted by budget and users


def predicted(
    frequencies: Frequencies,
    epsilon: float,
    n: int,
    protocols: Iterable[str] | None = None,
    *,
    ordered: bool,
    model: Model | None = None,
    budgets: Mapping[str, float] | None = None,
) -> Prediction:
    """Predict the errors of protocols by name, of all by default; see `predict`.

    budgets: of protocols that have another one than the rest.
    """
    menu = None if protocols is None else tuple(protocols)
    noises = noises_of(first_of(frequencies).k, epsilon, n, menu, budgets)
    if not ordered:
        return predict(frequencies, noises, model=model)
    # Two categories have no order to speak of: there, all of them are randomised response by other names.
    alike = len(noises) > 0 and first_of(frequencies).k == 2
    own = tuple(name for name in CURVE_PROTOCOLS if (menu is None or name in menu) and not alike)
    return predict(frequencies, noises, collection=Collection(epsilon, n, own), model=model)


def predict(
    frequencies: Frequencies,
    noises: Mapping[str, Noise],
    *,
    collection: Collection | None = None,
    model: Model | None = None,
) -> Prediction:
    """Predict the errors of every method for protocols given by their noise, and of protocols for ordered domains.

    frequencies: the histogram. Several of one k, when it is not certain: their log errors are averaged, and what they
        differ by goes into the intervals. Or a skew that is assumed, for several that have it.
    noises: by protocol.
    collection: on an ordered domain, what is asked of it.
    model: default: the shipped one; those of ordered domains are in the same folder.
    """
    predictor = load() if model is None else model
    profiles = profiles_of(
        frequencies, max(noise.n for noise in noises.values()) if collection is None else collection.n
    )
    k, models = profiles[0].k, [predictor] if collection is None else [predictor, load(predictor.folder, LEAVES)]
    every = list(noises.values())
    if collection is not None:
        every.append(_reference(k, collection.epsilon, collection.n))
    description = describe(profiles, every)
    blocks = [_by_noise(one, description.of(slice(len(noises))), tuple(noises)) for one in models if noises]
    if collection is not None and collection.protocols:
        models.append(load(predictor.folder, CURVES))
        blocks.append(_by_heights(models[-1], profiles, description.of(slice(-1, None)), collection))
    skew = frequencies.skew if isinstance(frequencies, AssumedSkew) else None
    return Prediction(k, noises, tuple(blocks), tuple(models), skew)


def _reference(k: int, epsilon: float, n: int) -> Noise:
    return frequency_oracles()[REFERENCE](k, epsilon).noise(n)


def _by_noise(model: Model, description: Description, protocols: tuple[str, ...]) -> Block:
    logs, outside = model.log_errors(description)
    few = int(description.few)
    pairs = [(protocol, method) for protocol in protocols for _, method in model.table.pairs]
    return Block(
        places={pair: place for place, pair in enumerate(pairs)},
        metrics=model.table.metrics,
        logs=logs.reshape(len(logs), len(pairs), -1),
        spread=np.tile(model.spread[few], (len(protocols), 1)),
        own_spread=np.tile(model.own_spread[few], (len(protocols), 1)),
        outside=outside,
        described=np.repeat(np.arange(len(protocols)), model.spread.shape[1]),
        largest=model.provenance.largest,
    )


def _by_heights(model: Model, profiles: Sequence[Profile], description: Description, collection: Collection) -> Block:
    features, reference = _curve_inputs(profiles, description, collection.epsilon, collection.n)
    ratios, outside = model.log_ratios(features)
    pairs = model.table.pairs
    return Block(
        places={pair: place for place, pair in enumerate(pairs) if pair[0] in collection.protocols},
        metrics=model.table.metrics,
        logs=ratios + reference,
        spread=model.spread[int(description.few)],
        own_spread=model.own_spread[int(description.few)],
        outside=outside[None],
        described=np.zeros(len(pairs), dtype=np.int64),
        largest=model.provenance.largest,
    )


def curve_inputs(profiles: Sequence[Profile], epsilon: float, n: int) -> tuple[FloatArray, FloatArray]:
    """Return features ``(S, F)`` and log reference errors ``(S, pairs, metrics)`` of protocols for ordered domains."""
    description = describe(profiles, [_reference(profiles[0].k, epsilon, n)])
    return _curve_inputs(profiles, description, epsilon, n)


def _curve_inputs(
    profiles: Sequence[Profile], description: Description, epsilon: float, n: int
) -> tuple[FloatArray, FloatArray]:
    heights = heights_of(profiles, epsilon, n)
    waves = wave_figures([profile.smoothness for profile in profiles], heights.k, epsilon, n)
    features = np.concatenate([description.features[:, 0], heights.features, waves], axis=1)
    return features, log_curve_reference(description, heights)


def predicted_metrics(*, ordered: bool, model: Model | None = None) -> tuple[str, ...]:
    """Return the metrics that are predicted, on a domain with or without an order."""
    first = load() if model is None else model
    every = load(first.folder, LEAVES).provenance.predicted if ordered else ()
    return tuple(dict.fromkeys((*first.provenance.predicted, *every)))


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
    """Return what has the domain size and the skew of a question."""
    return frequencies if isinstance(frequencies, Profile | AssumedSkew) else frequencies[0]


def noises_of(
    k: int,
    epsilon: float,
    n: int,
    protocols: Iterable[str] | None = None,
    budgets: Mapping[str, float] | None = None,
) -> dict[str, Noise]:
    """Return the noise of protocols by name, of all by default, if it is of one scale.

    budgets: of protocols that have another one than the rest.
    """
    every, own = frequency_oracles(), budgets or {}
    menu = every if protocols is None else protocols
    return {name: every[name](k, own.get(name, epsilon)).noise(n) for name in menu if name in every}
