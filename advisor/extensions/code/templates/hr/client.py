# {% extends "client.py" %}
"""Hadamard response: a client for five values at epsilon = 1."""

from draws import below, chance

K = 5
BLOCKS = 2
BLOCK_SIZE = 4
OWN = 8768971294881393556


# {% block own %}
def randomised(value, entropy):
    """Return a symbol: one that supports the value, or one that does not; all of a kind equally likely."""
    if chance(OWN, entropy):
        row = 1 + value // BLOCKS
        column = below(BLOCK_SIZE, entropy)
        if odd(column & row):
            column ^= row & -row  # the lowest bit of the row: maps columns with -1 to columns with 1, one to one
        return value % BLOCKS * BLOCK_SIZE + column
    while True:
        symbol = below(BLOCKS * BLOCK_SIZE, entropy)
        if not supports(symbol, value):
            return symbol


def supports(symbol, value):
    """Tell whether a symbol is in the value's block, and the value's row has a 1 in its column."""
    block, column = divmod(symbol, BLOCK_SIZE)
    return block == value % BLOCKS and not odd(column & (1 + value // BLOCKS))


def odd(number):
    """Tell whether a number has an odd number of bits that are 1."""
    return bin(number).count("1") % 2 == 1


def line(number):
    """Return a report as a line of text."""
    return str(number)


# {% endblock %}
