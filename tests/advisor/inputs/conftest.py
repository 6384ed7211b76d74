"""The files of these tests are small: without this, pandas would see none of them."""

from __future__ import annotations

import pytest

from advisor.inputs import text


@pytest.fixture(autouse=True)
def pandas_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave nothing to the reader of small files."""
    monkeypatch.setattr(text, "FEW", -1)
