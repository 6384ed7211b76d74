"""ε in words, and ε from what other systems state instead.

Two conventions are in use for ε. *Replacement*: a report is compared with that of the same user holding another value;
this is what the rest of this tool means by ε. *Removal*: it is compared with a report that holds no value at all
(Erlingsson et al., "Encode, shuffle, analyze privacy revisited", 2020); never above the first, and for unary encodings
of symmetric noise just half of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from advisor.errors import InputError, listed
from advisor.names import resolve
from advisor.question.request import check_epsilon, check_whole
from advisor.rank.words import number, percent
from knowledge.deployments import Deployment, nearest
from simulator import PROTOCOLS
from simulator.protocols import EPSILON_MAX, EPSILON_MIN

CONVERTED = ("grr", "rappor", "oue")
STATED = ("--eps", "--flip-prob", "--random-prob", "--odds", "--p and --q")


@dataclass(frozen=True)
class Converted:
    """An ε and where it comes from.

    Attributes
    ----------
    epsilon
        By replacement: what the rest of the tool means by ε.
    removal
        By removal; None where it is not defined for what was stated.
    how
        The formula that led here.
    reference
        What a report without a value is, for the removal convention.
    """

    epsilon: float
    removal: float | None
    how: str
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
) -> Converted:
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
        return Converted(check_epsilon(epsilon), None, "as given")
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


def _checked(epsilon: float, removal: float | None, how: str, reference: str = "") -> Converted:
    if not EPSILON_MIN <= epsilon <= EPSILON_MAX:
        raise InputError(f"this states ε = {epsilon:.3g}, outside of {EPSILON_MIN:g} to {EPSILON_MAX:g}")
    return Converted(epsilon, removal, how, reference)


def _probability(name: str, value: float, below: float) -> None:
    if not 0 < value < below:
        raise InputError(f"{name} must be above 0 and below {below:.6g}, got {value:g}")


def _size(k: int | None, what: str) -> int:
    if k is None:
        raise InputError(f"{what} needs --k, the number of categories")
    return check_whole("k", k, 2)


def _from_bits(p: float, q: float, how: str) -> Converted:
    _probability("p", p, 1.0)
    _probability("q", q, 1.0)
    if p <= q:
        raise InputError(f"p must be above q, got p={p:g} and q={q:g}")
    one, zero = math.log(p / q), math.log((1 - q) / (1 - p))
    return _checked(one + zero, max(one, zero), how, "the report of a vector without any 1")


def _from_grr(p: float, k: int, how: str) -> Converted:
    q = (1 - p) / (k - 1)
    return _checked(
        math.log(p / q), max(math.log(k * p), -math.log(k * q)), how, "a report drawn evenly from all values"
    )


@dataclass(frozen=True)
class InWords:
    """What an ε means.

    Attributes
    ----------
    epsilon, k, protocol
        The budget; number of categories and protocol, where they are known.
    odds
        e^ε: by how much a report can at most move the odds between two values.
    best_guess, prior
        Largest probability with which a guess from one report is right, whatever the protocol, and the probability
        without a report (all values equally likely): e^ε / (e^ε + k − 1) and 1/k.
    protocol_guess
        The same for the protocol at hand.
    flip_probability
        How often an answer of yes or no would have to be turned round: 1 / (1 + e^ε).
    deployments
        The two nearest known deployments.
    """

    epsilon: float
    k: int | None
    protocol: str | None
    odds: float
    best_guess: float
    prior: float
    protocol_guess: float | None
    flip_probability: float
    deployments: tuple[Deployment, ...]


def in_words(epsilon: float, k: int | None = None, protocol: str | None = None) -> InWords:
    """Return what an ε means; without `k`, for a question of yes or no.

    Raises
    ------
    InputError
        If epsilon, k or the protocol is wrong.

    Examples
    --------
    >>> meaning = in_words(1.0, k=2)
    >>> round(meaning.odds, 2), round(meaning.best_guess, 3), round(meaning.flip_probability, 3)
    (2.72, 0.731, 0.269)
    """
    checked = check_epsilon(epsilon)
    size = 2 if k is None else check_whole("k", k, 2)
    name = None if protocol is None else resolve("protocol", protocol)
    return InWords(
        epsilon=checked,
        k=k,
        protocol=name,
        odds=math.exp(checked),
        best_guess=1 / (1 + (size - 1) * math.exp(-checked)),
        prior=1 / size,
        protocol_guess=None if name is None or k is None else PROTOCOLS[name](size, checked).attack_success,
        flip_probability=1 / (1 + math.exp(checked)),
        deployments=nearest(checked),
    )


def sentences(meaning: InWords) -> list[str]:
    """Return what an ε means, in sentences."""
    size = 2 if meaning.k is None else meaning.k
    asked = "a question of yes or no" if size == 2 else f"{size:,} equally likely values"
    lines = [
        f"ε = {meaning.epsilon:.4g}: a report moves the odds between any two values by a factor of at most "
        f"{number(meaning.odds, 3)} (e^ε).",
        f"From one report an attacker guesses one of {asked} right in at most {percent(meaning.best_guess)} of cases; "
        f"without it in {percent(meaning.prior)}."
        if size > 2
        else f"From one report an attacker guesses the answer to {asked} right in at most "
        f"{percent(meaning.best_guess)} of cases; without it in 50 %.",
    ]
    if meaning.protocol_guess is not None:
        lines.append(f"With {meaning.protocol} it is {percent(meaning.protocol_guess)}.")
    lines.append(
        "It is as private as turning an answer of yes or no round with probability "
        f"{percent(meaning.flip_probability)}."
    )
    near = "; ".join(f"{one.name} (ε = {one.epsilon:g} per {one.unit})" for one in meaning.deployments)
    lines.append(f"Nearest known deployments: {near}. Budgets of several reports of one user add up.")
    return lines
