# {% extends "client.py" %}
"""Summation with histogram encoding: a client for two values at epsilon = 1."""

from noise import RATE, UNIT, noise

K = 2
GRID = 512


# {% block own %}
def randomised(value, entropy):
    """Return K whole numbers: GRID for the own cell and 0 for the others, each with noise of its own."""
    return [GRID * (v == value) + noise(entropy) for v in range(K)]


# {% include "noise.py" %}


def line(cells):
    """Return a report as a line of text: K whole numbers with commas between them."""
    return ",".join(map(str, cells))


# {% endblock %}
