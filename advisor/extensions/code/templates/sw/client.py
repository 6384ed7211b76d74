# {% extends "client.py" %}
"""Square wave: a client for four values at epsilon = 1."""

from draws import below, chance

K = 4
WIDTH = 3
OWN = 13485650502877570762


# {% block own %}
def randomised(value, entropy):
    """Return a place near the value's, or any other one; all of a kind equally likely."""
    if chance(OWN, entropy):
        return value + below(WIDTH, entropy)
    other = below(K - 1, entropy)
    return other if other < value else other + WIDTH  # places after the near ones move up


def line(number):
    """Return a report as a line of text."""
    return str(number)


# {% endblock %}
