"""`PostProcessor`: a post-processing (PP) method with its properties and parameters, and the table of methods."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, InitVar, dataclass, replace
from enum import StrEnum
from functools import lru_cache, partial
from typing import Any, TypeAlias, cast

import numpy as np

from simulator._types import FloatArray
from simulator.domain import UNORDERED, Domain
from simulator.methods.observed import Observed
from simulator.protocols.oracle import Noise
from simulator.protocols.protocol import NEEDS, Protocol

NEARNESS = frozenset({"order", "ground"})
DANGER = frozenset({"attackers", "targets"})
OF_DOMAIN = NEARNESS | DANGER  # needs that a domain satisfies; the rest comes from the protocol
OfNoise: TypeAlias = Callable[[FloatArray, Noise], FloatArray]
OfObserved: TypeAlias = Callable[[Observed], FloatArray]
Condition: TypeAlias = Callable[[Noise, int], bool]


@dataclass(frozen=True)
class PostProcessor:
    """A post-processing method: from a collection to better frequencies ``(..., k)``.

    All that follows its function is given by keyword.

    Attributes
    ----------
    name, title
        Key in the table, and the name the papers use.
    function
        The method itself: ``function(observed)`` of an `Observed`, or ``function(estimate, noise)`` where the raw
        estimates ``(..., k)`` and their `Noise` are enough. It never sees the truth.
    nonnegative, sums_to_one
        Constraints that all results satisfy.
    reference
        Where the method was published.
    ordered_only
        When it is made: whether the method uses the order of the categories; adds ``"order"`` to its `needs`.
    queries_only
        Whether the method changes the answers of set and range queries and does not change the estimate.
    keeps_order
        Whether a larger estimate never becomes smaller than a smaller one.
    fits
        A condition on noise and domain size beside the needs, for methods whose needs have no name.
    unbiased
        Whether unbiased estimates stay unbiased.
    aliases, short
        Other names, in small letters without hyphens and underscores; and a short title for sentences.
    largest
        Domain size up to which it is among "all methods"; in larger domains it is slow, and runs only when named.
    needs
        Inputs that it requires: ``"estimate"`` (with that alone the figures of `noise` may be NaN); ``"iid"``, noise
        that is alike in all entries; ``"haar"``, the variances of Haar differences; ``"pq"``; ``"likelihood"``;
        ``"local_likelihood"``, of outputs that lie along the order of the values; ``"pseudo_likelihood"``, for reports
        that support several values; ``"order"``, an ordered domain; ``"ground"``, a domain on which some categories are
        near others; ``"attackers"``, the share of the users who may report falsely, and ``"targets"``, the values they
        promote; ``"suspects"``, the reports that support all values of a set.
    """

    name: str
    title: str
    function: OfNoise | OfObserved
    _: KW_ONLY
    nonnegative: bool
    sums_to_one: bool
    reference: str
    ordered_only: InitVar[bool] = False
    queries_only: bool = False
    keeps_order: bool = True
    fits: Condition | None = None
    unbiased: bool = False
    aliases: tuple[str, ...] = ()
    short: str = ""
    largest: int | None = None
    needs: frozenset[str] = frozenset({"estimate", "iid"})

    def __post_init__(self, ordered_only: bool) -> None:
        unknown = self.needs - OF_DOMAIN - frozenset(NEEDS)
        if unknown:
            allowed = ", ".join(sorted({*NEEDS, *OF_DOMAIN}))
            raise ValueError(f"a method needs some of {allowed}, got {', '.join(sorted(unknown))}")
        if ordered_only:
            object.__setattr__(self, "needs", self.needs | {"order"})

    @property
    def uses_order(self) -> bool:
        """Whether the result depends on which categories are near each other."""
        return bool(self.needs & NEARNESS)

    @property
    def is_remedy(self) -> bool:
        """Whether it is for collections that attackers may have poisoned, and for no other."""
        return bool(self.needs & (DANGER | {"suspects"}))

    @property
    def is_proper(self) -> bool:
        """Whether results are frequencies: none below 0, and of sum 1."""
        return self.nonnegative and self.sums_to_one

    @property
    def gives(self) -> frozenset[str]:
        """Properties of all results: some of ``"nonnegative"``, ``"sums_to_one"``, ``"unbiased"``."""
        return frozenset(name for name in ("nonnegative", "sums_to_one", "unbiased") if getattr(self, name))

    def accepts(self, noise: Noise, k: int) -> bool:
        """Return whether the method works for estimates of k frequencies with this noise, on a suitable domain."""
        return self.needs - OF_DOMAIN <= noise.provides(k) and (self.fits is None or self.fits(noise, k))

    def __call__(self, estimate: FloatArray, noise: Noise, domain: Domain = UNORDERED) -> FloatArray:
        """Apply the method to raw frequency estimates ``(..., k)`` on a domain.

        Raises
        ------
        ValueError
            As `apply`.
        """
        return self.apply(Observed(np.asarray(estimate, dtype=np.float64), noise, domain=domain))

    def apply(self, observed: Observed) -> FloatArray:
        """Apply the method to a collection.

        Raises
        ------
        ValueError
            If there are fewer than 2 categories, an estimate is not finite, or the method is not for such noise.
        """
        raw = observed.estimate
        if raw is not None:
            if raw.ndim == 0 or raw.shape[-1] < 2:
                raise ValueError(f"an estimate needs at least 2 categories, got shape {raw.shape}")
            if not np.isfinite(raw).all():
                raise ValueError("an estimate must be finite, got NaN or infinity")
        enough = self.needs - NEARNESS <= observed.domain.provides | observed.provides
        if enough and self.fits is not None and raw is not None:
            enough = self.fits(observed.noise, raw.shape[-1])
        if not enough:
            missing = " and ".join(sorted(self.needs & DANGER - observed.domain.provides))
            why = f"needs to know the {missing}" if missing else "is not for the noise of this protocol"
            raise ValueError(f"method {self.name} {why}: {self.title}")
        return self.compute(observed)

    def compute(self, observed: Observed) -> FloatArray:
        """Apply the method without checking whether it suits the collection.

        Raises
        ------
        ValueError
            If a method of estimates is given none.
        """
        if not _takes_noise(self.function):
            return cast("OfObserved", self.function)(observed)
        return cast("OfNoise", self.function)(observed.raw, observed.noise)


proper = partial(PostProcessor, nonnegative=True, sums_to_one=True)
"""A method whose results are frequencies: none below 0, and of sum 1."""


def possible(method: PostProcessor, protocol: Protocol, domain: Domain, n: int) -> bool:
    """Return whether a method works with a protocol on a domain, for `n` users."""
    if (protocol.ordered_only and not domain.ordered) or (method.is_remedy and domain.attackers is None):
        return False
    if not method.needs <= domain.provides | protocol.provides:
        return False
    if method.fits is None:
        return True
    linear = protocol.linear
    noise = None if linear is None else linear.covariance(n)
    return isinstance(noise, Noise) and method.fits(noise, protocol.k)


@lru_cache(maxsize=256)
def _takes_noise(function: Callable[..., Any]) -> bool:
    """Return True for f(estimate, noise), False for f(observed): they differ in the number of required arguments."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    required = sum(parameter.kind in kinds and parameter.default is inspect.Parameter.empty for parameter in parameters)
    return required != 1


