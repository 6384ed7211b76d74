"""Open a file or standard input, and turn whatever is wrong with its bytes into one line."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np

from advisor.errors import InputError, near_miss, printable, reason
from advisor.inputs.held import held_stream

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LONGEST_LINE = 1 << 20
"""Longest line read, in bytes; it bounds the memory that a file without line ends can take."""

CHUNK_BYTES = 1 << 19
"""Bytes of text that are in memory at a time; larger blocks fall out of the processor's cache."""

_PEEKED = 4096
_SPOOLED_IN_MEMORY = 64 << 20
_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"
_KNOWN_BINARY = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook (.xlsx)", "save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook (.xls)", "save the sheet as CSV"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed", "decompress it first (gzip is read directly)"),
    (b"\xfd7zXZ\x00", "xz-compressed", "decompress it first (gzip is read directly)"),
    (b"BZh91AY&SY", "bzip2-compressed", "decompress it first (gzip is read directly)"),
    (b"SQLite format 3\x00", "an SQLite database", "export the table as CSV"),
    (b"\xff\xfe", "UTF-16 text", "convert it to UTF-8, e.g. with iconv -f UTF-16 -t UTF-8"),
    (b"\xfe\xff", "UTF-16 text", "convert it to UTF-8, e.g. with iconv -f UTF-16 -t UTF-8"),
)


class Source:
    """The bytes of an input, and its name for messages.

    name: the path as the user gave it, or "standard input".
    suffix: the lower-case extension without a final ".gz" (".csv"), "" for standard input.
    """

    def __init__(self, name: str, suffix: str, stream: BinaryIO) -> None:
        self.name = name
        self.suffix = suffix
        self._stream = stream
        self._state = _state(stream)
        # Standard input may be a file of which another program has read the first part.
        self._origin = stream.tell() if stream.seekable() else 0
        self._begin = _first_bytes(stream, name)

    @property
    def is_parquet(self) -> bool:
        """Whether it is a Parquet file; a text that happens to begin with PAR1 is not."""
        return self._begin.startswith(_PARQUET) and any(byte < 9 or 13 < byte < 32 for byte in self._begin)

    def check_unchanged(self) -> None:
        """Raise InputError if another program has cut the file short, or written to it, since it was opened."""
        if self._state != _state(self._stream):
            raise InputError(
                f"{self.name}: changed while it was read, so the counts may be those of a part; wait until it is "
                "complete, or give a copy"
            )

    @contextmanager
    def rereadable(self) -> Iterator[Source]:
        """Yield a source that can be read several times: this one, or a temporary copy of it on disk."""
        if self._stream.seekable():
            yield self
            return
        with tempfile.SpooledTemporaryFile(max_size=_SPOOLED_IN_MEMORY) as spool:
            try:
                shutil.copyfileobj(self.binary(), spool)
            except OSError as error:
                raise _unreadable(self.name, error) from error
            spool.seek(0)
            yield Source(self.name, self.suffix, cast(BinaryIO, spool))

    def binary(self) -> BinaryIO:
        """Return the raw bytes from the beginning; a second time only if `rereadable`."""
        if self._stream.seekable():
            self._stream.seek(self._origin)
            return self._stream
        return _joined(self._begin, self._stream)

    def chunks(self) -> Iterator[bytes]:
        """Yield the text from the beginning in chunks, decompressed, without a byte order mark, line ends as they are.

        Raises InputError at once for a known binary format; later for bytes that are not UTF-8, NUL bytes, damaged gzip
        data and lines over 1 MiB.
        """
        _refuse_binary(self._begin, self.name)
        stream = self.binary()
        if self._begin.startswith(_GZIP):
            stream = cast(BinaryIO, gzip.GzipFile(fileobj=stream, mode="rb"))
            begin = _first_bytes(stream, self.name)
            _refuse_binary(begin, f"{self.name} (decompressed)")
            if begin.startswith(_PARQUET) and b"\x00" in begin:
                raise InputError(f"{self.name}: is a gzip of a Parquet file; decompress it first")
            stream = _joined(begin, stream)
        return _checked(stream, self)


@contextmanager
def opened(path: str, stdin: BinaryIO | None = None) -> Iterator[Source]:
    """Open a path, or standard input for "-", and close it at the end (standard input stays open).

    Raises InputError if there is no such file, it is a directory, it cannot be read, or it changes meanwhile.
    """
    with ExitStack() as stack:
        name, suffix = printable(path), Path(path.lower().removesuffix(".gz")).suffix
        stream: BinaryIO | None = held_stream(path)
        if stream is None and path == "-":
            if stdin is None and sys.stdin is None:
                raise InputError("standard input: is closed; name a file, or pipe the data in")
            name, stream = "standard input", sys.stdin.buffer if stdin is None else stdin
            if stream.isatty():  # what is typed ends with the first Ctrl-D; a terminal would be read on after it
                stream = io.BytesIO(stream.read())
        source = Source(name, suffix, stream or stack.enter_context(_open_path(path)))
        try:
            yield source
        except InputError:  # half of a line, say
            source.check_unchanged()
            raise
        source.check_unchanged()


