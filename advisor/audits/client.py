"""Functions of other people, named on the command line as ``module:function`` or ``file.py:function``."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from advisor.errors import InputError, near_miss


@contextmanager
def output_to_stderr() -> Iterator[None]:
    """Send what foreign code, or a program that it starts, prints to standard error: the answer has the other."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if sys.__stdout__ is not None:
            sys.__stdout__.flush()  # it can be reached under this name too
        os.dup2(kept, 1)
        os.close(kept)


def load_function(option: str, name: str) -> Callable[..., Any]:
    """Import a function; modules are looked for in the current directory too.

    Raises InputError if the name has no such form, the module cannot be imported, or has no such function.
    """
    where, colon, path = name.rpartition(":")
    if not (colon and where and path):
        raise InputError(f"{option} must be module:function or file.py:function, got {name!r}")
    found: Any = _module(option, where)
    for part in path.split("."):
        if not hasattr(found, part):
            raise InputError(f"{option} {name}: {where} has no {part!r}{near_miss(part, dir(found))}")
        found = getattr(found, part)
    if not callable(found):
        raise InputError(f"{option} {name}: this is a {type(found).__name__}, a function is needed")
    function: Callable[..., Any] = found
    return function


def _module(option: str, where: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        if not where.endswith(".py"):
            return importlib.import_module(where)
        spec = importlib.util.spec_from_file_location(Path(where).stem, where)
        if spec is None or spec.loader is None:
            raise ImportError(f"{where} is no Python file")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    # Foreign code runs here and may raise anything, or try to leave.
    except (Exception, SystemExit) as error:  # noqa: BLE001
        raise InputError(f"{option}: {where} cannot be imported ({type(error).__name__}: {error})") from None
