import math
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from advisor.inputs import table
from advisor.inputs.reports.vectors import LARGEST, exact_sums, real_sums
from simulator import PROTOCOLS, rng_for
from tests.advisor.inputs.made_reports import SYMBOLS, TREES, cells, check, lines, made, numbers, read_file
from tests.advisor.inputs.reading import gz, parquet, read_reports

N = 100  # reports: more than stand in a block, or in a head


def slow(*setting):
    return pytest.param(*setting, {}, marks=pytest.mark.slow)


SETTINGS = [
    *((protocol, 2, 1.5, {}) for protocol in ("rappor", "oue")),
    ("the", 12, 1.5, {}),
    *(slow(protocol, k, 1.5) for protocol, k in (("the", 2), ("rappor", 40), ("oue", 40))),
    ("grr", 6, 2.0, {}),
    *(("ss", k, epsilon, {}) for k, epsilon in ((24, 0.5), (6, 4.0))),  # sets of 9, and of one
    slow("ss", 6, 0.7),
    *(("olh", 6, 1.5, {} if name is None else {"hash": name}) for name in (None, "xxh32")),
    slow("blh", 6, 1.5),
    *((protocol, 40, 2.0, {}) for protocol in ("pgr", "hr")),
    *(slow(protocol, 40, 0.5) for protocol in ("pgr", "hr")),
    *((key, 21, 0.3, {}) for key in (*TREES, *SYMBOLS)),
    *(slow(key, k, e) for key in (*TREES, *SYMBOLS) for k, e in ((2, 1.0), (3, 0.5), (100, 4.0))),
    ("she", 4, 1.0, {}),
]