def _state(stream: BinaryIO) -> tuple[int, int] | None:
    """Return size and time of change of a file; None for what is no file on disk."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):  # bytes in memory, or a stream that is closed
        return None
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def _open_path(path: str) -> BinaryIO:
    if not path.strip():
        raise InputError(f"the file name is empty, got {path!r}; name a file, or - for standard input")
    try:
        return Path(path).open("rb")
    except FileNotFoundError:
        where = Path(path)
        hint = near_miss(where.name, _names_in(where.parent))
        raise InputError(f"{printable(path)}: no such file{hint}") from None
    except IsADirectoryError:
        raise InputError(f"{printable(path)}: is a directory; name a file in it") from None
    except PermissionError:
        raise InputError(f"{printable(path)}: no permission to read it") from None
    except OSError as error:
        raise _unreadable(printable(path), error) from error
    except ValueError as error:  # a NUL or a lone surrogate in the name
        raise InputError(f"{path!r}: is not a file name ({error})") from None


def _names_in(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - names are wanted, not paths
    except OSError:
        return []


def _unreadable(name: str, error: OSError) -> InputError:
    return InputError(f"{name}: cannot be read ({reason(error)})")


def _read(stream: BinaryIO, size: int, name: str) -> bytes:
    try:
        return stream.read(size) or b""
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{name}: the gzip data is damaged or cut short ({error}); compress the file again") from error
    except OSError as error:
        raise _unreadable(name, error) from error


def _first_bytes(stream: BinaryIO, name: str) -> bytes:
    """Read the first 4096 bytes; a pipe may hand them over one at a time."""
    begin = b""
    while len(begin) < _PEEKED and (block := _read(stream, _PEEKED - len(begin), name)):
        begin += block
    return begin


def _refuse_binary(begin: bytes, name: str) -> None:
    for magic, what, way_out in _KNOWN_BINARY:
        if begin.startswith(magic):
            raise InputError(f"{name}: is {what}, not text; {way_out}")


def _joined(begin: bytes, rest: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(_Joined(begin, rest)))


class _Joined(io.RawIOBase):
    """The bytes already taken from a stream that cannot go back, followed by the rest of it."""

    def __init__(self, begin: bytes, rest: BinaryIO) -> None:
        self._begin = begin
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        block = self._begin[: len(view)] or self._rest.read(len(view)) or b""
        self._begin = self._begin[len(view) :]
        view[: len(block)] = block
        return len(block)


def _checked(stream: BinaryIO, source: Source) -> Iterator[bytes]:
    """Yield chunks of text without a byte order mark, each looked at before it is decoded: its place is known here."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    mark = codecs.BOM_UTF8
    read = lines = unbroken = 0  # bytes and line feeds before a chunk, and bytes since the last line end
    ended = False
    while not ended:
        chunk = _read(stream, max(CHUNK_BYTES, 0 if read else len(mark)), source.name)
        ended = not chunk
        source.check_unchanged()  # a file that grows faster than it is read would never end
        pending = len(decoder.getstate()[0])
        if pending or not chunk.isascii() or b"\x00" in chunk:
            _check_text(decoder, chunk, source.name, read, lines, pending)
        last = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        unbroken = unbroken + len(chunk) if last < 0 else len(chunk) - last - 1
        if unbroken > LONGEST_LINE:
            line = lines + chunk.count(b"\n") + 1
            raise InputError(
                f"{source.name}: line {line} is longer than {LONGEST_LINE} bytes; "
                "give one value, or one row of a table, a line"
            )
        if chunk:
            yield chunk if read else chunk.removeprefix(mark)
        read += len(chunk)
        lines += int(np.count_nonzero(np.frombuffer(chunk, np.uint8) == ord("\n")))


def _check_text(
    decoder: codecs.IncrementalDecoder, chunk: bytes, name: str, read: int, lines: int, pending: int
) -> None:
    """Raise InputError for a NUL, and for what is not UTF-8; an empty chunk is the end.

    read, lines: bytes and line feeds before the chunk.
    pending: bytes before the chunk that began a character.
    """
    at = chunk.find(b"\x00")
    if at >= 0:
        raise InputError(
            f"{name}: is not text (a NUL byte at byte {read + at + 1}); "
            "give CSV, TSV, plain text (UTF-8), gzip of these, or Parquet"
        )
    try:
        decoder.decode(chunk, final=not chunk)
    except UnicodeDecodeError as error:
        line = lines + error.object.count(b"\n", 0, error.start) + 1
        place = f"line {line} (byte {read - pending + error.start + 1})"
        raise InputError(
            f"{name}: {place} is not UTF-8; convert the file to UTF-8, e.g. with iconv -f LATIN1 -t UTF-8"
        ) from None
