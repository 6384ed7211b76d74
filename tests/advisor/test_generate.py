from __future__ import annotations

import io
import json
from itertools import product
from pathlib import Path

import pytest

from simulator.populations import apportion, drawn, frequencies, normal
from tests.advisor.conftest import Run
from tests.advisor.inputs.reading import read_bytes, users
from tests.cells import failures, over

ZIPF = ("generate", "--shape", "zipf:1.2", "--k", "8")
NORMAL = ("generate", "--mean", "3.5", "--spread", "1", "--k", "8")
LAWS = {ZIPF: frequencies("zipf", 8, 1.2), NORMAL: normal(8, 3.5, 1)}


@over(product(LAWS, [(), ("--apportioned",)], [0, 7]))
def test_a_data_set_is_read_as_it_was_made(words, how, seed, *, run: Run) -> None:
    counts = apportion(LAWS[words], 500) if how else drawn(LAWS[words], 500, seed=seed)
    given = (*words, *how, "--n", "500", "--seed", str(seed))
    code, rows, err = run(*given)
    assert (code, err) == (0, "")
    assert users(read_bytes(rows.encode())) == {str(v): u for v, u in enumerate(counts.tolist()) if u}
    table = run(*given, "--histogram")[1]
    assert table.startswith("value,count\n0,")
    read = read_bytes(table.encode())
    assert read.from_histogram
    assert users(read) == {str(value): count for value, count in enumerate(counts.tolist())}
    assert rows == run(*given)[1]


def test_a_data_set_goes_through_a_pipe_into_an_answer(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for form in ((), ("--histogram",)):
        rows = run(*ZIPF, "--n", "2000", *form)[1]
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(rows.encode())))
        out = run("--eps", "1", "-p", "oue", "--method", "none", "--reps", "2", "--format", "json", "-")[1]
        request = json.loads(out)["request"]
        assert (request["n"], request["k"]) == (2000, 8)


REFUSED = [
    ("generate", "--shape, --k and --n are missing: give the frequencies: --shape zipf:1.2, or --mean 50"),
    ("generate --shape zipf --mean 3 --spread 1 --k 4 --n 9", "give either --shape, or --mean and --spread"),
    ("generate --mean 3 --k 4 --n 9", "--mean and --spread go together"),
    ("generate --mean 3 --spread 0 --k 4 --n 9", "spread must be a number above 0"),
    ("generate --mean 300 --spread 1 --k 4 --n 9", "mean 300 and spread 1 are never between 0 and 3"),
    ("generate --shape zipff --k 4 --n 9", "did you mean 'zipf'?"),
    ("generate --shape zipf --k 4 --n 20M", "n must be at most 10,000,000 rows, got 20,000,000: add --histogram"),
    ("generate --shape zipf --k 4 --n 9 -o OUT.parquet", "the suffix must be .csv, .txt, .dat, got '.parquet'"),
    ("generate --shape zipf --k 4 --n 9 -o OUT.csv.gz", "the suffix must be .csv, .txt, .dat, got '.gz'"),
]


def test_what_makes_no_data_set_is_refused_in_one_line(run: Run, tmp_path: Path) -> None:
    def refused(cell: tuple[str, str]) -> None:
        words, message = cell
        code, out, err = run(*words.replace("OUT", str(tmp_path / "out")).split())
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message.replace("OUT", str(tmp_path / "out")) in err

    assert failures(REFUSED, refused) == {}
    assert list(tmp_path.iterdir()) == []
