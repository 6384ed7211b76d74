# {% extends "client.py" %}
"""Subset selection: a client for four values at epsilon = 1."""

from draws import below, chance

K = 4
OMEGA = 1
OWN = 8768971294881393556


# {% block own %}
def randomised(value, entropy):
    """Return OMEGA different values: the own one and some others, or others alone."""
    if chance(OWN, entropy):
        return sorted([value, *others(OMEGA - 1, value, entropy)])
    return sorted(others(OMEGA, value, entropy))  # sorted: the order of the draws says nothing


def others(size, value, entropy):
    """Return so many values but one, all sets equally likely (Floyd's algorithm)."""
    chosen = set()
    for last in range(K - 1 - size, K - 1):
        drawn = below(last + 1, entropy)
        chosen.add(last if drawn in chosen else drawn)
    return [other + (other >= value) for other in chosen]


def line(values):
    """Return a report as a line of text: the values with commas between them."""
    return ",".join(map(str, values))


# {% endblock %}
