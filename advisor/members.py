"""Protocols, methods and metrics from a file: ``mine.py:soft``, loaded without installing anything."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from advisor.errors import InputError
from advisor.loading import load_function

FORM = ".py:"  # what tells a member of a file from one of the tables


@cache
def member_of_file(kind: str, name: str) -> str:
    """Load a member and put it into its table; return its key there.

    Raises InputError if there is no such file or function, or it breaks its contract.
    """
    from simulator import register  # heavy: its checks

    file = Path(name.rpartition(":")[0])
    if not file.is_file():
        raise InputError(f"{kind} {name}: there is no file {file}")
    try:
        return register(load_function(kind, name), kind, source=name)
    except ValueError as error:
        raise InputError(str(error)) from None
