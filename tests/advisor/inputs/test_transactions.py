"""Several items a user: the most frequent one is kept."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from advisor.errors import InputError
from advisor.inputs.histogram import read_histogram
from advisor.inputs.labels import OTHER_LABEL
from tests.advisor.conftest import Run
from tests.advisor.inputs.reading import Pipe, error_of, read_bytes, read_file, users


@pytest.mark.parametrize("sep", [", ", ";", "\t", " "])
def test_each_user_keeps_the_most_frequent_item(tmp_path: Path, sep: str) -> None:
    rows = [["tea", "milk", "tea"], ["milk"], ["tea", "milk"], ["jam"], ["milk", "jam"], ["salt"]]
    data = "\n".join(sep.join(row) for row in rows)
    read = read_file(tmp_path, "a.txt", data, transactions=True)
    assert users(read) == {"tea": 0, "milk": 4, "jam": 1, "salt": 1}
    assert not read.from_histogram
    assert "among all of 4 items" in read.assumptions[1]
    top = read_histogram("-", stdin=io.BufferedReader(Pipe(data.encode())), transactions=True, keep_top=2)
    assert users(top) == {"tea": 0, "milk": 4, OTHER_LABEL: 2}  # tea and jam tie: tea came first
    assert "among the 2 kept of 4 items" in top.assumptions[1]


def test_the_help_says_whose_most_frequent_item_is_kept(run: Run) -> None:
    _, _, after = " ".join(run("--help", "--verbose")[1].split()).partition("--transactions ")
    assert after.startswith("several items per row: each user keeps the one most frequent over all users --")


def test_transactions_refuse_what_they_cannot_use(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--column cannot be used with --transactions"):
        read_bytes(b"a b\n", transactions=True, column="1")
    with pytest.raises(InputError, match="--counts cannot be used with --transactions"):
        read_bytes(b"a b\n", transactions=True, counts="1")
    assert "'(other)' is an item" in error_of(tmp_path, "a", "a (other)\nb\n", transactions=True)
    assert "is empty" in error_of(tmp_path, "a", "\n\n", transactions=True)
    assert "holds no item" in error_of(tmp_path, "a", ",\n,\n", transactions=True)
    assert "closing quotation mark" in error_of(tmp_path, "a", 'a,"b" c\n', transactions=True)


def test_transactions_skip_blank_lines_and_a_header() -> None:
    read = read_bytes(b"items\na,b\n\nb\n,\n\n", transactions=True, header=True, keep_top=1)
    assert users(read) == {"b": 2, OTHER_LABEL: 1}
    assert read.warnings == ("1 blank line was skipped",)
