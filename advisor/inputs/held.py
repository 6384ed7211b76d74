"""Files that are held in memory instead of on disk: what people drop on the page of ``ldp-advise app``."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, field
from io import BytesIO
from typing import TypeVar

from advisor.errors import InputError, printable

T = TypeVar("T")
LARGEST_CONTENT = 256_000_000  # bytes of a file once it is decompressed: a gzip of 1 MB may hold a thousand times that
MOST_READINGS = 4  # of a file that are kept: each holds all of its labels


@dataclass(eq=False)
class HeldFile:
    """One file: its bytes, and what was made of them, so that a file is read once and asked about often."""

    content: bytes = field(repr=False)
    made: dict[Hashable, object] = field(default_factory=dict, repr=False)

    def keep(self, made: Mapping[Hashable, object]) -> None:
        """Keep what was made of it, and forget what was made first."""
        self.made |= made
        while len(self.made) > MOST_READINGS:
            del self.made[next(iter(self.made))]


# None: files are on disk. Otherwise nothing but these can be opened, whatever name somebody types.
held_files: ContextVar[Mapping[str, HeldFile] | None] = ContextVar("held_files", default=None)


@contextmanager
def holding(files: Mapping[str, HeldFile]) -> Iterator[None]:
    """Open files by name in a ``with`` block from these alone."""
    token = held_files.set(files)
    try:
        yield
    finally:
        held_files.reset(token)


def held_stream(path: str) -> BytesIO | None:
    """Return the bytes of a file in memory; None if files are on disk.

    Raises InputError if files are held, and this is none of them.
    """
    files = held_files.get()
    return None if files is None else BytesIO(_held(files, path).content)


def remembered(path: str, how: Hashable, read: Callable[[], T]) -> T:
    """Return what `read` makes of a file, or raises; where it is held, only once for each way `how` to read it."""
    files = held_files.get()
    if files is None:
        return read()
    file = _held(files, path)
    made = file.made.get(how)
    if made is None:
        try:
            made = read()
        except InputError as error:
            made = copy(error).with_traceback(None)  # which what was under way does not hang on
        file.keep({how: made})
    if isinstance(made, InputError):
        raise copy(made)
    return made  # type: ignore[return-value]  # made by the same `read`


def check_content(name: str, size: int) -> None:
    """Raise InputError if files are held, and `size` bytes are more than one of them may hold; `name`: of the file."""
    if size > LARGEST_CONTENT and held_files.get() is not None:
        raise InputError(
            f"{name}: holds more than {LARGEST_CONTENT // 1_000_000} MB once it is decompressed: ldp-advise reads such "
            "files on the command line"
        )


def _held(files: Mapping[str, HeldFile], path: str) -> HeldFile:
    if path not in files:
        raise InputError(f"{printable(path)}: is not held in memory (any more): drop the file on the page again")
    return files[path]
