"""Reports in files, and what was counted of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from simulator import PROTOCOLS, rng_for
from tests.advisor.inputs.test_ordered_reports import cells

K, N, PARTS = 9, 240, 3


def rows(protocol: str, n: int = N, k: int = K) -> list[str]:
    """Return reports as lines, as docs/reports.md shows them."""
    made = PROTOCOLS[protocol](k, 1.0)
    reports = made.perturb((k * rng_for(1, protocol).random(n) ** 2).astype(np.int64), rng_for(2, protocol))
    if made.report_kind in ("node", "symbol"):
        named = "sw" if made.report_kind == "symbol" else protocol  # of these the symbol is all
        return [",".join(row) for row in cells(named, k, 1.0, reports)]
    return [",".join(map(repr, row if isinstance(row, list) else [row])) for row in reports.tolist()]


def written(folder: Path, protocol: str, lines: list[str], parts: int = PARTS) -> list[str]:
    """Write reports into so many files."""
    size = -(-len(lines) // parts)
    paths = [folder / f"{protocol}-{part}.csv" for part in range(parts)]
    for part, path in enumerate(paths):
        path.write_text("".join(f"{line}\n" for line in lines[part * size : (part + 1) * size]))
    return [str(path) for path in paths]
