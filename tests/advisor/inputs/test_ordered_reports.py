"""Reports of the protocols for ordered domains, written to a file in any form, give the tally of the protocol."""

from __future__ import annotations

import gc
import gzip
import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from advisor.errors import InputError
from advisor.inputs import source, table
from advisor.inputs.reports.plausibility import implausible
from simulator import PROTOCOLS, Tally, rng_for
from simulator.populations import apportion
from tests.advisor.inputs.reading import read_reports
from tests.cells import failures

TREES, SYMBOLS = ("tree", "tree_half"), ("sw", "haar_hrr")
NAMES = ("none", "a little", "some", "much", "all")


def reports_of(protocol: str, k: int, epsilon: float, n: int = 150) -> np.ndarray:
    values = (k * rng_for(5, "ordered reports", protocol).random(n) ** 2).astype(np.int64)
    return PROTOCOLS[protocol](k, epsilon).perturb(values, rng_for(6, "ordered reports", protocol, k))


def cells(protocol: str, k: int, epsilon: float, reports: np.ndarray) -> list[tuple[str, ...]]:
    """The cells of each report, from what the protocol's client returns, one report after the other.

    Which heights say a number is worked out here from the condition of the paper: few nodes, below 3 e^eps + 2.
    """
    if protocol in SYMBOLS:
        return [(str(report),) for report in reports.tolist()]
    result = []
    for height, *bits in reports.tolist():
        nodes = -(-k // 2**height)
        says_number = nodes < 3 * np.exp(epsilon) + 2
        result.append((str(height), str(bits.index(1)) if says_number else "".join(map(str, bits[:nodes]))))
    return result


def lines(rows: list[tuple[str, ...]], separator: str = ",") -> str:
    return "".join(separator.join(row) + "\n" for row in rows)


def slow_tally(protocol: str, k: int, epsilon: float, reports: np.ndarray) -> list[int]:
    """Counts of all bits height by height, and then of the reports of each; or of each symbol. One by one."""
    if protocol in SYMBOLS:
        counts = [0] * PROTOCOLS[protocol](k, epsilon).symbols
        for symbol in reports.tolist():
            counts[symbol] += 1
        return counts
    heights = (k - 1).bit_length()
    bits = [[0] * -(-k // 2**height) for height in range(heights)]
    users = [0] * heights
    for height, *row in reports.tolist():
        users[height] += 1
        for node in range(len(bits[height])):
            bits[height][node] += row[node]
    return [count for row in bits for count in row] + users


@pytest.fixture(params=[1 << 20, 7, pytest.param(1, marks=pytest.mark.slow)])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports in many blocks give what they give in few."""
    monkeypatch.setattr(table, "BLOCK_ROWS", request.param)


def read_text(data: str | bytes, protocol: str, epsilon: float, **options):
    return read_reports(
        "-", protocol, epsilon, stdin=io.BytesIO(data.encode() if isinstance(data, str) else data), **options
    )


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("protocol", [*TREES, *SYMBOLS])
def test_reports_in_every_form_give_the_tally_of_the_protocol(tmp_path: Path, protocol: str) -> None:
    def same(cell: tuple[int, float]) -> None:
        check_forms(tmp_path, protocol, *cell)

    assert failures([(2, 1.0), (3, 0.5), (21, 0.3), (100, 4.0)], same) == {}


def check_forms(tmp_path: Path, protocol: str, k: int, epsilon: float) -> None:
    reports = reports_of(protocol, k, epsilon)
    rows = cells(protocol, k, epsilon, reports)
    tree = protocol in TREES
    header = "height,node\n" if tree else "symbol\n"
    forms = [lines(rows), header + lines(rows), "\n" + lines(rows) + "\n \n", lines(rows, "\t").replace("\n", "\r\n")]
    if tree:
        forms += [
            lines(rows, ";"),
            lines(rows, " "),
            "user,bits,Height\n" + lines([("u1", node, height) for height, node in rows]),
            lines([(f"{height}.0", f" 0{node}" if len(node) < 2 else node) for height, node in rows]),
        ]
    expected = slow_tally(protocol, k, epsilon, reports)
    assert PROTOCOLS[protocol](k, epsilon).tally(reports).counts.tolist() == expected
    for at, form in enumerate(forms):
        read = read_text(form, protocol, epsilon, k=k)
        assert (read.tally.counts.tolist(), read.tally.n) == (expected, len(reports)), at
        assert read.tally.counts.dtype == np.int64
        assert read.labels == tuple(map(str, range(k)))
        assert read.warnings == (("1 blank line was skipped",) if at == 2 else ())
    path = tmp_path / "reports.csv.gz"
    path.write_bytes(gzip.compress((header + lines(rows)).encode()))
    assert read_reports(str(path), protocol, epsilon, k=k).tally.counts.tolist() == expected


@pytest.mark.parametrize("protocol", [*TREES, *SYMBOLS])
def test_reports_with_a_domain_and_in_parquet(tmp_path: Path, protocol: str) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    reports = reports_of(protocol, 5, 1.0)
    rows = cells(protocol, 5, 1.0, reports)
    expected = slow_tally(protocol, 5, 1.0, reports)
    read = read_text(lines(rows), protocol, 1.0, domain=NAMES)
    assert (read.labels, read.tally.counts.tolist()) == (NAMES, expected)
    names = ["height", "node"] if protocol in TREES else ["symbol"]
    frame = pandas.DataFrame(rows, columns=names)
    frame[names[0]] = frame[names[0]].astype(int)
    frame.to_parquet(tmp_path / "reports.parquet")
    assert read_reports(str(tmp_path / "reports.parquet"), protocol, 1.0, k=5).tally.counts.tolist() == expected


REFUSED = [
    ("tree", "0,{b}\n6,1\n", "line 2: the height '6' is too large; tree with eps=1 and k=64 has the heights"),
    ("tree", "0,{b}\n-1,1\n", "line 2: the height '-1' is not a whole number written with digits"),
    ("tree", "0,{b}\n,1\n", "line 2: the height is missing (an empty cell)"),
    ("tree", "0,{b}\n5,\n", "line 2: the node is missing (an empty cell)"),
    ("tree", "0,{b}\n0,\n", "line 2: the report is missing (an empty cell)"),
    ("tree", "0,{b}\n5,2\n", "line 2: the node '2' is too large; at height 5 tree with eps=1 and k=64 reports one"),
    ("tree", "0,{b}\n5,01\n4,9\n", "line 3: the node '9' is too large; at height 4"),
    ("tree", "0,{b}\n5,x\n", "line 2: the node 'x' is not a whole number"),
    ("tree", "0,{b}\n5,99999999999999999999\n", "is too large"),
    ("tree", "0,{b}\n0,0{b}\n", "has 65 characters, but height 0 has 64 nodes; k or eps may be wrong (a spread"),
    ("tree", "0,{b}\n2,{b}\n", "has 64 characters, but height 2 has 16 nodes"),
    ("tree", "0,{b}\n2,7\n", "line 2: the report '7' holds '7'; a report is 16 characters 0 and 1"),
    ("tree", "height,x,y\n1,2,3\n", "cannot tell which columns hold height and node among height, x, y"),
    ("tree", "3\n5\n", "has 1 column; a report of tree is height and node, in two columns"),
    ("sw", "0\n95\n96\n", "line 3: the symbol '96' is too large; sw with eps=1 and k=64 has 96 symbols"),
    ("sw", "0\n-1\n", "line 2: the symbol '-1' is not a whole number"),
    ("haar_hrr", "0\n126\n", "line 2: the symbol '126' is too large; haar_hrr with eps=1 and k=64 has 126 symbols"),
    ("haar_hrr", "0\n1.5\n", "line 2: the symbol '1.5' is not"),
]


def test_reports_that_are_refused() -> None:
    def refused(cell: tuple[str, str, str]) -> None:
        protocol, data, why = cell
        with pytest.raises(InputError) as caught:
            read_text(data.replace("{b}", "01" * 32), protocol, 1.0, k=64)
        assert why in str(caught.value)
        assert "\n" not in str(caught.value)

    assert failures(REFUSED, refused) == {}


@pytest.mark.parametrize("protocol", [*TREES, *SYMBOLS])
def test_what_their_reports_do_not_tell_has_to_be_given(protocol: str) -> None:
    with pytest.raises(InputError, match="do not tell how many categories there are; say so with --k"):
        read_text("0,1\n", protocol, 1.0)
    if protocol in TREES:
        with pytest.raises(InputError, match="are in two columns; name them height and node, or put them first"):
            read_text("0,1\n", protocol, 1.0, k=8, column="x")
    with pytest.raises(InputError):
        read_text("height,node\n", protocol, 1.0, k=8)


@pytest.mark.parametrize(
    ("protocol", "line"),
    [
        ("tree", "7,1"),
        pytest.param("tree", "0," + "01" * 128, marks=pytest.mark.slow),
        pytest.param("sw", "300", marks=pytest.mark.slow),
    ],
)
def test_memory_does_not_grow_with_the_number_of_reports(
    protocol: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "CHUNK_BYTES", 1 << 15)
    peaks = []
    few = 15_000 if len(line) < 10 else 3_000  # in memory these would be over 700,000 bytes
    read_text(f"{line}\n", protocol, 1.0, k=256)  # what it imports stays in memory
    for n in (few, 2 * few):
        gc.collect()
        data = gzip.compress(f"{line}\n".encode() * n, mtime=0)
        tracemalloc.start()
        assert read_text(data, protocol, 1.0, k=256).tally.n == n
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0] + 100_000


# --- plausibility ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", [*TREES, "haar_hrr", pytest.param("sw", marks=pytest.mark.slow)])
def test_honest_reports_raise_no_alarm(protocol: str) -> None:
    """Six standard deviations: hardly ever wrong in these 108 tallies; EM is stopped far from the sharpest truths."""
    for k in (2, 17, 300):
        for epsilon in (0.1, 1.0, 10.0):
            member = PROTOCOLS[protocol](k, epsilon)
            even, ends, comb = np.ones(k), np.zeros(k), np.zeros(k)
            ends[[0, -1]] = 1.0
            comb[::3] = 1.0
            for shape, weights in enumerate((even, ends, comb, np.exp(-0.5 * (np.arange(k) / k / 0.1 - 4) ** 2))):
                for n in (1, 10**4, 10**9):
                    rng = rng_for(3, "no alarm", protocol, k, repr(epsilon), shape, n)
                    assert implausible(member.sample_tally(apportion(weights, n), rng), member) == ()


@pytest.mark.parametrize(
    ("sent", "epsilon", "protocol", "assumed", "k"),
    [
        ("tree", 1.0, "tree_half", 1.0, 64),
        ("tree", 1.0, "tree", 1.1, 64),
        ("sw", 1.0, "sw", 0.8, 64),
        ("sw", 1.0, "sw", 1.0, 80),
        ("sw", 1.0, "haar_hrr", 1.0, 64),
        ("haar_hrr", 1.0, "haar_hrr", 1.0, 80),
        pytest.param("tree_half", 1.0, "tree", 1.0, 64, marks=pytest.mark.slow),
        pytest.param("tree", 1.0, "tree", 0.8, 64, marks=pytest.mark.slow),
        pytest.param("sw", 2.0, "sw", 1.0, 64, marks=pytest.mark.slow),
        pytest.param("haar_hrr", 1.0, "sw", 1.0, 128, marks=pytest.mark.slow),
    ],
)
def test_reports_of_another_protocol_budget_or_domain_are_noticed(
    sent: str, epsilon: float, protocol: str, assumed: float, k: int
) -> None:
    rows = cells(sent, 64, epsilon, reports_of(sent, 64, epsilon, 10_000))
    (warning,) = read_text(lines(rows), protocol, assumed, k=k).warnings
    assert warning.startswith(f"these are hardly {protocol} reports at eps = {assumed:g}, k = {k}: ")
    assert warning.endswith("may be wrong")


def test_the_alarm_of_a_height_begins_where_it_says() -> None:
    """At 6 sd and 12 more of a binomial number of users, and of a number of bits with p = 1/2 and q = 1/(e + 1)."""
    tree, n = PROTOCOLS["tree"](32, 1.0), 10_000
    heights, q = 5, 1 / (np.e + 1)
    fitting = np.full(heights, n // heights)
    sizes = [32, 16, 8, 4, 2]
    mean = fitting[0] * (0.5 + 31 * q)
    sd = (fitting[0] * (0.25 + 31 * q * (1 - q))) ** 0.5
    moved = 6 * (n * 0.2 * 0.8) ** 0.5 + 12
    for share, warned in ((0.99, False), (1.01, True)):
        for shift, extra in ((share * moved, 0.0), (0.0, share * (6 * sd + 12))):
            users = fitting + np.array([0, 0, 0, round(shift), -round(shift)])
            totals = [mean + extra, fitting[1] * (0.5 + 15 * q), *users[2:]]
            counts = [np.bincount([0], [round(total)], size) for total, size in zip(totals, sizes, strict=True)]
            tally = Tally(np.concatenate([*counts, users]).astype(np.int64), n)
            assert bool(implausible(tally, tree)) is warned
