# {% extends "client.py" %}
"""Local hashing (OLH, BLH): a client of OLH for four values at epsilon = 1."""

from draws import below, chance
from mix64 import hashed

K = 4
G = 4
OWN = 8768971294881393556


# {% block own %}
# {% include hash ~ ".py" %}


def randomised(value, entropy):
    """Return a symbol, and the seed of a hash function: that symbol is the value's, or any other."""
    seed = below(2**32, entropy)  # does not depend on the value
    symbol = hashed(value, seed)
    if not chance(OWN, entropy):
        other = below(G - 1, entropy)
        symbol = other + (other >= symbol)
    return symbol, seed


def line(pair):
    """Return a report as a line of text: seed and symbol."""
    symbol, seed = pair
    return f"{seed},{symbol}"


# {% endblock %}
