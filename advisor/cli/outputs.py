"""Files that are written: refused early, never over what is there, all at once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from advisor.errors import InputError, listed


@dataclass(frozen=True)
class Target:
    """A file that an option names, checked before anything is read.

    Attributes
    ----------
    option : str
        The option.
    path : Path
        Where is written: what a link points to, not the link.
    force : bool
        Whether a file that is there may be replaced.
    """

    option: str
    path: Path
    force: bool

    def write(self, fill: Callable[[Path], object]) -> None:
        """Let `fill` write a temporary file beside the target and move it there, so that no half file is ever seen.

        A device or a pipe is not replaced by a file: what was written is copied into it.

        Raises
        ------
        InputError
            If a file has appeared there since the check and may not be replaced, or the file system refuses.
        """
        _write_atomically(self.path, fill, force=self.force)

    def write_text(self, text: str) -> None:
        """Write a text as `write` does."""
        self.write(lambda temporary: Path(temporary).write_text(text, encoding="utf-8"))


class Outputs:
    """All files that one run writes: none of them is read in the same run, and no two are the same.

    Parameters
    ----------
    force : bool
        Whether files that are there may be replaced.
    inputs : sequence of str
        All files that are read, "-" for standard input. They are never written, forced or not.

    Examples
    --------
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
        """Check a file and return it; None if the option was not given.

        Parameters
        ----------
        option : str
            The option that names it.
        path : str or None
            The name.
        suffixes : sequence of str
            Suffixes that it may have, with their dots; none given: any.
        continues : bool
            Whether a file that is there is continued, and so need not be replaced.

        Raises
        ------
        InputError
            If it cannot be written, is read in the same run, or is the file of another option.
        """
        if path is None:
            return None
        suffix = Path(path).suffix.lower()
        if suffixes and suffix not in suffixes:
            raise InputError(f"{option} {path}: the suffix must be {listed(suffixes)}, got {suffix or 'none'!r}")
        target = _checked(option, path, force=self._force or continues, inputs=self._inputs)
        for other in self._targets:
            if _same(target, other.path):
                raise InputError(f"{option} {path}: {other.option} writes the same file; give each its own name")
        self._targets.append(Target(option, target, self._force))
        return self._targets[-1]


def _checked(option: str, path: str, *, force: bool, inputs: Sequence[str]) -> Path:
    """Return the resolved path if a file, a device or a pipe can be written there.

    Raises
    ------
    InputError
        If it is a directory or one of the inputs, if it exists and `force` is not given, or if its directory is
        missing or cannot be written.
    """
    named = Path(path)
    # What a link points to is written, not the link; but /dev/stdout points to what has no name.
    target = named if _is_special(named) else named.resolve()
    if target.is_dir():
        raise InputError(f"{option} {path}: this is a directory, a file name is needed")
    if any(_reads(name, target) for name in inputs):
        raise InputError(f"{option} {path}: this file is read in the same run, so it is never overwritten")
    if target.is_file() and not force:
        raise InputError(f"{option} {path}: the file exists; give --force to replace it, or another name")
    if not target.parent.is_dir():
        raise InputError(f"{option} {path}: there is no directory {named.parent}")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise InputError(f"{option} {path}: no permission to write there")
    return target


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def _reads(name: str, target: Path) -> bool:
    """Tell whether an input is the target, also where standard input comes from it."""
    if not target.is_file():
        return False
    try:
        return os.path.samestat(os.fstat(0) if name == "-" else os.stat(name), target.stat())  # noqa: PTH116 - no path
    except (OSError, ValueError):
        return False  # what cannot be read is said when it is read


def _same(one: Path, other: Path) -> bool:
    if _is_special(one):
        return False  # a device takes more than one output
    return one == other or (one.exists() and other.exists() and one.samefile(other))


def _write_atomically(target: Path, write: Callable[[Path], object], *, force: bool) -> None:
    """Let `write` fill a temporary file beside the target and move it there, so that no half file is ever seen.

    A device or a pipe is not replaced by a file: what was written is copied into it.

    Raises
    ------
    InputError
        If the file system refuses, or there is a file and `force` is not given.
    """
    special = _is_special(target)
    try:
        handle, name = tempfile.mkstemp(
            prefix=f".{target.name}.", suffix=target.suffix, dir=None if special else target.parent
        )
        os.close(handle)
        temporary = Path(name)
        try:
            write(temporary)
            if special:
                with target.open("wb") as stream:
                    stream.write(temporary.read_bytes())
                return
            umask = os.umask(0)
            os.umask(umask)
            temporary.chmod(0o666 & ~umask)  # mkstemp made it private
            _move(temporary, target, force=force)
        finally:
            temporary.unlink(missing_ok=True)
    except FileExistsError:
        raise InputError(
            f"{target}: the file has appeared since this run began; give --force to replace it, or another name"
        ) from None
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror or error})") from None


def _move(temporary: Path, target: Path, *, force: bool) -> None:
    """Give a file its name; without force only if nobody else has taken it."""
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
