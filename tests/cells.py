"""Grids inside a test: all cells are tried, and one assertion shows every one that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import Parameter, Signature, signature
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


def over(cells: Iterable[T], slow: Iterable[T] = ()) -> Callable[[Callable[..., object]], Callable[..., None]]:
    """Make a test of one cell a test of them all, which shows every one that fails.

    cells: tuples are the arguments of the test, anything else is its only one; fixtures and what else is parametrised
    are its keyword-only arguments.
    slow: other cells, where slow tests run.
    """
    quick, others = list(cells), list(slow)
    assert quick, "a grid without cells checks nothing"
    grids = [pytest.param(quick, id="some"), pytest.param(others, id="others", marks=pytest.mark.slow)]

    def of_all(test: Callable[..., object]) -> Callable[..., None]:
        def of_each(grid: list[T], **given: object) -> None:
            wrong = failures(grid, lambda cell: test(*(cell if isinstance(cell, tuple) else (cell,)), **given))
            if wrong:
                pytest.fail("\n".join(f"{cell}: {why}" for cell, why in wrong.items()))

        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(of_each, name, getattr(test, name))
        own = [one for one in signature(test).parameters.values() if one.kind is one.KEYWORD_ONLY]
        setattr(of_each, "__signature__", Signature([Parameter("grid", Parameter.KEYWORD_ONLY), *own]))  # noqa: B010
        return pytest.mark.parametrize("grid", grids if others else grids[:1])(of_each)

    return of_all
