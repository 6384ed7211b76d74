"""Randomised response without a computer: dice or numbered cards decide whether an answer is the true one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator import PROTOCOLS

MOST_ANSWERS = 12  # above it, the rules no longer fit on a card
DEVICES = {  # what a person does, and how many outcomes that has
    "throws a die": 6,
    "throws a red and a blue die": 36,
    "draws one of 100 numbered cards": 100,
    "turns a spinner of 360 degrees": 360,
}
AS_GOOD = 1.1  # a simpler device is taken if its error is at most so many times the lowest


@dataclass(frozen=True)
class Device:
    """A device with equally likely outcomes 1, 2, ...: the first stand for the true answer, the others name one."""

    name: str
    outcomes: int
    k: int  # number of possible answers
    each: int  # outcomes that name each answer

    @property
    def truth(self) -> int:
        """Number of outcomes on which the true answer is given."""
        return self.outcomes - self.k * self.each

    @property
    def epsilon(self) -> float:
        """The budget: ln((truth + each) / each), that of GRR with the same probabilities."""
        return math.log1p(self.truth / self.each)

    def answer(self, outcome: int, own: int) -> int:
        """Return the answer (0..k-1) that is given on an outcome by a person whose true answer is `own`."""
        return own if outcome <= self.truth else (outcome - self.truth - 1) // self.each

    def error(self, n: int) -> float:
        """Return the mean absolute error of a share in the raw estimate of n people; of even shares."""
        linear = PROTOCOLS["grr"](self.k, self.epsilon).linear
        assert linear is not None  # noqa: S101 - GRR has a raw estimate
        return math.sqrt(2 / math.pi * float(linear.covariance(n).entry(np.full(self.k, 1 / self.k))[0]))


def device_for(k: int, epsilon: float, n: int) -> Device | None:
    """Return the simplest device that keeps a budget and is nearly as exact as the best; None if there is none."""
    if k > MOST_ANSWERS:
        return None
    fair = [Device(name, size, k, math.ceil(size / (math.expm1(epsilon) + k))) for name, size in DEVICES.items()]
    able = [device for device in fair if device.truth > 0]
    least = min((device.error(n) for device in able), default=0.0)
    return next((device for device in able if device.error(n) <= AS_GOOD * least), None)
