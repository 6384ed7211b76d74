import inspect

import pytest

from tests.cells import over


def test_over_tries_every_cell_and_shows_each_that_fails():
    tried = []

    @over([1, (2, 3), (4, 5)], slow=[6])
    def uneven(first, second=0, *, monkeypatch):
        tried.append(first)
        assert first % 2, monkeypatch

    assert list(inspect.signature(uneven).parameters) == ["grid", "monkeypatch"]
    (some, others) = uneven.pytestmark[0].args[1]
    assert [mark.name for mark in others.marks] == ["slow"]
    assert others.values[0] == [6]
    with pytest.raises(pytest.fail.Exception, match=r"^\(2, 3\): AssertionError.*\n\(4, 5\): AssertionError"):
        uneven(grid=some.values[0], monkeypatch=None)
    assert tried == [1, 2, 4]
    with pytest.raises(AssertionError, match="checks nothing"):
        over([])