def parameters_of(method: PostProcessor) -> dict[str, Any]:
    """Return the keyword-only parameters of the function of a method, and their defaults."""
    parameters = inspect.signature(method.function).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}


@lru_cache(maxsize=256)
def with_parameters(method: PostProcessor, settings: str) -> PostProcessor:
    """Return a method with the values of some of its parameters, ``"alpha=0.05:keep=20"``; its name has them too.

    A value is of the type of the default: a number above 0, a member of an enumeration of words, or a text.

    Raises ValueError if the method has no such parameter, or it has no such value.
    """
    defaults, given = parameters_of(method), dict[str, Any]()
    for part in settings.split(":"):
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in defaults or name in given:
            has = f"has {', '.join(f'{known}=…' for known in defaults)}" if defaults else "has no parameters"
            raise ValueError(f"method {method.name} {has}, got {part!r}")
        given[name] = _read(f"{name} of {method.name}", value, type(defaults[name]))
    changed = {name: given[name] for name in defaults if name in given and given[name] != defaults[name]}
    if not changed:
        return method
    words = [f"{name}={value if isinstance(value, str) else f'{value:.12g}'}" for name, value in changed.items()]
    name, title = ":".join([method.name, *words]), " ".join([method.title.partition(" (")[0], *words])
    return replace(method, name=name, title=title, function=partial(method.function, **changed), short="", aliases=())


def _read(name: str, text: str, kind: type[Any]) -> Any:
    with suppress(TypeError, ValueError):
        value = kind(text)
        if isinstance(value, str) or 0 < value < math.inf:
            return value
    allowed = f"one of {', '.join(kind)}" if issubclass(kind, StrEnum) else f"a number above 0 ({kind.__name__})"
    raise ValueError(f"{name} must be {allowed}, got {text!r}")


# Mean and median of the frequencies that may be behind an estimate, see `simulator.surrogate.METHODS`
SUMMARIES = POSTERIOR_MEAN, POSTERIOR_MEDIAN = "posterior_mean", "posterior_median"


class Methods(dict[str, PostProcessor]):
    """The table of methods by name; it lists its members, and also returns summaries, and members with parameters.

    Attributes
    ----------
    summaries
        Makes the summaries, by name; they need the other methods, so they are there later.
    """

    summaries: Callable[[], Mapping[str, PostProcessor]] = dict

    def __missing__(self, name: str) -> PostProcessor:
        """Return the summary of this name, or a member with parameters.

        Raises KeyError if it is neither, or ValueError for parameters that the member has not.
        """
        base, _, settings = name.partition(":")
        if settings and base in self:
            return with_parameters(self[base], settings)
        if name not in SUMMARIES:
            raise KeyError(name)
        return self.summaries()[name]
