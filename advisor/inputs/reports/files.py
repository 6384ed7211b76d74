"""The files of reports that are named: patterns, the same file under two names, and what tells files apart."""

from __future__ import annotations

import glob
import hashlib
import io
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

from advisor.errors import InputError, printable, reason
from advisor.inputs.source import opened


def named_files(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the files that names and patterns stand for, each once and in the order of their names, and warnings.

    A name that is a file is no pattern, whatever marks it holds. Standard input, "-", comes last.

    Raises InputError for a pattern that no file fits, and where no file is named.
    """
    found: list[str] = []
    for name in names:
        if name == "-" or not glob.has_magic(name) or Path(name).exists():
            found.append(name)
            continue
        fitting = [path for path in glob.glob(name, recursive=True) if not Path(path).is_dir()]  # noqa: PTH207
        if not fitting:
            raise InputError(f"{printable(name)}: no file fits this pattern")
        found += fitting
    if not found:
        raise InputError("no file with reports is named: name one, or several, or - for standard input")
    kept: dict[object, str] = {}
    twice: dict[str, None] = {}
    for name in sorted(found, key=lambda name: (name == "-", name)):
        if (own := _identity(name)) in kept:
            twice[f"{printable(name)} is named twice, or under two names: its reports are counted once"] = None
        kept.setdefault(own, name)
    return tuple(kept.values()), tuple(twice)


def _identity(name: str) -> object:
    """Return what two names of one file have in common."""
    with suppress(OSError, ValueError):
        state = os.stat(name)  # noqa: PTH116 - also of "-"
        return state.st_dev, state.st_ino
    return name


def total_bytes(names: Sequence[str]) -> int:
    """Return how large files are together, as far as that is known beforehand."""
    sizes = 0
    for name in named_files(names)[0]:
        with suppress(OSError, ValueError):
            sizes += Path(name).stat().st_size
    return sizes


def digest_of(name: str, stdin: BinaryIO | None) -> str:
    """Return the SHA-256 of the bytes of a file, or of those that can be read again from standard input for "-".

    Raises InputError if it cannot be read.
    """
    with opened(name, stdin) as source:
        try:
            digest = hashlib.file_digest(cast(io.BufferedReader, source.binary()), "sha256").hexdigest()
        except OSError as error:
            raise InputError(f"{source.name}: cannot be read ({reason(error)})") from None
        if stdin is not None:
            source.binary()  # goes back to the beginning, for who reads it next
        return digest


def alike(digests: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return a warning for each two files, (name, digest), that hold the very same bytes."""
    first: dict[str, str] = {}
    warnings = []
    for name, digest in digests:
        if digest in first:
            warnings.append(
                f"{printable(first[digest])} and {printable(name)} hold the very same bytes and both are counted: "
                "if one is a copy of the other, leave it out"
            )
        first.setdefault(digest, name)
    return tuple(warnings)
