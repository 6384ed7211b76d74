"""ε in words, and ε from what other systems state instead.

Two conventions are in use for ε. *Replacement*: a report is compared with that of the same user holding another value;
this is what the rest of this tool means by ε. *Removal*: it is compared with a report that holds no value at all
(Erlingsson et al., "Encode, shuffle, analyze privacy revisited", 2020); never above the first, and for unary encodings
of symmetric noise just half of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from advisor.checks import budget, whole
from advisor.errors import InputError, listed
from advisor.names import resolve
from simulator.protocols import EPSILON_MAX, EPSILON_MIN

CONVERTED = ("grr", "rappor", "oue")
STATED = ("--eps", "--flip-prob", "--random-prob", "--odds", "--p and --q")


@dataclass(frozen=True)
class Conversion:
    """An ε and where it comes from.

    Attributes
    ----------
    epsilon
        By replacement: what the rest of the tool means by ε.
    removal
        By removal; None where it is not defined for what was stated.
    formula
        The formula that led here.
    reference
        What a report without a value is, for the removal convention.
    """

    epsilon: float
    removal: float | None
    formula: str
    reference: str = ""


def convert(
    *,
    epsilon: float | None = None,
    flip_prob: float | None = None,
    random_prob: float | None = None,
    odds: float | None = None,
    p: float | None = None,
    q: float | None = None,
    protocol: str | None = None,
    k: int | None = None,
) -> Conversion:
    """Return the ε of what a system states.

    Parameters
    ----------
    epsilon
        The budget itself.
    flip_prob
        Probability that a bit of the report is flipped (RAPPOR: f / 2; OUE: of a bit that is 0), or for GRR that the
        report is not the user's value.
    random_prob
        For GRR: probability that the value is replaced by one drawn evenly from all k.
    odds
        Largest ratio of the probabilities of a report.
    p, q
        Probabilities that a bit is 1 for the user's own value and for another one, bits being independent.
    protocol
        ``grr``, ``rappor`` or ``oue``, for `flip_prob`; GRR by default for a `random_prob`.
    k
        Number of categories, for GRR.

    Raises
    ------
    InputError
        If nothing or more than one thing is stated, a probability is out of range, or protocol or k is missing.

    Examples
    --------
    >>> round(convert(flip_prob=0.25, protocol="rappor").epsilon, 3)
    2.197
    >>> round(convert(random_prob=0.0024, k=2925).epsilon, 1)
    14.0
    """
    stated = [epsilon is not None, flip_prob is not None, random_prob is not None, odds is not None]
    if sum([*stated, p is not None or q is not None]) != 1:
        raise InputError(f"give one of {listed(STATED)}, got {'several' if any(stated) else 'none'} of them")
    name = None if protocol is None else resolve("protocol", protocol)
    if epsilon is not None:
        return Conversion(budget("eps", epsilon), None, "as given")
    if odds is not None:
        if not math.isfinite(odds) or odds <= 1:
            raise InputError(f"odds must be a number above 1, got {odds:g}")
        return _checked(math.log(odds), None, "ε = ln(odds)")
    if p is not None or q is not None:
        if p is None or q is None:
            raise InputError("p and q go together: the probabilities that a bit is 1, for the own value and another")
        return _from_bits(p, q, "ε = ln(p (1 − q) / (q (1 − p)))")
    if random_prob is not None:
        if name not in (None, "grr"):
            raise InputError(f"random-prob is for grr, the protocol that draws from all values, got {name}")
        size = _size(k, "random-prob")
        _probability("random-prob", random_prob, 1.0)
        return _from_grr(1 - random_prob + random_prob / size, size, "ε = ln(1 + k (1 − r) / r)")
    if flip_prob is None:  # what is left, as counted above
        raise InputError(f"give one of {listed(STATED)}")
    if name not in CONVERTED:
        raise InputError(f"flip-prob needs the protocol: one of {listed(CONVERTED)}, got {name or 'none'}")
    if name == "grr":
        size = _size(k, "flip-prob for grr")
        _probability("flip-prob", flip_prob, 1 - 1 / size)
        return _from_grr(1 - flip_prob, size, "ε = ln((1 − x) (k − 1) / x)")
    _probability("flip-prob", flip_prob, 0.5)
    if name == "rappor":
        return _from_bits(1 - flip_prob, flip_prob, "ε = 2 ln((1 − x) / x): another value changes two bits")
    return _from_bits(0.5, flip_prob, "ε = ln((1 − x) / x): one of the two bits that change says nothing of its own")


def _checked(epsilon: float, removal: float | None, how: str, reference: str = "") -> Conversion:
    if not EPSILON_MIN <= epsilon <= EPSILON_MAX:
        raise InputError(f"this states ε = {epsilon:.3g}, outside of {EPSILON_MIN:g} to {EPSILON_MAX:g}")
    return Conversion(epsilon, removal, how, reference)


def _probability(name: str, value: float, below: float) -> None:
    if not 0 < value < below:
        raise InputError(f"{name} must be above 0 and below {below:.6g}, got {value:g}")


def _size(k: int | None, what: str) -> int:
    if k is None:
        raise InputError(f"{what} needs --k, the number of categories")
    return whole(2)("k", k)


def _from_bits(p: float, q: float, how: str) -> Conversion:
    _probability("p", p, 1.0)
    _probability("q", q, 1.0)
    if p <= q:
        raise InputError(f"p must be above q, got p={p:g} and q={q:g}")
    one, zero = math.log(p / q), math.log((1 - q) / (1 - p))
    return _checked(one + zero, max(one, zero), how, "the report of a vector without any 1")


def _from_grr(p: float, k: int, how: str) -> Conversion:
    q = (1 - p) / (k - 1)
    if q == 0:  # p is 1 in floats
        raise InputError(
            f"this states an ε above {EPSILON_MAX:g}, the largest allowed: a report is never anything else"
        )
    return _checked(
        math.log(p / q), max(math.log(k * p), -math.log(k * q)), how, "a report drawn evenly from all values"
    )
