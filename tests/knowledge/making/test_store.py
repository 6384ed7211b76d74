import pytest

from knowledge.making.store import Store
from tests.cells import failures

PLAN = {"seed": 1}


def test_a_file_of_anything_else_is_refused_and_left_as_it_is(tmp_path):
    def check(content):
        path = tmp_path / "notes.txt"
        path.write_text(content, encoding="utf-8")
        with pytest.raises(ValueError, match="holds the cells of another build"):
            Store(path, PLAN)
        assert path.read_text(encoding="utf-8") == content

    of_another = '{"plan":{"seed":2}}'
    contents = ["my notes", '{"plan": {"seed": 1}', of_another, f"{of_another}\n", "\ufeff", "{}"]
    assert failures(contents, check) == {}


def test_lines_that_are_cut_short_or_no_cells_cost_themselves_only(tmp_path):
    path = tmp_path / "cells.jsonl"
    Store(path, PLAN).add({"index": 3})
    first = path.read_text(encoding="utf-8").splitlines()[0]
    for kept in range(len(first) + 1):
        path.write_text(first[:kept], encoding="utf-8")
        Store(path, PLAN).add({"index": 5})
        assert Store(path, PLAN).records() == {5: {"index": 5}}
    path = tmp_path / "cells.jsonl"
    Store(path, PLAN).add({"index": 3})
    with path.open("ab") as file:
        file.write(b'\xff\xfe\x00{"index": 2, "er\n17\n' + b"[" * 100_000 + b'\n{"index":\n[]\n"index"\n')
    Store(path, PLAN).add({"index": 5})
    assert Store(path, PLAN).records() == {3: {"index": 3}, 5: {"index": 5}}
