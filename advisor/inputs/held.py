"""Files that are held in memory instead of on disk: what people drop on the page of ``ldp-advise app``."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from io import BytesIO
from typing import TypeVar

from advisor.errors import InputError, printable

T = TypeVar("T")


@dataclass(eq=False)
class HeldFile:
    """One file: its bytes, and what was made of them, so that a file is read once and asked about often."""

    content: bytes = field(repr=False)
    made: dict[Hashable, object] = field(default_factory=dict, repr=False)


# None: files are on disk. Otherwise nothing but these can be opened, whatever name somebody types.
held_files: ContextVar[Mapping[str, HeldFile] | None] = ContextVar("held_files", default=None)


def held_stream(path: str) -> BytesIO | None:
    """Return the bytes of a file in memory; None if files are on disk.

    Raises InputError if files are held, and this is none of them.
    """
    files = held_files.get()
    return None if files is None else BytesIO(_held(files, path).content)


def remembered(path: str, how: Hashable, read: Callable[[], T]) -> T:
    """Return what `read` makes of a file; where the file is held, only once for each way `how` to read it."""
    files = held_files.get()
    if files is None:
        return read()
    made = _held(files, path).made
    if how not in made:
        made[how] = read()
    return made[how]  # type: ignore[return-value]  # made by the same `read`


def _held(files: Mapping[str, HeldFile], path: str) -> HeldFile:
    if path not in files:
        raise InputError(f"{printable(path)}: is not held in memory (any more): drop the file on the page again")
    return files[path]
