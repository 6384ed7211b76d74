"""Servers with numpy alone, one for each protocol: what a line holds, how it is counted, what is estimated."""

from __future__ import annotations

COMMON = '''\
def whole(text, bound):
    """Return a whole number from 0 to below a bound, or raise ValueError: reports come from strangers."""
    if not (text.isascii() and text.isdigit() and len(text) <= 15 and int(text) < bound):
        raise ValueError(text)
    return int(text)


'''

MAIN = '''\


def collected(lines):
    """Return the counts of all reports, how many they are, and how many lines were none and were left out."""
    counts, n, wrong = np.zeros(CELLS, dtype=np.int64), 0, 0
    for line in lines:
        try:
            add(counts, line.strip())
            n += 1
        except ValueError:
            wrong += 1
    return counts, n, wrong
__IMPROVE__

def main():
    """Read the file of reports that is named, one a line, and print answer and frequency."""
    with open(sys.argv[1], encoding="utf-8", errors="replace") as lines:
        counts, n, wrong = collected(lines)
    if wrong:
        print(f"{wrong} of {n + wrong} lines are no reports, and were left out", file=sys.stderr)
    if n == 0:
        sys.exit("there are no reports")
    rows = csv.writer(sys.stdout)
    try:
        rows.writerow(["answer", "frequency"])
        rows.writerows(zip(LABELS, frequencies(counts, n).tolist()))
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
'''

FREQUENCIES = '''

def frequencies(counts, n):
    """Return the frequencies (K,), __METHOD__."""
__BODY__

'''

VALUE = '''\
def add(counts, line):
    """Count a report: the number of a value."""
    counts[whole(line, K)] += 1


'''

BITS = '''\
def add(counts, line):
    """Count a report: K characters 0 and 1."""
    if len(line) != K or set(line) - {"0", "1"}:
        raise ValueError(line)
    counts += np.frombuffer(line.encode(), dtype=np.uint8) == ord("1")


'''

SUBSET = '''\
def add(counts, line):
    """Count a report: OMEGA different values."""
    values = [whole(text, K) for text in line.split(",")]
    if len(values) != OMEGA or len(set(values)) != OMEGA:
        raise ValueError(line)
    counts[values] += 1


'''

HASHING = '''\
def add(counts, line):
    """Count a report, seed and symbol: it supports all values that the hash function sends to the symbol."""
    seed, symbol = line.split(",")
    seed, symbol = whole(seed, 2**32), whole(symbol, G)
    counts += __HASH__(np.arange(K), np.array([seed]), G) == symbol


'''

SYMBOL = '''\
def add(counts, line):
    """Count a report: the number of a symbol."""
    counts[whole(line, CELLS)] += 1


'''

UNBIASED = '''\
def estimated(counts, n):
    """Return the unbiased estimate (K,) of the frequencies from how often each value was supported."""
    return (counts / n - Q) / (P - Q)
'''

WALSH = '''\
def transformed(x):
    """Return the products (..., m) of vectors with the rows of the m x m Hadamard matrix, m a power of 2."""
    shape, size = x.shape, 1
    while size < shape[-1]:
        pairs = x.reshape(*shape[:-1], -1, 2, size)
        left, right = pairs[..., 0, :], pairs[..., 1, :]
        x = np.stack([left + right, left - right], axis=-2).reshape(shape)
        size *= 2
    return x


'''

HADAMARD = f'''{WALSH}\
def estimated(counts, n):
    """Return the unbiased estimate (K,): reports that support a value less those of its block that do not."""
    products = transformed(counts.reshape(BLOCKS, BLOCK_SIZE))[:, 1:]  # row 0, all ones, stands for no value
    return products.T.reshape(-1)[:K] / n / GAIN
'''

PRIME_PRODUCTS = '''\
def products(vectors, own):
    """Return the inner products of vectors (m, DIMENSION) with one: numbers modulo a prime."""
    return vectors @ own % ORDER


'''

POWER_PRODUCTS = '''\
def products(vectors, own):
    """Return the inner products of vectors (m, DIMENSION) with one, in the field of ORDER elements."""
    logs = np.zeros(ORDER, dtype=np.int64)
    logs[POWERS] = np.arange(ORDER - 1)
    each = np.array(POWERS)[(logs[vectors] + logs[own]) % (ORDER - 1)]
    each[(vectors == 0) | (own == 0)] = 0
    places = PRIME ** np.arange(round(np.log(ORDER) / np.log(PRIME)))
    digits = each[..., None] // places % PRIME  # elements are added digit by digit
    return digits.sum(axis=1) % PRIME @ places


'''

PROJECTIVE = '''\
def coordinates(points):
    """Return the vectors (m, DIMENSION) of points (m,): zeros, a 1, and what is left of the number in base ORDER."""
    starts = np.cumsum([0] + [ORDER**free for free in range(DIMENSION)])
    free = np.searchsorted(starts, points, side="right") - 1
    spelled = points - starts[free] + ORDER**free
    return spelled[:, None] // ORDER ** np.arange(DIMENSION - 1, -1, -1) % ORDER


def estimated(counts, n):
    """Return the unbiased estimate (K,): a report supports the values whose vectors its own is orthogonal to."""
    reported = np.flatnonzero(counts)
    vectors, of_values = coordinates(reported), coordinates(np.arange(K) * STRIDE % K)
    support = np.array([counts[reported[products(vectors, own) == 0]].sum() for own in of_values])
    return (support / n - Q) / (P - Q)
'''

