# {% extends "client.py" %}
"""Planar Laplace noise: a client for 2x2 cells, Manhattan distance, at epsilon = 1 for neighbours."""

import math

from cells import COLUMNS, ROWS, K, line, moved
from draws import below, word

RATE = 0.9999999999926605


# {% block own %}
def randomised(cell, entropy):
    """Return the cell that noise leads to from the middle of a cell."""
    return moved(cell, *(math.floor(shift + 0.5) for shift in offset(entropy)))


def offset(entropy):
    """Return rows and columns of planar Laplace noise, real numbers."""
    # {% if collection.cells.places.ground == "manhattan" %}
    return [(1 - 2 * below(2, entropy)) * math.log(share(entropy)) / RATE for _ in range(2)]
    # {% else %}
    angle, distance = 2 * math.pi * (word(entropy) >> 11) / 2**53, radius(share(entropy))
    return distance * math.sin(angle), distance * math.cos(angle)
    # {% endif %}


def share(entropy):
    """Return a number between 0 and 1, small ones with as many digits as large ones."""
    return (word(entropy) + (word(entropy) + 0.5) / 2**64) / 2**64


# {% if collection.cells.places.ground != "manhattan" %}
def radius(tail):
    """Return the distance that noise exceeds with this probability: x / RATE where (1 + x) exp(-x) = tail.

    x is -1 - W(-tail / e) by the branch -1 of Lambert's function; here by Newton's method, from above.
    """
    x, lower = math.inf, 1 - 2 * math.log(tail)
    while lower < x:
        x, lower = lower, lower + (math.log1p(lower) - lower - math.log(tail)) * (1 + lower) / lower
    return x / RATE


# {% endif %}
# {% include "cells.py" %}


# {% endblock %}
