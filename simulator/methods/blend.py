"""Combinations: blends, weighted means of the results of methods (``eb_ns*3+norm_sub``), and the posterior median."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from simulator._types import FloatArray
from simulator.methods.observed import Observed
from simulator.methods.processor import PostProcessor

AND, TIMES = "+", "*"
MOST = 99  # times that a part may count
POSTERIOR_MEDIAN = "posterior_median"  # see `simulator.surrogate.posterior_median`
UNIFORM = "uniform"  # a part of blends, see `simulator.methods.simple`
_PART = re.compile(r"([a-z][a-z0-9_]*)(?:\*([1-9][0-9]?))?")
_GLYPHS = {(1, 2): "½", (1, 3): "⅓", (2, 3): "⅔", (1, 4): "¼", (3, 4): "¾"}
_BATES = "Bates, Granger, Operational Research Quarterly 1969"


class Methods(dict[str, PostProcessor]):
    """The table of methods by name. It lists its members, and gives combinations as well when asked for one.

    Attributes
    ----------
    unlisted
        By name, functions that return combinations of their own, and the uniform guess, a part of blends.
    """

    def __init__(self, members: Mapping[str, PostProcessor]) -> None:
        super().__init__(members)
        self.unlisted: dict[str, Callable[[], PostProcessor]] = {}

    def __missing__(self, name: str) -> PostProcessor:
        """Return the combination of this name; raises KeyError if it is none."""
        if name in self.unlisted:
            return self.unlisted[name]()
        parts = parts_of(name)
        if not parts:
            raise KeyError(name)
        return blend({self[part]: times for part, times in parts.items()})


def is_combination(name: str) -> bool:
    """Tell whether a name is one of a blend or of the posterior median, which the table gives and does not list."""
    return name == POSTERIOR_MEDIAN or bool(parts_of(name))


def parts_of(name: str) -> dict[str, int]:
    """Return how often each method counts in the blend of a name; nothing where the name is none of a blend.

    >>> parts_of("eb_ns*3+norm_sub"), parts_of("eb_ns")
    ({'eb_ns': 3, 'norm_sub': 1}, {})
    """
    found = [_PART.fullmatch(part) for part in name.split(AND)]
    parts = {part[1]: int(part[2] or 1) for part in found if part}
    return parts if 2 <= len(parts) == len(found) else {}


def blend_name(parts: Mapping[str, int]) -> str:
    """Return the name of a blend, in lowest terms: what counts most comes first, the uniform guess after its equals.

    >>> blend_name({"norm_sub": 2, "eb_ns": 6}), blend_name({"uniform": 1, "wavelet_eb": 1})
    ('eb_ns*3+norm_sub', 'wavelet_eb+uniform')
    """
    common = math.gcd(*parts.values())
    order = sorted(parts, key=lambda part: (-parts[part], part == UNIFORM, part))
    return AND.join(part if parts[part] == common else f"{part}{TIMES}{parts[part] // common}" for part in order)


def blend(parts: Mapping[PostProcessor, int]) -> PostProcessor:
    """Return the weighted mean of methods, each counted so often; it keeps what all of them keep.

    Errors that grow convexly (all but those of a few values picked by the estimate) are never above the mean of the
    parts' errors, and below it where the parts err in different directions.
    """
    every = tuple(parts)
    conditions = [one.condition for one in every if one.condition is not None]

    def mean(observed: Observed) -> FloatArray:
        return blended({one.name: one.compute(observed) for one in every}, {one.name: parts[one] for one in every})

    return PostProcessor(
        name=blend_name({one.name: times for one, times in parts.items()}),
        title=shares_text({one.title.partition(" (")[0]: times for one, times in parts.items()}),
        function=mean,
        nonnegative=all(one.nonnegative for one in every),
        sums_to_one=all(one.sums_to_one for one in every),
        reference="; ".join(dict.fromkeys([_BATES, *(one.reference for one in every)])),
        keeps_order=all(one.keeps_order for one in every),
        unbiased=all(one.unbiased for one in every),
        needs=frozenset[str]().union(*(one.needs for one in every)),
        condition=(lambda noise, k: all(holds(noise, k) for holds in conditions)) if conditions else None,
    )


def blended(results: Mapping[str, FloatArray], parts: Mapping[str, int]) -> FloatArray:
    """Return the weighted mean of results ``(..., k)``, by method."""
    total = sum(parts.values())
    first, *others = (results[part] * (times / total) for part, times in parts.items())
    for other in others:
        first += other
    return first


def shares_text(parts: Mapping[str, int]) -> str:
    """Return which share each part has, in words.

    >>> shares_text({"EM": 3, "Norm-Sub": 1})
    '¾ EM + ¼ Norm-Sub'
    """
    return " + ".join(f"{share} {name}" for share, name in zip(shares_of(parts), parts, strict=True))


def shares_of(parts: Mapping[str, int]) -> list[str]:
    """Return the share of each part, as a fraction in lowest terms."""
    fractions = (Fraction(times, sum(parts.values())) for times in parts.values())
    return [_GLYPHS.get((one.numerator, one.denominator), str(one)) for one in fractions]