def tally_of(protocol, k, epsilon, reports, support):
    """Return supports as the protocol counts them, and what others add up, one by one: of numbers the exact sums."""
    if protocol == "she":
        return [float(sum(map(Fraction, column))) for column in reports.T.tolist()]
    if support is not None:
        return support.tolist()
    if protocol in SYMBOLS:
        counts = [0] * PROTOCOLS[protocol](k, epsilon).symbols
        for symbol in reports.tolist():
            counts[symbol] += 1
        return counts
    # Of a tree the counts of all bits height by height, and then of the reports of each.
    heights = (k - 1).bit_length()
    bits = [[0] * -(-k // 2**height) for height in range(heights)]
    users = [0] * heights
    for height, *row in reports.tolist():
        users[height] += 1
        for node in range(len(bits[height])):
            bits[height][node] += row[node]
    return [count for row in bits for count in row] + users


def layouts(kind, rows):
    """Yield the names of columns (None: no header), rows, and the options that these need."""
    yield None, rows, {}
    users = [f"u{at}" for at in range(len(rows))]
    if kind in ("node", "hash"):
        names, others = (
            (("height", "node"), "user,bits,Height") if kind == "node" else (("seed", "symbol"), "time,value,Seed")
        )
        yield names, rows, {}
        yield others.split(","), [("5", second, first) for first, second in rows], {}
        yield None, [(f"{first}.0", f" 0{second}" if len(second) < 2 else second) for first, second in rows], {}
    elif kind in ("value", "symbol"):
        yield ("symbol",), rows, {}
        yield ("user", "report"), [(user, *row) for user, row in zip(users, rows, strict=True)], {"column": "report"}
    else:
        if kind == "subset":
            yield [f"member{at}" for at in range(len(rows[0]))], rows, {}
        for mark in {"bits": ("", ","), "subset": (" ", ";", "|", ",", ", "), "cells": (" ",)}[kind]:
            joined = [(f"[{mark.join(row)}]" if kind == "cells" else mark.join(row),) for row in rows]
            beside = [(user, *cell) for user, cell in zip(users, joined, strict=True)]
            yield None, joined, {}
            yield ("report",), joined, {}
            yield ("user", "x"), beside, {"column": "x"}
            yield None, beside, {"column": "2"}


def texts(names, rows, *, blanks):
    """Yield a suffix and a text for every way to write a table; with blanks between columns where they may be."""
    plain = list(rows) if names is None else [names, *rows]
    yield ".csv", "".join('"' + '","'.join(row) + '"\n' for row in plain)
    if any(set(cell) & set(" ,;|") for cell in rows[0]):
        return
    yield ".csv", lines(plain)
    # In plain text words over words are no header.
    yield ".tsv" if len(rows[0]) > 1 or names else ".txt", lines(plain, "\t").replace("\n", "\r\n")
    if len(rows[0]) > 1:
        yield from ((".csv", lines(plain, mark)) for mark in (";", ", "))
        if blanks:
            yield ".txt", lines(plain, " ")


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize(("protocol", "k", "epsilon", "hashing"), SETTINGS)
def test_reports_in_every_form_give_the_tally_of_the_protocol(tmp_path, protocol, k, epsilon, hashing):
    reports, support = made(protocol, k, epsilon, n=N, **hashing)
    small = len(reports) > table.BLOCK_ROWS
    kind = PROTOCOLS[protocol](k, epsilon).report_kind
    expected = tally_of(protocol, k, epsilon, reports, support)
    if protocol in (*TREES, *SYMBOLS):
        assert PROTOCOLS[protocol](k, epsilon).tally(reports).counts.tolist() == expected
    named = tuple(f"{'s' if at % 2 else 'S'}tate{at}" for at in range(k))
    asked = [
        (numbers(k), {"k": k}),
        (named, {"domain": named}),
        *[(numbers(k), {})] * (kind in ("bits", "cells", "value")),
    ]
    for labels, options in asked:
        for at, (names, written, more) in enumerate(layouts(kind, cells(protocol, k, epsilon, reports, labels))):
            # All separators for the first two layouts: they are the same for others, and for small blocks.
            ways = None if at < 2 - small else 2 - small
            for suffix, text in islice(texts(names, written, blanks=kind != "value"), ways):
                read = read_file(tmp_path, f"a{suffix}", text, protocol, epsilon, **options, **more, **hashing)
                check(read, labels, expected, n=N)
            if labels is named and kind not in ("value", "subset"):
                break  # of which the files are the same
    if kind == "hash":
        assert any(f"hashed with {hashing.get('hash', 'mix64')}" in text for text in read.assumptions)
    rows = cells(protocol, k, epsilon, reports)
    read = read_file(tmp_path, "a.csv.gz", gz(lines(rows).encode()), protocol, epsilon, k=k, **hashing)
    check(read, numbers(k), expected, n=N)
    columns = list(zip(*rows, strict=True)) if kind == "node" else np.reshape(reports, (len(reports), -1)).T
    names = ("height", "node") if kind == "node" else numbers(len(columns))
    path = parquet(tmp_path, **dict(zip(names, columns, strict=True)))
    check(read_reports(path, protocol, epsilon, k=k, **hashing), numbers(k), expected, n=N)


def test_the_order_of_reports_changes_no_digit_where_floats_do():
    rng = rng_for(0, "any order")
    numbers = np.concatenate([rng.laplace(scale=2e6, size=(4000, 1)), rng.laplace(scale=1e-3, size=(4000, 1))])
    sums = {float(real_sums(exact_sums(rng.permutation(numbers)), None)[0]) for _ in range(5)}
    assert sums == {math.fsum(numbers[:, 0])}
    # Else nothing is shown; sum() of Python 3.12 compensates.
    assert len({float(np.cumsum(rng.permutation(numbers[:, 0]))[-1]) for _ in range(5)}) > 1


def test_extreme_numbers_are_exact_and_tiny_ones_are_rounded_to_steps():
    for column in ([LARGEST, -LARGEST, 0.1], [2.0**-64] * 3, [-0.75, 2.0**-60, 1e9 + 2**-20], [2.0**-65 * 1.5]):
        steps = [Fraction(value) * 2**64 for value in column]
        assert int(exact_sums(np.array([column]).T)[0]) == sum(map(round, steps))


def test_whole_steps_of_a_client_are_read_as_what_they_stand_for(tmp_path):
    steps = np.rint(made("she", 4, 1.0)[0] * 300).astype(np.int64)
    data = lines(steps.tolist())
    found = read_file(tmp_path, "a.csv", data, "she", 1.0, steps=300, header=False)
    assert found.tally.counts.tolist() == [float(Fraction(int(total), 300)) for total in steps.sum(axis=0)]
    odd = read_file(tmp_path, "a.csv", data, "she", 1.0, header=False)  # the option was forgotten
    assert not odd.plausible
    words = "is the sum of a report on average, 1 expected whatever users hold; the protocol, eps or --steps"
    assert words in odd.warnings[0]
