"""The normal distribution, in the precision of the features."""

from __future__ import annotations

import math

import numpy as np

from simulator._types import RealArray

SINGLE = np.float32  # the precision of the features that the model was fitted to
DENSITY = SINGLE(1 / math.sqrt(2 * math.pi))  # of a standard normal variable at 0


def normal(x: RealArray) -> tuple[RealArray, RealArray]:
    """Return the normal distribution function, to 2e-5, and the density.

    Half of 1 and a hyperbolic tangent; the coefficients are those of the least largest error.
    """
    density = x * x
    squares = np.minimum(density, 49)  # further out the polynomial falls
    below = squares * SINGLE(-3.15807e-4)
    below += SINGLE(3.679826e-2)
    below *= squares
    below += SINGLE(0.7977178)
    below *= x
    np.tanh(below, out=below)
    below += 1
    below *= SINGLE(0.5)
    density *= SINGLE(-0.5)
    np.exp(density, out=density)
    density *= DENSITY
    return below, density
