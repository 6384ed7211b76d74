# {% extends "client.py" %}
"""Unary encodings (OUE, RAPPOR, THE), one bit for each value: a client of OUE for four values at epsilon = 1."""

from draws import chance

K = 4
OWN = 9223372036854775808
OTHER = 4961093570831980854


# {% block own %}
def randomised(value, entropy):
    """Return K bits, each drawn by itself: the own one is more often 1 than the others."""
    return [int(chance(OWN if v == value else OTHER, entropy)) for v in range(K)]


def line(bits):
    """Return a report as a line of text: K characters 0 and 1."""
    return "".join(map(str, bits))


# {% endblock %}
