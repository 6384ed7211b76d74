"""What a budget means, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from advisor.checks import budget, whole
from advisor.figures import number, percent
from advisor.names import protocol_in_full, resolve
from knowledge.deployments import Deployment, nearest
from simulator import PROTOCOLS


@dataclass(frozen=True)
class Meaning:
    """What an ε means."""

    epsilon: float
    # k, protocol: number of categories and protocol, where they are known
    k: int | None
    protocol: str | None
    odds: float  # e^ε: by how much a report can at most move the odds between two values
    # best_guess, prior: largest probability with which a guess from one report is right, whatever the protocol, and the
    # probability without a report (all values equally likely): e^ε / (e^ε + k − 1) and 1/k
    best_guess: float
    prior: float
    protocol_guess: float | None  # the same for the protocol at hand
    flip_probability: float  # how often a yes/no answer would have to be flipped: 1 / (1 + e^ε)
    deployments: tuple[Deployment, ...]  # the two nearest known deployments


def meaning(epsilon: float, k: int | None = None, protocol: str | None = None, guess: float | None = None) -> Meaning:
    """Return what an ε means; without `k`, for a yes/no question.

    `guess` is the success of the best guess where the protocol is not as this tool would set it up for that ε.

    Raises InputError if epsilon, k or the protocol is wrong.

    Examples
    --------
    >>> yes_no = meaning(1.0, k=2)
    >>> round(yes_no.odds, 2), round(yes_no.best_guess, 3), round(yes_no.flip_probability, 3)
    (2.72, 0.731, 0.269)
    """
    checked = budget("eps", epsilon)
    size = 2 if k is None else whole(2)("k", k)
    name = None if protocol is None else resolve("protocol", protocol)
    if guess is None and name is not None and k is not None:
        guess = PROTOCOLS[name](size, checked).attack_success
    return Meaning(
        epsilon=checked,
        k=k,
        protocol=name,
        odds=math.exp(checked),
        best_guess=1 / (1 + (size - 1) * math.exp(-checked)),
        prior=1 / size,
        protocol_guess=guess,
        flip_probability=1 / (1 + math.exp(checked)),
        deployments=nearest(checked),
    )


def meaning_sentences(meaning: Meaning) -> list[str]:
    """Return what an ε means, in sentences."""
    size = 2 if meaning.k is None else meaning.k
    question = "a yes/no question" if size == 2 else f"{size:,} equally likely values"
    lines = [
        f"ε = {meaning.epsilon:.4g}: a report moves the odds between any two values by a factor of at most "
        f"{number(meaning.odds, 3)} (e^ε).",
        f"From one report an attacker guesses one of {question} right in at most {percent(meaning.best_guess)} of "
        f"cases; without it in {percent(meaning.prior)}."
        if size > 2
        else f"From one report an attacker guesses the answer to {question} right in at most "
        f"{percent(meaning.best_guess)} of cases; without it in 50 %.",
    ]
    if meaning.protocol is not None and meaning.protocol_guess is not None:
        guess = percent(meaning.protocol_guess)
        lines.append(f"With {protocol_in_full(meaning.protocol)} the best guess is right in {guess} of cases.")
    lines.append(f"It is as private as flipping a yes/no answer with probability {percent(meaning.flip_probability)}.")
    near = "; ".join(f"{one.name} (ε = {one.epsilon:g} per {one.unit})" for one in meaning.deployments)
    nearest = f"Nearest known deployments: {near}. " if near else ""
    lines.append(f"{nearest}Budgets of several reports of one user add up.")
    return lines
