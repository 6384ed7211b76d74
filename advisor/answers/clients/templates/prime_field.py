# {% if example %}
"""A field of ORDER elements, a prime."""

ORDER = 2


# {% endif %}
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
