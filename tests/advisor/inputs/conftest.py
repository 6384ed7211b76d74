"""How files are read in these tests: by pandas though they are small, and in many blocks."""

import pytest

from advisor.inputs import head, source, table


@pytest.fixture(autouse=True)
def pandas_reads(monkeypatch):
    """Leave nothing to the reader of small files: without this, pandas would see none of these."""
    monkeypatch.setattr(table, "FEW", -1)


@pytest.fixture(params=[1 << 20, 1])
def blocks(request, monkeypatch):
    """Reports in many blocks give what they give in few."""
    if request.param == 1:
        monkeypatch.setattr(table, "BLOCK_ROWS", 7)
    else:
        monkeypatch.setattr(head, "HEAD_LINES", 60)
        monkeypatch.setattr(source, "CHUNK_BYTES", 2000)
