"""ε from the parameters that other systems state.

Two conventions for ε are in use. *Replacement*: a report is compared with the report of the same user with another
value; the rest of this tool uses this convention. *Removal*: a report is compared with a report without a value
(Erlingsson et al., "Encode, shuffle, analyze privacy revisited", 2020). ε by removal is never larger than ε by
replacement; for unary encodings with symmetric noise it is half of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from advisor.checks import budget, real, whole
from advisor.errors import InputError, listed
from advisor.members.names import resolve
from advisor.question.option import Settings, option
from knowledge.deployments import DEPLOYMENTS
from simulator.attacks import independent_support_attack
from simulator.protocols import EPSILON_MAX, EPSILON_MIN
from simulator.protocols.grr import forced_budget

FLIPPED = ("grr", "rappor", "oue")
BITS = ("rappor", "oue", "the")
HASHES = ("blh", "olh")
STATED = ("--eps", "--flip-prob", "--random-prob", "--odds", "--p and --q")
ROUNDING = 0.01  # tolerance for stated probabilities, relative to those of the protocol: people round them


@dataclass(frozen=True, kw_only=True)
class Statement(Settings):
    """The parameters that a system states instead of ε."""

    panel: ClassVar[str] = "Instead of --eps"

    flip_prob: float | None = option(
        "--flip-prob", read=real(), metavar="X", help="probability that a bit (grr: the value) is reported wrong"
    )
    random_prob: float | None = option(
        "--random-prob", read=real(), metavar="R", help="grr: probability of a value drawn evenly from all"
    )
    odds: float | None = option(
        "--odds", read=real(), metavar="X", help="largest ratio of the probabilities of a report"
    )
    p: float | None = option(
        "--p", read=real(), metavar="P", help="probability that a report supports (bits: has a 1 for) the own value"
    )
    q: float | None = option("--q", read=real(), metavar="Q", help="the same for any other value")


@dataclass(frozen=True)
class Conversion:
    """An ε and where it comes from."""

    epsilon: float  # by replacement, the convention of this tool
    removal: float | None  # by removal; None if it is not defined for the stated parameters
    formula: str  # the formula of the conversion
    reference: str = ""  # the report without a value, for the removal convention
    guess: float | None = None  # success of the best guess from a report, if p and q of a protocol were stated


def convert(
    statement: Statement, *, epsilon: float | None = None, protocol: str | None = None, k: int | None = None
) -> Conversion:
    """Return the ε of stated parameters; for p and q, the largest log-ratio of the probabilities of a report.

    Raises InputError if no parameter or several alternatives are stated, if a probability is out of range or does not
    fit the protocol, or if protocol or k is missing.

    >>> round(convert(Statement(flip_prob=0.25), protocol="rappor").epsilon, 3)
    2.197
    >>> round(convert(Statement(random_prob=0.0024), k=2925).epsilon, 1)
    14.0
    """
    p, q = statement.p, statement.q
    stated = sum(value is not None for value in (epsilon, statement.flip_prob, statement.random_prob, statement.odds))
    stated += p is not None or q is not None
    if not stated:
        least, most = DEPLOYMENTS[0], DEPLOYMENTS[-1]
        raise InputError(
            f"ε is missing: give --eps, for example --eps 1 (known deployments have {least.epsilon:g}, {least.name}, "
            f"to {most.epsilon:g}, {most.name}; less is more private), or one of {listed(STATED[1:])}"
        )
    if stated > 1:
        raise InputError(f"give one of {listed(STATED)}, got several of them")
    name = None if protocol is None else resolve("protocol", protocol)
    if name is not None and k is None and (epsilon is not None or statement.odds is not None):
        raise InputError(f"--protocol {name} goes with --k here: how well one report is guessed depends on both")
    if epsilon is not None:
        return Conversion(budget("eps", epsilon), None, "as given")
    if statement.odds is not None:
        if statement.odds <= 1:
            raise InputError(f"odds must be a number above 1, got {statement.odds:g}")
        return _checked(math.log(statement.odds), None, "ε = ln(odds)")
    if statement.random_prob is not None:
        if name not in (None, "grr"):
            raise InputError(f"random-prob is for grr, the protocol that draws from all values, got {name}")
        size = _size(k, "random-prob")
        _between("random-prob", statement.random_prob, 0, 1)
        return _from_sets(-_logit(statement.random_prob * (1 - 1 / size)), size, 1, "ε = ln(1 + k (1 − r) / r)")
    if statement.flip_prob is not None:
        return _from_flips(statement.flip_prob, name, k)
    if p is None or q is None:
        raise InputError("p and q go together: the probabilities that a report supports the own value, and another one")
    return _from_supports(p, q, name, k)


def _from_flips(flip: float, name: str | None, k: int | None) -> Conversion:
    if name not in FLIPPED:
        raise InputError(f"flip-prob needs the protocol: one of {listed(FLIPPED)}, got {name or 'none'}")
    if name == "grr":
        size = _size(k, "flip-prob for grr")
        _between("flip-prob", flip, 0, 1 - 1 / size)
        return _from_sets(-_logit(flip), size, 1, "ε = ln((1 − x) (k − 1) / x)")
    _between("flip-prob", flip, 0, 0.5)
    if name == "rappor":
        return _from_bits(-_logit(flip), _logit(flip), "ε = 2 ln((1 − x) / x): another value changes two bits")
    how = "ε = ln((1 − x) / x): one of the two bits that change says nothing of its own"
    return _from_bits(0.0, _logit(flip), how)


def _from_supports(p: float, q: float, name: str | None, k: int | None) -> Conversion:
    """Return the ε of two probabilities: that a report supports the user's value, and that it supports another."""
    _between("p", p, 0, 1)
    _between("q", q, 0, 1)
    if p <= q:
        raise InputError(f"p must be above q, got p={p:g} and q={q:g}")
    guess = None if name is None or k is None else independent_support_attack(k, p, q)
    if name is None or name in BITS:
        expected = {"rappor": 1 - q, "oue": 0.5}.get(name or "", p)
        _fits(
            p, expected, f"p is {'1 − q' if name == 'rappor' else '1/2'} in {name}; leave --protocol out for other bits"
        )
        return _from_bits(_logit(p), _logit(q), "ε = ln(p (1 − q) / (q (1 − p)))", guess)
    if name in HASHES:
        symbols = 2 if name == "blh" else round(1 / q)
        _fits(q, 1 / symbols, f"q is 1/g in {name}, {'g being 2' if name == 'blh' else 'g a whole number of symbols'}")
        return _from_sets(_logit(p), symbols, 1, "ε = ln(p (g − 1) / (1 − p)), g = 1/q", guess, "symbols")
    if name not in ("grr", "ss"):
        raise InputError(
            f"p and q alone do not decide the ε of {name}; they do for {listed(['grr', *BITS, *HASHES, 'ss'])}"
        )
    size = _size(k, f"p and q of {name}")
    if name == "grr" and is_uneven(p, q, size):
        how = "ε = the larger of ln(p / q) and ln((1 − q) / (1 − p))"
        return _checked(forced_budget(p, q), None, how, guess=(1 + p - q) / 2)
    total = p + (size - 1) * q
    values = 1 if name == "grr" else max(1, round(total))
    what = "1" if name == "grr" else "the number of values in a report, a whole number below k"
    _fits(total, values, f"p + (k − 1) q is {what} in {name}")
    if values >= size:
        raise InputError(f"p + (k − 1) q is {what} in {name}, got {total:.4g} with k = {size}")
    how = "ε = ln(p (k − 1) / (1 − p))" if name == "grr" else f"ε = ln(p (k − ω) / (ω (1 − p))), ω = {values}"
    return _from_sets(_logit(p), size, values, how, p / values, "values" if name == "grr" else "sets of ω values")


