"""Grids inside a test: all cells are tried, and one assertion shows every one that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

T = TypeVar("T")


def failures(cells: Iterable[T], check: Callable[[T], object]) -> dict[T | str, str]:
    """Return what each failing cell raised, for ``assert failures(cells, check) == {}``.

    cells: those that cannot be keys, as they hold lists or dicts, are shown as they are written.
    check: raises for a cell that is wrong (``pytest.raises`` too); what it returns is not looked at.
    """
    wrong: dict[T | str, str] = {}
    tried = 0
    for cell in cells:
        tried += 1
        try:
            check(cell)
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - every cell is tried, and all are shown
            wrong[_key(cell)] = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    assert tried, "a grid without cells checks nothing"
    return wrong


def _key(cell: T) -> T | str:
    try:
        hash(cell)
    except TypeError:
        return repr(cell)
    return cell
