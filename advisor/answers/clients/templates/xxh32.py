# {% if example %}
"""The hash of local hashing of other packages, xxHash32."""

G = 4


# {% endif %}
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
