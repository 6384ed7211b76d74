"""Reports of the protocols for ordered domains, written to a file in any form, give the tally of the protocol."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from advisor.inputs import table
from simulator import PROTOCOLS, rng_for
from tests.advisor.inputs.reading import gz, parquet, put, read_reports
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


def lines(rows: Iterable, separator: str = ",") -> str:
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


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


def read_text(data: str, protocol: str, epsilon: float, **options):
    return read_reports("-", protocol, epsilon, stdin=io.BytesIO(data.encode()), **options)


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
    path = put(tmp_path, "reports.csv.gz", gz((header + lines(rows)).encode()))
    assert read_reports(path, protocol, epsilon, k=k).tally.counts.tolist() == expected


@pytest.mark.parametrize("protocol", [*TREES, *SYMBOLS])
def test_reports_with_a_domain_and_in_parquet(tmp_path: Path, protocol: str) -> None:
    reports = reports_of(protocol, 5, 1.0)
    rows = cells(protocol, 5, 1.0, reports)
    expected = slow_tally(protocol, 5, 1.0, reports)
    read = read_text(lines(rows), protocol, 1.0, domain=NAMES)
    assert (read.labels, read.tally.counts.tolist()) == (NAMES, expected)
    first, *others = zip(*rows, strict=True)
    path = parquet(tmp_path, height=list(map(int, first)), **({"node": others[0]} if others else {}))
    assert read_reports(path, protocol, 1.0, k=5).tally.counts.tolist() == expected
