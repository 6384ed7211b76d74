"""Reports made by the clients, written to files and read."""

import numpy as np

from simulator import PROTOCOLS, FrequencyOracle, rng_for
from tests.advisor.inputs.reading import put, read_reports

UNARY = ("rappor", "oue", "the")
HASHED = ("blh", "olh")
TREES, SYMBOLS = ("tree", "tree_half"), ("sw", "haar_hrr")
NAMES = ("Texas", "New York", "Ohio", "Utah", "Iowa", "Maine")
K = 9  # categories of what is written into several files


def read_file(folder, name, data, *arguments, **options):
    return read_reports(put(folder, name, data), *arguments, **options)


def made(protocol, k, epsilon, n=240, **options):
    """Make reports of skewed values: (reports, supports, which are None where other things are added up)."""
    rng = rng_for(5, "reports", protocol)
    member = PROTOCOLS[protocol](k, epsilon, **options)
    values = (k * rng.random(n) ** 2).astype(np.int64)
    values[:k] = np.arange(k)
    reports = member.perturb(values, rng)
    return reports, member.support(reports) if isinstance(member, FrequencyOracle) else None


def cells(protocol, k, epsilon, reports, labels=()):
    """The cells of each report, from what the protocol's client returns, one report after the other.

    Which heights of a tree say a number is worked out here from the condition of the paper: few nodes, below
    3 e^eps + 2.
    """
    if protocol in TREES:
        result = []
        for height, *bits in reports.tolist():
            nodes = -(-k // 2**height)
            says_number = nodes < 3 * np.exp(epsilon) + 2
            result.append((str(height), str(bits.index(1)) if says_number else "".join(map(str, bits[:nodes]))))
        return result
    rows = reports.reshape(len(reports), -1).tolist()
    if protocol in ("grr", "ss") and labels:
        return [tuple(labels[value] for value in row) for row in rows]
    return [tuple(map(repr, row)) for row in rows]


def lines(rows, separator=","):
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def check(read, labels, support, n=240):
    assert read.labels == tuple(labels)
    assert read.tally.counts.tolist() == list(support)
    assert read.tally.counts.dtype == (np.float64 if isinstance(read.tally.counts[0], float) else np.int64)
    assert read.tally.n == n
    assert read.warnings == ()


def numbers(k, first=0):
    return tuple(str(at) for at in range(first, first + k))


def rows(protocol, n=240, k=K):
    """Return reports as lines, as docs/reports.md shows them."""
    values = (k * rng_for(1, protocol).random(n) ** 2).astype(np.int64)
    reports = PROTOCOLS[protocol](k, 1.0).perturb(values, rng_for(2, protocol))
    return lines(cells(protocol, k, 1.0, reports)).splitlines()


def written(folder, protocol, reports, parts=3):
    """Write reports into so many files."""
    size = -(-len(reports) // parts)
    pieces = [reports[part * size : (part + 1) * size] for part in range(parts)]
    return [
        put(folder, f"{protocol}-{at}.csv", "".join(f"{line}\n" for line in piece)) for at, piece in enumerate(pieces)
    ]