def is_uneven(p: float, q: float, k: int) -> bool:
    """Return whether p and q are about the first of two answers, forced unevenly, and not alike for both."""
    return k == 2 and abs(p + q - 1) > ROUNDING


def _fits(stated: float, expected: float, why: str) -> None:
    if abs(stated - expected) > ROUNDING * expected:
        raise InputError(f"{why}; got {stated:.4g}")


def _checked(
    epsilon: float, removal: float | None, how: str, reference: str = "", guess: float | None = None
) -> Conversion:
    if not EPSILON_MIN <= epsilon <= EPSILON_MAX:
        raise InputError(f"this states ε = {epsilon:.3g}, outside of {EPSILON_MIN:g} to {EPSILON_MAX:g}")
    return Conversion(epsilon, removal, how, reference, guess)


def _between(name: str, value: float, above: float, below: float) -> None:
    if not above < value < below:
        raise InputError(f"{name} must be above {above:g} and below {below:.6g}, got {value:g}")


def _size(k: int | None, what: str) -> int:
    if k is None:
        raise InputError(f"{what} needs --k, the number of categories")
    return whole(2)("k", k)


def _logit(probability: float) -> float:
    """Return ``ln(x / (1 - x))``; unlike 1 - x, it keeps all digits of very small x."""
    return -math.inf if probability == 0 else math.log(probability) - math.log1p(-probability)


def _log_share(logit: float) -> float:
    """Return ``ln x`` of a logit."""
    return -math.log1p(math.exp(-logit)) if logit > 0 else logit - math.log1p(math.exp(logit))


def _from_bits(own: float, other: float, how: str, guess: float | None = None) -> Conversion:
    """Return the ε of independent bits, from the logits of a 1 in the bit of the user's value and in another bit."""
    ones = _log_share(own) - _log_share(other)
    zeros = _log_share(-other) - _log_share(-own)
    return _checked(own - other, max(ones, zeros), how, "the report of a vector without any 1", guess)


def _from_sets(own: float, k: int, size: int, how: str, guess: float | None = None, what: str = "values") -> Conversion:
    """Return the ε of a uniform draw of `size` of k values; `own` is the logit of p, that it holds the user's value.

    A set with the user's value has probability ``p / C(k-1, size-1)``, a set without it ``(1-p) / C(k-1, size)``.
    """
    within = _log_share(own) + math.log(k / size)
    without = _log_share(-own) + math.log(k / (k - size))
    return _checked(within - without, max(within, -without), how, f"a report drawn evenly from all {what}", guess)