SUMMATION = '''\
def cell(text):
    """Return a cell of a report: a whole number, no further out than an honest one ever is (odds of e^60)."""
    minus = text.startswith("-")
    size = whole(text[minus:], LIMIT)
    return -size if minus else size


def add(counts, line):
    """Count a report: K cells."""
    cells = [cell(text) for text in line.split(",")]
    if len(cells) != K:
        raise ValueError(line)
    counts += cells


def estimated(counts, n):
    """Return the unbiased estimate (K,): the mean of the cells."""
    return counts / GRID / n
'''

DYADIC = '''\
def halves(nodes):
    """Return left and right halves of the nodes one height up; a half that is missing counts as 0."""
    nodes = np.append(nodes, np.zeros(len(nodes) % 2))
    return nodes[0::2], nodes[1::2]


def rebuilt(differences):
    """Return the frequencies (K,) with sum 1 that have these differences of halves, the finest first."""
    result = np.ones(1)
    for height in reversed(range(len(differences))):
        nodes, parents = -(-K >> height), result
        result = np.repeat(parents, 2)
        result[0::2] += differences[height]
        result[1::2] -= differences[height]
        result /= 2
        if nodes % 2:  # a node without a right half is its left half
            result[nodes - 1] = parents[-1]
        result = result[:nodes]
    return result


'''

TREE = f'''\
def add(counts, line):
    """Count a report: height, and one node there or a character 0 or 1 for each. Counts: nodes, then heights."""
    height, _, said = line.partition(",")
    height = whole(height, len(NODES))
    nodes, start = NODES[height], sum(NODES[:height])
    if ONE_NODE[height]:
        counts[start + whole(said, nodes)] += 1
    elif len(said) != nodes or set(said) - {{"0", "1"}}:
        raise ValueError(line)
    else:
        counts[start : start + nodes] += np.frombuffer(said.encode(), dtype=np.uint8) == ord("1")
    counts[len(counts) - len(NODES) + height] += 1


{DYADIC}\
def estimated(counts, n):
    """Return the unbiased estimate (K,): what all heights say of a difference of halves, weighted by precision."""
    users = counts[-len(NODES) :]
    totals = [np.zeros(-(-K >> height)) for height in range(1, len(NODES) + 1)]
    weights = [np.zeros_like(total) for total in totals]
    for lower, size in enumerate(NODES):
        if users[lower] == 0:
            continue
        start = sum(NODES[:lower])
        nodes = (counts[start : start + size] / users[lower] - Q[lower]) / (P[lower] - Q[lower])
        for height in range(lower, len(NODES)):
            left, right = halves(nodes)
            weight = np.full(len(left), PRECISION[height][lower][0])
            weight[-1] = PRECISION[height][lower][1]
            totals[height] += users[lower] * weight * (left - right)
            weights[height] += users[lower] * weight
            nodes = left + right
    return rebuilt([total / np.where(weight > 0, weight, 1) for total, weight in zip(totals, weights)])
'''

HAAR = f'''{WALSH}{DYADIC}\
def estimated(counts, n):
    """Return the unbiased estimate (K,) from the bits of each height and row."""
    differences = []
    for at, (start, rows) in enumerate(zip(STARTS, ROWS)):
        bits = counts[start : start + 2 * rows].astype(float)
        products = transformed(bits[1::2] - bits[0::2])[: -(-K >> at + 1)]
        differences.append(products / (GAIN * max(bits.sum(), 1)))
    return rebuilt(differences)
'''

BODIES = {
    "grr": VALUE + UNBIASED, "rappor": BITS + UNBIASED, "oue": BITS + UNBIASED, "the": BITS + UNBIASED,
    "blh": HASHING + UNBIASED, "olh": HASHING + UNBIASED, "ss": SUBSET + UNBIASED, "she": SUMMATION,
    "hr": SYMBOL + HADAMARD, "pgr": SYMBOL + PROJECTIVE, "tree": TREE, "tree_half": TREE, "sw": SYMBOL,
    "haar_hrr": SYMBOL + HAAR,
}  # fmt: skip

VARIANCES = '''

def variances(n):
    """Return the variance of the estimate of a frequency of 0, and how much it grows up to a frequency of 1."""
__BODY__

'''
OF_SUPPORTS = """\
    scale = n * (P - Q) ** 2
    at_zero, at_one = Q * (1 - Q) / scale, P * (1 - P) / scale
    return at_zero, at_one - at_zero"""
OF_CELLS = """\
    return AT_ZERO / n, 0.0"""
OF_BLOCKS = """\
    empty, full = block_variances(n)
    at_zero = empty + (full - empty) * SAME
    return at_zero, full - 1 / n - at_zero"""

# The variance of an estimate of Hadamard response grows with what the other values of the block hold.
BLOCKS_ALONE = '''

def block_variances(n):
    """Return the variance of the estimate of a value whose block nobody shares, and of one that all share."""
    scale = TOTAL * n * GAIN**2
    return 2 * RARE / scale, (1 + RARE) / scale

'''
BLOCK_VARIANCE = '''

def variance_at_zero(estimate, n):
    """Return for each value (K,) the variance of its estimate were its frequency 0."""
    padded = np.append(estimate, np.zeros(-K % BLOCKS))
    in_block = padded.reshape(-1, BLOCKS).sum(axis=0)[np.arange(K) % BLOCKS]
    missing = (1 - estimate.sum()) / BLOCKS  # the blocks hold all users together
    empty, full = block_variances(n)
    return empty + (full - empty) * np.clip(in_block + missing - estimate, 0, 1)

'''
