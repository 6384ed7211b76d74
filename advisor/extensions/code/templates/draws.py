# {% if example %}
"""Exact draws from random bytes, which all clients share."""


# {% endif %}
def word(entropy):
    """Return a uniform whole number below 2^64."""
    return int.from_bytes(entropy(8), "big")


def below(n, entropy):
    """Return a uniform whole number below n: what would favour small ones is drawn again."""
    limit = 2**64 - 2**64 % n
    while True:
        drawn = word(entropy)
        if drawn < limit:
            return drawn % n


def chance(threshold, entropy):
    """Return True with probability threshold / 2^64, exactly: no floating point is involved."""
    return word(entropy) < threshold
