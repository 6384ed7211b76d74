"""Parts of clients in Python that several protocols share: drawing, answers, hashes, finite fields."""

from __future__ import annotations

COMMON = '''\
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


'''

PUBLIC = '''\
def report(answer, entropy=secrets.token_bytes):
    """Return the line to send for an answer: the only thing that may leave the device.

    entropy: returns so many random bytes. Leave it out: other sources are for tests alone.
    """
    return line(randomised(number_of(answer), entropy))


def number_of(answer):
    """Return the number of an answer; ValueError for what is no answer."""
__NUMBER__


'''

NUMBER = """\
    if isinstance(answer, bool) or not isinstance(answer, int) or not 0 <= answer < K:
        raise ValueError(f"an answer is a whole number from 0 to {K - 1}")
    return answer"""

LABEL = """\
    if answer not in LABELS:
        raise ValueError(f"an answer is one of the {K} labels")
    return LABELS.index(answer)"""

AUDITED = '''\


def audited(value, k, epsilon):
    """Return the report of a value as `ldp-advise audit` reads it; nothing else needs this."""
    if (k, epsilon) != (K, EPSILON):
        raise ValueError(f"this client was made for k = {K} and epsilon = {EPSILON}")
    return __AUDITED__
'''

AS_IT_IS = "randomised(value, secrets.token_bytes)"

SHE_AUDITED = "[cell / GRID for cell in randomised(value, secrets.token_bytes)]"

ONE_NUMBER = '''\
def line(number):
    """Return a report as a line of text."""
    return str(number)
'''

MIX64 = '''\
def hashed(value, seed):
    """Return the symbol of a value: SplitMix64's finaliser of seed and value. Public, no secret in it."""
    mask = 2**64 - 1
    x = ((seed << 32 | value) * 0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03) & mask
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & mask
    x = (x ^ x >> 27) * 0x94D049BB133111EB & mask
    return (x ^ x >> 31) % G


'''

XXH32 = '''\
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


'''

PRIME_FIELD = '''\
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


'''

POWER_FIELD = '''\
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


'''
