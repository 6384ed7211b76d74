"""The model: predicted errors of every method and metric for a histogram under a noise, fitted to simulated cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knowledge.describe.assumption import AssumedSkew
from knowledge.describe.features import describe
from knowledge.describe.profile import Profile
from knowledge.describe.reference import log_reference
from knowledge.menu import MEASURED, METHODS
from knowledge.network import Network
from knowledge.provenance import Provenance
from knowledge.provenance import load as load_provenance
from knowledge.provenance import save as save_provenance
from simulator import PROTOCOLS, Noise
from simulator._types import FloatArray

DATA = Path(__file__).parent / "data"
FILE = "model.npz"
OWN = ("low", "high", "spread", "own_spread")  # arrays of a model that belong to no network

# What a question says of the frequencies: a histogram; several of one k, if any of them may be true; or a skew.
Frequencies = Profile | Sequence[Profile] | AssumedSkew


@dataclass(frozen=True, eq=False, repr=False)  # holds arrays, which do not compare to one truth
class Model:
    """What is fitted to the simulated cells."""

    network: Network  # features to log errors in units of the reference error
    # low, high: range of each feature in the simulated cells, ``(F,)``
    low: FloatArray
    high: FloatArray
    # spread, own_spread: standard deviation of the predicted log error on cells left out, ``(methods, metrics)``, and
    # of the part of it that a method does not share with the others
    spread: FloatArray
    own_spread: FloatArray
    provenance: Provenance  # how the data was made

    @property
    def populations(self) -> int:
        """Number of simulated populations that the model was fitted to."""
        return self.provenance.populations

    def log_errors(self, profiles: Sequence[Profile], noises: Sequence[Noise]) -> tuple[FloatArray, FloatArray]:
        """Return log errors ``(profiles, P, methods, metrics)``, and by how much features are out of range ``(P, F)``.

        The largest excess of all profiles counts.
        """
        description = describe(profiles, noises)
        features = description.features
        inside = np.clip(features, self.low, self.high)
        outside = np.abs(features - inside).max(axis=0) / (self.high - self.low)
        logs = self.network(inside.reshape(-1, features.shape[-1]))
        return logs.reshape(*features.shape[:2], len(METHODS), len(MEASURED)) + log_reference(description), outside

    def to_arrays(self) -> dict[str, NDArray[np.float32]]:
        """Return all arrays by name, in single precision."""
        return self.network.to_arrays() | {name: getattr(self, name).astype(np.float32) for name in OWN}


@cache
def load(folder: Path = DATA) -> Model:
    """Load the model of a folder, the shipped one by default; each folder is read once.

    Raises FileNotFoundError if the folder holds no model.
    """
    with np.load(folder / FILE, allow_pickle=False) as stored:
        arrays = dict(stored)
    own = {name: arrays.pop(name).astype(np.float64) for name in OWN}
    return Model(Network.from_arrays(arrays), **own, provenance=load_provenance(folder))


def save(model: Model, folder: Path) -> None:
    """Write a model where `load` finds it."""
    np.savez(folder / FILE, allow_pickle=False, **model.to_arrays())
    save_provenance(model.provenance, folder)


@dataclass(frozen=True, eq=False, repr=False)  # holds arrays
class Prediction:
    """What the model predicts for one question: every method and metric."""

    k: int  # domain size
    noises: Mapping[str, Noise]  # noise of each protocol
    logs: FloatArray  # log errors ``(profiles, protocols, methods, metrics)``
    outside: FloatArray  # by how much each feature is out of the simulated range, in shares of it, ``(protocols, F)``
    model: Model  # who predicts


def predict(frequencies: Frequencies, noises: Mapping[str, Noise], *, model: Model | None = None) -> Prediction:
    """Predict the errors of every method for protocols given by their noise.

    frequencies: the histogram. Several of one k, when it is not certain: their log errors are averaged, and what they
        differ by goes into the intervals. Or a skew that is assumed, for several that have it.
    noises: by protocol.
    model: default: the shipped one.
    """
    predictor = load() if model is None else model
    profiles = profiles_of(frequencies, max(noise.n for noise in noises.values()))
    logs, outside = predictor.log_errors(profiles, tuple(noises.values()))
    return Prediction(profiles[0].k, noises, logs, outside, predictor)


def profiles_of(frequencies: Frequencies, n: int) -> tuple[Profile, ...]:
    """Return the histograms that a question asks about, as `n` users hold them."""
    if isinstance(frequencies, AssumedSkew):
        return frequencies.profiles(n)
    return (frequencies,) if isinstance(frequencies, Profile) else tuple(frequencies)


def first_of(frequencies: Frequencies) -> Profile | AssumedSkew:
    """Return what has the domain size and the skew of a question."""
    return frequencies if isinstance(frequencies, Profile | AssumedSkew) else frequencies[0]


def noises_of(k: int, epsilon: float, n: int, protocols: Iterable[str] | None = None) -> dict[str, Noise]:
    """Return the noise of protocols by name; of all in the table by default."""
    return {name: PROTOCOLS[name](k, epsilon).noise(n) for name in (PROTOCOLS if protocols is None else protocols)}
