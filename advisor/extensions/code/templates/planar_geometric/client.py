# {% extends "client.py" %}
"""Planar geometric mechanism: a client for 2x2 cells, Manhattan distance, at epsilon = 1 within 1024 cells."""

from cells import COLUMNS, ROWS, K, line, moved
from noise import RATE, UNIT, decays, noise

FALL = 1073741824


# {% block own %}
def randomised(cell, entropy):
    """Return the cell that noise leads to."""
    return moved(cell, *offset(entropy))


def offset(entropy):
    """Return rows and columns of noise, with probability in proportion to exp(-cost / UNIT), exactly.

    Noise of rows and of columns, each on its own, falls no faster than that; the rest of the fall is by rejection.
    """
    while True:
        down, across = noise(entropy), noise(entropy)
        whole, part = divmod(cost(down, across) - (abs(down) + abs(across)) * RATE, UNIT)
        if all(decays(1, 1, entropy) for _ in range(whole)) and decays(part, UNIT, entropy):
            return down, across


def cost(down, across):
    """Return FALL times the distance as a whole number, rounded up."""
    # {% if collection.cells.places.ground == "manhattan" %}
    return FALL * (abs(down) + abs(across))
    # {% else %}
    square = FALL**2 * (down**2 + across**2)
    root = square
    while root**2 > square:  # Newton's method from above, in whole numbers
        root = (root + square // root) // 2
    return root + (root**2 < square)
    # {% endif %}


# {% include "noise.py" %}


# {% include "cells.py" %}


# {% endblock %}
