# {% extends "client.py" %}
"""Projective geometry response: a client for seven values at epsilon = 1."""

from draws import below, chance

K = 7
ORDER = 2
DIMENSION = 3
SYMBOLS = 7
STRIDE = 4
OWN = 12376162889966204874
PRIME, POWERS = 2, [1]  # where ORDER is a power of PRIME


# {% block own %}
# {% if field == "power_field" %}
LOGS = {element: exponent for exponent, element in enumerate(POWERS)}


def add(a, b):
    """Return the sum of two elements of the field of ORDER elements: digit by digit modulo PRIME."""
    result, place = 0, 1
    while a or b:
        result += (a + b) % PRIME * place
        a, b, place = a // PRIME, b // PRIME, place * PRIME
    return result


def times(a, b):
    """Return the product of two elements."""
    return POWERS[(LOGS[a] + LOGS[b]) % (ORDER - 1)] if a and b else 0


def negative(a):
    """Return what added to an element makes 0: PRIME - 1 times the element."""
    return times(a, PRIME - 1)


def inverse(a):
    """Return what multiplied by an element other than 0 makes 1."""
    return POWERS[-LOGS[a] % (ORDER - 1)]


# {% else %}
def add(a, b):
    """Return the sum of two elements of the field of ORDER elements: numbers modulo a prime."""
    return (a + b) % ORDER


def times(a, b):
    """Return the product of two elements."""
    return a * b % ORDER


def negative(a):
    """Return what added to an element makes 0."""
    return -a % ORDER


def inverse(a):
    """Return what multiplied by an element other than 0 makes 1."""
    return pow(a, -1, ORDER)


# {% endif %}
def randomised(value, entropy):
    """Return a point: one on the value's hyperplane, or one that is not; all of a kind equally likely."""
    own = coordinates(value * STRIDE % K)
    if not chance(OWN, entropy):
        while True:
            point = below(SYMBOLS, entropy)
            if product(coordinates(point), own):
                return point
    lead = own.index(1)  # the first coordinate of `own` that is not 0 is 1
    while True:
        drawn = [0 if at == lead else below(ORDER, entropy) for at in range(DIMENSION)]
        drawn[lead] = negative(product(drawn, own))  # now the product is 0: `drawn` is on the hyperplane
        if any(drawn):  # the zero vector is no point
            return point_of(drawn)


def product(a, b):
    """Return the inner product of two vectors."""
    result = 0
    for at in range(DIMENSION):
        result = add(result, times(a[at], b[at]))
    return result


def coordinates(point):
    """Return the vector of a point: zeros, a 1, and what is left of its number in base ORDER."""
    free, rest = 0, point
    while rest >= ORDER**free:
        rest -= ORDER**free
        free += 1
    return [0] * (DIMENSION - 1 - free) + [1] + [rest // ORDER**place % ORDER for place in range(free - 1, -1, -1)]


def point_of(vector):
    """Return the number of the point of a vector, which is divided by its first coordinate that is not 0."""
    lead = next(at for at in range(DIMENSION) if vector[at])
    factor, number, before = inverse(vector[lead]), 0, 0
    for place, coordinate in enumerate(vector[lead + 1 :]):
        number = number * ORDER + times(coordinate, factor)
        before += ORDER**place
    return before + number


def line(number):
    """Return a report as a line of text."""
    return str(number)


# {% endblock %}
