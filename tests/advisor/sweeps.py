"""A sweep that takes no time."""

from functools import cache

from advisor import Simulation
from advisor.api.sweep import sweep

SMALL = {
    "eps": [0.5, 2.0],
    "n": [1000, 10_000],
    "k": [6, 12],
    "protocol": ["grr", "oue"],
    "method": ["norm_sub", "none", "power"],
    "simulation": Simulation(repetitions=10),
}
MENU = "-p grr -p oue --method none,norm_sub,power --reps 5 --jobs 1"
WORDS = tuple(f"sweep --eps 0.5,2 --n 1e3,1e4 --k 6 {MENU}".split())


@cache
def whole():
    return sweep(**SMALL)


def small(**more):
    return sweep(**(SMALL | more)) if more else whole()
