# {% extends "client.py" %}
"""Generalised randomised response: a client for four values at epsilon = 1."""

from draws import below, chance

K = 4
OWN = 8768971294881393556


# {% block own %}
def randomised(value, entropy):
    """Return the value, or any other one, all of these equally likely."""
    if chance(OWN, entropy):
        return value
    other = below(K - 1, entropy)
    return other + (other >= value)  # numbers from the own one on move up: it is left out


def line(number):
    """Return a report as a line of text."""
    return str(number)


# {% endblock %}
