# {% if example %}
"""A field of ORDER elements, a power of a prime."""

PRIME, ORDER, POWERS = 2, 4, [1, 2, 3]


# {% endif %}
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
