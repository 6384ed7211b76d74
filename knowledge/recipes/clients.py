"""Clients in Python: how each protocol randomises, and how its report is written as a line."""

from __future__ import annotations

from knowledge.recipes.client_parts import MIX64, ONE_NUMBER, XXH32

GRR = f'''\
def randomised(value, entropy):
    """Return the value, or any other one, all of these equally likely."""
    if chance(OWN, entropy):
        return value
    other = below(K - 1, entropy)
    return other + (other >= value)  # numbers from the own one on move up: it is left out


{ONE_NUMBER}'''

BITS = '''\
def randomised(value, entropy):
    """Return K bits, each drawn by itself: the own one is more often 1 than the others."""
    return [int(chance(OWN if v == value else OTHER, entropy)) for v in range(K)]


def line(bits):
    """Return a report as a line of text: K characters 0 and 1."""
    return "".join(map(str, bits))
'''

HASHING = '''\
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
'''

SUBSET = '''\
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
'''

HADAMARD = f'''\
def randomised(value, entropy):
    """Return a symbol: one that supports the value, or one that does not; all of a kind equally likely."""
    if chance(OWN, entropy):
        row = 1 + value // BLOCKS
        column = below(BLOCK_SIZE, entropy)
        if odd(column & row):
            column ^= row & -row  # the lowest bit of the row: maps columns with -1 to columns with 1, one to one
        return value % BLOCKS * BLOCK_SIZE + column
    while True:
        symbol = below(BLOCKS * BLOCK_SIZE, entropy)
        if not supports(symbol, value):
            return symbol


def supports(symbol, value):
    """Tell whether a symbol is in the value's block, and the value's row has a 1 in its column."""
    block, column = divmod(symbol, BLOCK_SIZE)
    return block == value % BLOCKS and not odd(column & (1 + value // BLOCKS))


def odd(number):
    """Tell whether a number has an odd number of bits that are 1."""
    return bin(number).count("1") % 2 == 1


{ONE_NUMBER}'''

PROJECTIVE = f'''\
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


{ONE_NUMBER}'''

SQUARE_WAVE = f'''\
def randomised(value, entropy):
    """Return a place near the value's, or any other one; all of a kind equally likely."""
    if chance(OWN, entropy):
        return value + below(WIDTH, entropy)
    other = below(K - 1, entropy)
    return other if other < value else other + WIDTH  # places after the near ones move up


{ONE_NUMBER}'''

TREE = '''\
def randomised(value, entropy):
    """Return a height and a bit for each node there, then zeros: K + 1 numbers."""
    height = __HEIGHT__
    node, nodes = value >> height, NODES[height]
    if OWN[height]:  # few nodes: one of them is reported
        if not chance(OWN[height], entropy):
            other = below(nodes - 1, entropy)
            node = other + (other >= node)
        bits = [int(at == node) for at in range(nodes)]
    else:  # many: each bit is drawn by itself
        bits = [int(chance(2**63 if at == node else OTHER, entropy)) for at in range(nodes)]
    return [height, *bits, *[0] * (K - nodes)]


def line(numbers):
    """Return a report as a line of text: height, and the node, or a character 0 or 1 for each node."""
    height, bits = numbers[0], numbers[1 : 1 + NODES[numbers[0]]]
    return f"{height},{bits.index(1) if OWN[height] else ''.join(map(str, bits))}"
'''

ANY_HEIGHT = "below(len(NODES), entropy)  # does not depend on the value"

LEAVES_FIRST = "0 if chance(2**63, entropy) else below(len(NODES), entropy)  # does not depend on the value"

HAAR = f'''\
def randomised(value, entropy):
    """Return a symbol: height, row, and a bit, which is the value's there or the other one."""
    at = below(len(ROWS), entropy)  # height less 1; neither it nor the row depend on the value
    row = below(ROWS[at], entropy)
    right = value >> at & 1  # whether the value is in the right half of its node
    bit = 1 - (bin(row & value >> at + 1).count("1") + right) % 2
    if not chance(OWN, entropy):
        bit = 1 - bit
    return STARTS[at] + 2 * row + bit


{ONE_NUMBER}'''

SUMMATION = '''\
def randomised(value, entropy):
    """Return K whole numbers: GRID for the own cell and 0 for the others, each with noise of its own."""
    return [GRID * (v == value) + noise(entropy) for v in range(K)]


def noise(entropy):
    """Return z with probability in proportion to exp(-|z| RATE / UNIT), exactly.

    Discrete Laplace noise from whole numbers alone: Canonne, Kamath, Steinke, "The discrete Gaussian for differential
    privacy", NeurIPS 2020, Algorithm 2. Real numbers with noise leak in their last bits (Mironov, CCS 2012).
    """
    while True:
        part = below(UNIT, entropy)
        if not decays(part, UNIT, entropy):
            continue
        whole = 0
        while decays(1, 1, entropy):
            whole += 1
        size = (part + UNIT * whole) // RATE
        minus = below(2, entropy) == 1
        if not (minus and size == 0):  # else 0 would be drawn twice as often
            return -size if minus else size


def decays(numerator, denominator, entropy):
    """Return True with probability exp(-numerator / denominator), for a fraction of at most 1 (Algorithm 1 there)."""
    draws = 1
    while below(denominator * draws, entropy) < numerator:
        draws += 1
    return draws % 2 == 1


def line(cells):
    """Return a report as a line of text: K whole numbers with commas between them."""
    return ",".join(map(str, cells))
'''

BODIES = {
    "grr": GRR, "rappor": BITS, "oue": BITS, "the": BITS, "blh": HASHING, "olh": HASHING, "ss": SUBSET,
    "she": SUMMATION, "hr": HADAMARD, "pgr": PROJECTIVE, "tree": TREE.replace("__HEIGHT__", ANY_HEIGHT),
    "tree_half": TREE.replace("__HEIGHT__", LEAVES_FIRST), "sw": SQUARE_WAVE, "haar_hrr": HAAR,
}  # fmt: skip

HASHED = {"mix64": MIX64, "xxh32": XXH32}
