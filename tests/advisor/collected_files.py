"""What was collected, as the files that the commands read: an estimate, or reports."""

import numpy as np

from simulator import PROTOCOLS
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for

K, N, EPSILON = 8, 3000, 1.0
QUICK = ("--eps", "1", "--reps", "4", "--method", "norm_sub", "--method", "none")
COUNTS = apportion(frequencies("zipf", K), N)


def raw(protocol="oue"):
    oracle = PROTOCOLS[protocol](K, EPSILON)
    return oracle.estimate(oracle.sample_support(COUNTS, rng_for(0, "tests", "cli estimate", protocol)), N)


def estimate_text(values, header="value,estimate\n"):
    return header + "".join(f"{place},{value!r}\n" for place, value in enumerate(values.tolist()))


def reports(protocol):
    """Reports as users send them."""
    return PROTOCOLS[protocol](K, EPSILON).perturb(
        np.repeat(np.arange(K), COUNTS), rng_for(0, "tests", "cli reports", protocol)
    )


def report_lines(protocol, made):
    if protocol == "grr":
        return "".join(f"{value}\n" for value in made.tolist())
    separator = "" if protocol == "oue" else ","
    return "".join(separator.join(str(int(cell)) for cell in row) + "\n" for row in made)
