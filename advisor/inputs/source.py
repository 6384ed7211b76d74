"""Open a file or standard input, and turn whatever is wrong with its bytes into one line."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from advisor.errors import InputError, near_miss, printable, reason
from advisor.inputs.held import check_content, held_stream

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LONGEST_LINE = 1 << 20
"""Longest line read, in characters; it bounds the memory that a file without line ends can take."""

CHUNK_BYTES = 1 << 19
"""Bytes of text that are in memory at a time; larger blocks fall out of the processor's cache."""

_PEEKED = 4096
_SPOOLED_IN_MEMORY = 64 << 20
_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
# NUL; in Windows-1252, which has no control characters, all of them and bytes that stand for nothing.
_NO_TEXT = re.compile("[\\0-\\x08\\x0e-\\x19\\x1b-\\x1f\ufffd]")
# What a zip archive is, by the name of its first member, which stands behind 30 bytes.
_ZIPPED = (
    (rb"[^/]*\.npy", "a NumPy archive (.npz)", "write its arrays as CSV, for example with numpy.savetxt"),
    (rb"\[Content_Types\]\.xml|_rels/|docProps/|xl/", "an Excel workbook (.xlsx)", "save the sheet as CSV"),
    (rb"mimetype", "an OpenDocument file (.ods)", "save the sheet as CSV"),
    (rb"", "a zip archive", "unpack it, and name the file in it"),
)
_KNOWN_BINARY = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook (.xls)", "save the sheet as CSV"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed", "decompress it first (gzip is read directly)"),
    (b"\xfd7zXZ\x00", "xz-compressed", "decompress it first (gzip is read directly)"),
    (b"BZh91AY&SY", "bzip2-compressed", "decompress it first (gzip is read directly)"),
    (b"SQLite format 3\x00", "an SQLite database", "export the table as CSV"),
    (b"\x93NUMPY", "a NumPy array", "write it as CSV, for example with numpy.savetxt"),
    (b"%PDF", "a PDF", "copy the table into a CSV file"),
    (b"$FL2", "an SPSS file (.sav)", "export the table as CSV"),
    (b"$FL3", "an SPSS file (.zsav)", "export the table as CSV"),
    (b"<stata_dta>", "a Stata file (.dta)", "export the table as CSV"),
    (b"{\\rtf", "an RTF document", "copy the table into a CSV file"),
    (b"version https://git-lfs", "a pointer of Git LFS to the file", "fetch it with git lfs pull"),
    (b"ARROW1", "an Arrow (Feather) file", "write it as Parquet or CSV"),
    (b"\x80\x04", "a Python pickle, which is never loaded", "write it as CSV or Parquet"),
    (b"\x80\x05", "a Python pickle, which is never loaded", "write it as CSV or Parquet"),
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
        self.is_windows = False  # whether the text that was read so far is Windows-1252, not UTF-8

    @property
    def notes(self) -> tuple[str, ...]:
        """Warning about the encoding, once the text is read."""
        if not self.is_windows:
            return ()
        return ("the text is not UTF-8, and was read as Windows-1252 (cp1252): look at letters with accents",)

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

    def pieces(self) -> Iterator[str]:
        """Yield the text, decompressed, in pieces of whole lines, without a byte order mark; a line feed ends a line.

        UTF-16 is known by its mark, Windows-1252 by its first byte that is not UTF-8.

        Raises InputError for a known binary format, for bytes that are no text, damaged gzip data and lines over a
        million characters.
        """
        above, pending = 0, ""
        for text in self._texts():
            pending += text
            end = max(pending.rfind("\n"), pending.rfind("\r", 0, -1)) + 1  # a line feed may follow a carriage return
            if len(pending) - end > LONGEST_LINE:
                line = above + pending.count("\n", 0, end) + 1
                raise InputError(
                    f"{self.name}: line {line} is longer than {LONGEST_LINE} characters; "
                    "give one value, or one row of a table, a line"
                )
            if end:
                yield _with_line_feeds(pending[:end])
                above += pending.count("\n", 0, end)
                pending = pending[end:]
        if pending:
            yield _with_line_feeds(pending) if pending[-1] in "\r\n" else _with_line_feeds(pending) + "\n"

    def _texts(self) -> Iterator[str]:
        """Yield the text in pieces of any size.

        Text that is ASCII up to its first byte that is not UTF-8 is what spreadsheets write on Windows.
        """
        stream, begin = self._unpacked()
        encoding = "utf-16" if begin.startswith(_UTF16) else "utf-8-sig"
        decoder: codecs.IncrementalDecoder = codecs.getincrementaldecoder(encoding)()
        read, line, plain, ended = 0, 1, True, False
        while not ended:
            chunk = _read(stream, CHUNK_BYTES, self.name)
            ended = not chunk
            self.check_unchanged()  # a file that grows faster than it is read would never end
            try:
                text = decoder.decode(chunk, ended)
            except UnicodeDecodeError as error:
                before = error.object[: error.start]
                if error.encoding != "utf-8" or not (plain and before.isascii()):
                    raise self._no_text(line + before.count(b"\n")) from None
                self.is_windows = True
                decoder = codecs.getincrementaldecoder("cp1252")("replace")
                text = decoder.decode(error.object)
            if (self.is_windows or "\0" in text) and (odd := _NO_TEXT.search(text)):
                raise self._no_text(line + text.count("\n", 0, odd.start()))
            yield text
            plain = plain and text.isascii()
            line += text.count("\n")
            read += len(chunk)
            check_content(self.name, read)

    def _unpacked(self) -> tuple[BinaryIO, bytes]:
        """Return the stream of bytes, decompressed, and the first of them; raise InputError for a binary format."""
        _refuse_binary(self._begin, self.name)
        stream = self.binary()
        if not self._begin.startswith(_GZIP):
            return stream, self._begin
        stream = cast(BinaryIO, gzip.GzipFile(fileobj=stream, mode="rb"))
        begin = _first_bytes(stream, self.name)
        _refuse_binary(begin, f"{self.name} (decompressed)")
        if begin.startswith(_PARQUET) and b"\x00" in begin:
            raise InputError(f"{self.name}: is a gzip of a Parquet file; decompress it first")
        return _joined(begin, stream), begin

    def _no_text(self, line: int) -> InputError:
        return InputError(
            f"{self.name}: line {line} is no text: it is neither UTF-8 nor Windows-1252 (or the file mixes both), or "
            "holds NUL bytes; give CSV, TSV or plain text in UTF-8, gzip of these, or Parquet"
        )


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
    if isinstance(stream, tempfile.SpooledTemporaryFile):  # to ask it for its file would write it to disk
        return None
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):  # bytes in memory, or a stream that is closed
        return None
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def _open_path(path: str) -> BinaryIO:
    try:
        return Path(path).open("rb")
    except FileNotFoundError as error:
        where = Path(path)
        hint = f"no such file{near_miss(where.name, _names_in(where.parent))}"
        raise InputError(f"{printable(path)}: {reason(error) if where.is_symlink() else hint}") from None
    except OSError as error:
        raise InputError(
            f"{printable(path) or repr(path)}: cannot be read ({reason(error)}); name another file"
        ) from None
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
    if begin.startswith(b"PK\x03\x04"):
        _, what, way_out = next(kind for kind in _ZIPPED if re.match(kind[0], begin[30:]))
        raise InputError(f"{name}: is {what}, not text; {way_out}")


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


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
