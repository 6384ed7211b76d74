# {% extends "client.py" %}
"""Local hashing (OLH, BLH): a client of OLH for four values at epsilon = 1."""

from draws import below, chance

K = 4
G = 4
OWN = 8768971294881393556


# {% block own %}
# {% if collection.hash == "xxh32" %}
def hashed(value, seed):
    """Return the symbol of a value: xxHash32 of its digits. Public, no secret in it."""
    mask, data = 2**32 - 1, str(value).encode()
    x, whole = (seed + 0x165667B1 + len(data)) & mask, len(data) // 4 * 4
    for start in range(0, whole, 4):
        x = (x + int.from_bytes(data[start : start + 4], "little") * 0xC2B2AE3D) & mask
        x = (x << 17 | x >> 15) * 0x27D4EB2F & mask
    for byte in data[whole:]:
        x = (x + byte * 0x165667B1) & mask
        x = (x << 11 | x >> 21) * 0x9E3779B1 & mask
    x = (x ^ x >> 15) * 0x85EBCA77 & mask
    x = (x ^ x >> 13) * 0xC2B2AE3D & mask
    return (x ^ x >> 16) % G


# {% else %}
def hashed(value, seed):
    """Return the symbol of a value: SplitMix64's finaliser of seed and value. Public, no secret in it."""
    mask = 2**64 - 1
    x = ((seed << 32 | value) * 0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03) & mask
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & mask
    x = (x ^ x >> 27) * 0x94D049BB133111EB & mask
    return (x ^ x >> 31) % G


# {% endif %}
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
