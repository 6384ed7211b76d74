"""Members that a caller brings: from a file (``mine.py:soft``), or as Python has them, without installing anything."""

from __future__ import annotations

import inspect
from functools import cache
from pathlib import Path
from typing import Any

from advisor.errors import InputError, listed
from advisor.members.loading import load_function, load_module, module_name, offered
from simulator.foreign import REGISTERED

FORM = ".py:"  # what tells a member of a file from one of the tables
SUFFIX = ".py"
_given: dict[str, object] = {}  # members that came as they are, by key


@cache
def member_of_file(kind: str, name: str) -> str:
    """Load a member and put it into its table; return its key there.

    Raises InputError if there is no such file or function, or it breaks its contract.
    """
    file, _, function = name.rpartition(":")
    if not function:
        raise InputError(_file_alone(kind, file))
    _require_file(kind, name, file)
    return _registered(load_function(kind, name), kind, name)


def member_in_file(name: str) -> tuple[str, str]:
    """Load a member of any kind and put it into its table; return its kind and its key.

    A function is a metric if its second argument is the truth, else a method.

    Raises InputError as `member_of_file`.
    """
    _require_file("NAME", name, name.rpartition(":")[0])
    member: Any = load_function("NAME", name)
    kind = "protocol" if isinstance(member, type) else "method"
    function = getattr(member, "function", member)  # of a PostProcessor or a Metric
    if kind == "method" and "truth" in list(inspect.signature(function).parameters)[1:2]:
        kind = "metric"
    return kind, member_of_file(kind, name)


def member_of_python(kind: str, member: Any) -> str:
    """Put a function, or a member, into its table; return its key there. The same one is checked once.

    Raises InputError if it is none of this kind, or breaks its contract.
    """
    for key, other in _given.items():
        if other is member and key in REGISTERED:
            return key
    key = _registered(member, kind, None)
    _given[key] = member
    return key


def _registered(member: Any, kind: str, source: str | None) -> str:
    from simulator import register  # heavy: its checks

    try:
        return register(member, kind, source=source)
    except ValueError as error:
        raise InputError(str(error)) from None


def as_named(key: str) -> str:
    """Return a member as a command line names it: one of a file with its file.

    >>> as_named("norm_sub")
    'norm_sub'
    """
    source = REGISTERED.get(key, key)
    return source if FORM in source else key


def file_of(name: str) -> str:
    """Return the file of a member that is named with it.

    >>> file_of("own/mine.py:soft")
    'own/mine.py'
    """
    return name.rpartition(":")[0]


def defined_in(file: str) -> tuple[str, ...]:
    """Return the functions and classes of a file from which a member was loaded."""
    return offered(module_name(file))


def file_hint(kind: str, name: str) -> str | None:
    """Return what to type instead of a file alone, or of a function whose file was named just before; else None."""
    if name.endswith(SUFFIX):
        return _file_alone(kind, name)
    files = dict.fromkeys(source.rpartition(":")[0] for source in REGISTERED.values() if FORM in source)
    for file in files:
        if name in offered(module_name(file)):
            return f"unknown {kind} {name!r}; {file} has one: name each with its file, {file}:{name}"
    return None


def _file_alone(kind: str, file: str) -> str:
    """Return what is in a file that was named without a function."""
    _require_file(kind, file, file)
    load_module(kind, file)
    names = offered(module_name(file))
    if not names:
        return f"{kind} {file}: this file defines no function and no class"
    return f"{kind} {file}: name what is in the file, {listed(f'{file}:{name}' for name in names)}"


def _require_file(kind: str, name: str, file: str) -> None:
    if not Path(file).is_file():
        raise InputError(f"{kind} {name}: there is no file {file}")
