# {% extends "client.py" %}
"""Haar wavelet with Hadamard response: a client for four values at epsilon = 1."""

from draws import below, chance

K = 4
ROWS = [2, 1]
STARTS = [0, 4]
OWN = 13485650502877570762


# {% block own %}
def randomised(value, entropy):
    """Return a symbol: height, row, and a bit, which is the value's there or the other one."""
    at = below(len(ROWS), entropy)  # height less 1; neither it nor the row depend on the value
    row = below(ROWS[at], entropy)
    right = value >> at & 1  # whether the value is in the right half of its node
    bit = 1 - (bin(row & value >> at + 1).count("1") + right) % 2
    if not chance(OWN, entropy):
        bit = 1 - bit
    return STARTS[at] + 2 * row + bit


def line(number):
    """Return a report as a line of text."""
    return str(number)


# {% endblock %}
