# {% if example %}
"""The hash of local hashing, mix64."""

G = 4


# {% endif %}
def hashed(value, seed):
    """Return the symbol of a value: SplitMix64's finaliser of seed and value. Public, no secret in it."""
    mask = 2**64 - 1
    x = ((seed << 32 | value) * 0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03) & mask
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & mask
    x = (x ^ x >> 27) * 0x94D049BB133111EB & mask
    return (x ^ x >> 31) % G
