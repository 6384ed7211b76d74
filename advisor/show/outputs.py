"""Output files: checked early, never overwritten without force, and written atomically."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from advisor.errors import InputError, listed, reason

STREAMS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}


@dataclass(frozen=True)
class Target:
    """A file that an option names, checked before anything is read."""

    option: str  # the option
    path: Path  # the file to write: the target of a link, not the link
    force: bool  # whether an existing file may be replaced
    suffix: str  # suffix of the given name: the target of a link may have another name
    # whether it is a device or a pipe, which is written to and never replaced by a file
    is_stream: bool = False

    def write(self, fill: Callable[[Path], object]) -> None:
        """Let `fill` write a temporary file and move it to the target, so that no incomplete file is visible.

        Raises InputError if a file has appeared there since the check and may not be replaced, or if the file system
        refuses.
        """
        try:
            folder = None if self.is_stream else self.path.parent
            handle, name = tempfile.mkstemp(prefix=".ldp-advise-", suffix=self.suffix[:9], dir=folder)
            os.close(handle)
            temporary = Path(name)
            try:
                fill(temporary)
                if self.is_stream:
                    with temporary.open("rb") as source, _opened(self.path) as stream:
                        shutil.copyfileobj(source, stream)
                else:
                    _grant(temporary, self.path)
                    _move(temporary, self.path, force=self.force)
            finally:
                temporary.unlink(missing_ok=True)
        except FileExistsError:
            raise InputError(
                f"{self.option} {self.path}: the file has appeared since this run began; give --force to replace it, "
                "or another name"
            ) from None
        except OSError as error:
            raise InputError(f"{self.option} {self.path}: cannot be written ({reason(error)})") from None

    def write_text(self, text: str) -> None:
        """Write a text as `write` does."""
        self.write(lambda temporary: temporary.write_text(text, encoding="utf-8"))


class Outputs:
    """All output files of a run: none of them is read in the same run, and no two are the same.

    force: whether existing files may be replaced.
    inputs: all files that are read, "-" for standard input; they are never written, even with force.

    >>> outputs = Outputs(force=False, inputs=["sample.csv"])
    >>> outputs.add("--output", None) is None
    True
    """

    def __init__(self, *, force: bool, inputs: Sequence[str] = ()) -> None:
        self._force = force
        self._inputs = tuple(inputs)
        self._targets: list[Target] = []

    def add(
        self, option: str, path: str | None, *, suffixes: Sequence[str] = (), continues: bool = False
    ) -> Target | None:
        """Check a file as `take` does; None if the option was not given."""
        return None if path is None else self.take(option, path, suffixes=suffixes, continues=continues)

    def take(self, option: str, path: str, *, suffixes: Sequence[str] = (), continues: bool = False) -> Target:
        """Check a file and return it.

        suffixes: allowed suffixes, with their dots; empty: any.
        continues: whether an existing file is continued, so that it need not be replaced.

        Raises InputError if it cannot be written, is read in the same run, or is the file of another option.
        """
        suffix = Path(path).suffix.lower()
        if suffixes and suffix not in suffixes:
            raise InputError(
                f"{option} {path}: the suffix must be {listed(filter(None, suffixes))}, got {suffix or 'none'!r}"
            )
        try:
            target = self._checked(option, path, replaces=self._force or continues)
            for other in self._targets:
                if _same(target.path, other.path):
                    raise InputError(f"{option} {path}: {other.option} writes the same file; give each its own name")
        except OSError as error:
            raise InputError(f"{option} {path}: cannot be written ({reason(error)})") from None
        self._targets.append(target)
        return target

    def _checked(self, option: str, path: str, *, replaces: bool) -> Target:
        """Return the target if a file, a device or a pipe can be written there."""
        # The target of a link is written, not the link; but the target of /dev/stdout has no name.
        descriptor = _descriptor(path)
        target = Path(path if descriptor is not None else os.path.realpath(path))
        state = _state(target)
        if path.endswith(os.sep) or (state is not None and stat.S_ISDIR(state.st_mode)):
            raise InputError(f"{option} {path}: this is a directory, a file name is needed")
        if state is not None and any(_reads(name, state) for name in self._inputs):
            raise InputError(f"{option} {path}: this file is read in the same run, so it is never overwritten")
        if descriptor is not None and state is None:
            raise InputError(f"{option} {path}: is closed")
        if descriptor is not None or (state is not None and _is_stream(state)):
            return Target(option, target, self._force, Path(path).suffix, is_stream=True)
        if state is not None and not stat.S_ISREG(state.st_mode):
            raise InputError(f"{option} {path}: this is neither a file nor a pipe")
        if state is not None and not replaces:
            raise InputError(f"{option} {path}: the file exists; give --force to replace it, or another name")
        if not target.parent.is_dir():
            parent = target.parent if Path(path).is_symlink() else Path(path).parent
            raise InputError(f"{option} {path}: there is no directory {parent}")
        # What replaces a file is made beside it first.
        needed = [(target.parent, os.W_OK | os.X_OK), *([] if state is None else [(target, os.W_OK)])]
        if not all(os.access(one, mode) for one, mode in needed):
            raise InputError(f"{option} {path}: no permission to write there")
        return Target(option, target, self._force, Path(path).suffix)


def check_folder(option: str, folder: str, *, force: bool, own: Container[str] = ()) -> None:
    """Check that a folder can be made, or that it holds no files but its own, unless `force` is given.

    own: names of files that an earlier run left there, and this one continues.

    Raises InputError for the first problem.
    """
    path = Path(folder)
    try:
        others = sorted(entry.name for entry in path.iterdir() if entry.name not in own)
    except FileNotFoundError as error:
        if path.resolve().parent.is_dir() and not path.is_symlink():
            return
        why = reason(error) if path.is_symlink() else f"there is no directory {path.resolve().parent}"
        raise InputError(f"{option} {folder}: {why}") from None
    except NotADirectoryError:
        raise InputError(f"{option} {folder}: this is a file; name a folder, new or empty") from None
    except OSError as error:
        raise InputError(f"{option} {folder}: cannot be used ({reason(error)})") from None
    if others and not force:
        raise InputError(
            f"{option} {folder}: the folder holds other files ({listed(others, most=3)}); name another one, or give "
            "--force to write there nevertheless"
        )


def _state(path: str | Path) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 - also of names of inputs
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_stream(state: os.stat_result) -> bool:
    return stat.S_ISCHR(state.st_mode) or stat.S_ISFIFO(state.st_mode)


def _descriptor(path: str | Path) -> int | None:
    """Return the file descriptor of this process that a name refers to; None for all other names.

    >>> _descriptor("/dev/stdout"), _descriptor("/dev/fd/63"), _descriptor("/dev/null")
    (1, 63, None)
    """
    numbered = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d{1,6})", str(path))
    return int(numbered[1]) if numbered else STREAMS.get(str(path))


def _opened(path: Path) -> BinaryIO:
    """Open a device or a pipe; a file behind standard output is written at its current position, not emptied."""
    descriptor = _descriptor(path)
    return path.open("wb") if descriptor is None else os.fdopen(os.dup(descriptor), "wb")


def _reads(name: str, state: os.stat_result) -> bool:
    """Return whether an input is the file or pipe with that state, also through standard input."""
    if not (stat.S_ISREG(state.st_mode) or stat.S_ISFIFO(state.st_mode)):
        return False
    try:
        other = os.fstat(0) if name == "-" else _state(name)
    except (OSError, ValueError):
        return False  # an unreadable file is reported when it is read
    return other is not None and os.path.samestat(other, state)


def _same(one: Path, other: Path) -> bool:
    """Return whether two names are the same file; a device, such as /dev/null, takes several outputs."""
    state, beside = _state(one), _state(other)
    if state is None or beside is None:
        return one == other
    return os.path.samestat(state, beside) and not stat.S_ISCHR(state.st_mode)


def _grant(temporary: Path, target: Path) -> None:
    """Give a temporary, private file the permissions of the file that it replaces, or those of a new file."""
    state = _state(target)
    if state is None:
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        return
    with suppress(OSError):  # only an administrator can give a file away
        os.chown(temporary, state.st_uid, state.st_gid)
    temporary.chmod(stat.S_IMODE(state.st_mode))


def _move(temporary: Path, target: Path, *, force: bool) -> None:
    """Give a file its name; without force only if the name is still free."""
    if not force:
        try:
            os.link(temporary, target)
        except FileExistsError:
            raise
        except OSError:  # a file system without links: take the name first
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        else:
            return
    temporary.replace(target)
