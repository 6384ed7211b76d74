# {% if example %}
"""Discrete Laplace noise, exactly."""

from draws import below

RATE, UNIT = 1073741824, 1099511627776


# {% endif %}
def noise(entropy):
    """Return z with probability in proportion to exp(-|z| RATE / UNIT), exactly.

    Discrete Laplace noise from whole numbers alone: Canonne, Kamath, Steinke, "The discrete Gaussian for differential
    privacy", NeurIPS 2020, Algorithm 2. Real numbers with noise leak in their last bits (Mironov, CCS 2012).
    """
    while True:
        part = below(UNIT, entropy)
        if not decays(part, UNIT, entropy):
            continue
        whole = 0
        while decays(1, 1, entropy):
            whole += 1
        size = (part + UNIT * whole) // RATE
        minus = below(2, entropy) == 1
        if not (minus and size == 0):  # else 0 would be drawn twice as often
            return -size if minus else size


def decays(numerator, denominator, entropy):
    """Return True with probability exp(-numerator / denominator), for a fraction of at most 1 (Algorithm 1 there)."""
    draws = 1
    while below(denominator * draws, entropy) < numerator:
        draws += 1
    return draws % 2 == 1
