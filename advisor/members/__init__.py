"""Members from the caller: from a file (``mine.py:soft``), or as Python objects, without installation."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from advisor.errors import InputError, listed, near_miss
from simulator.foreign import REGISTERED, ForeignError, containment, guard

FILE = "ldp_advise_file_"  # prefix of a file's module: numpy.py must not become numpy


def load_function(option: str, name: str) -> Callable[..., Any]:
    """Import a function; modules are also searched in the current directory.

    Raises InputError if the name has another form, the module cannot be imported, or the function is missing.
    """
    where, colon, path = name.rpartition(":")
    if not (colon and where and path):
        raise InputError(f"{option} must be module:function or file.py:function, got {name!r}")
    member = load_module(option, where)
    try:
        with containment():
            for part in path.split("."):
                if not guard(partial(hasattr, member, part)):
                    names = offered(module_name(where))
                    there = f"; it defines {listed(names)}" if names else ""
                    miss = near_miss(part, names)
                    raise InputError(f"{option} {name}: {where} has no {part!r}{miss or there}")
                member = getattr(member, part)
    except ForeignError as error:
        raise InputError(f"{option}: {where} cannot be imported ({error})") from None
    if not callable(member):
        raise InputError(f"{option} {name}: this is a {type(member).__name__}, a function is needed")
    function: Callable[..., Any] = member
    return function


def load_module(option: str, where: str) -> Any:
    """Import a module, by name or by file.

    Raises InputError if it cannot be imported.
    """
    try:
        with containment():
            return guard(lambda: _module(where))
    except ForeignError as error:
        raise InputError(f"{option}: {where} cannot be imported ({error})") from None


def module_name(where: str) -> str:
    """Return the name under which a module is imported, given its name or its file.

    >>> module_name("own/mine.py"), module_name("package.module")
    ('ldp_advise_file_mine', 'package.module')
    """
    return FILE + Path(where).stem if where.endswith(".py") else where


def offered(name: str) -> tuple[str, ...]:
    """Return the callables that an imported module defines, in its order; nothing if it is not imported."""
    members = vars(sys.modules[name]) if name in sys.modules else {}
    return tuple(
        key
        for key, member in members.items()
        if not key.startswith("_") and callable(member) and (not _has_a_home(member) or member.__module__ == name)
    )


def _has_a_home(member: object) -> bool:
    """Return whether a callable knows the module of its definition: functions, classes and aliases of them."""
    return inspect.isroutine(member) or isinstance(member, type) or hasattr(member, "__origin__")


def _module(where: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    if not where.endswith(".py"):
        return importlib.import_module(where)
    spec = importlib.util.spec_from_file_location(module_name(where), where)
    if spec is None or spec.loader is None:
        raise ImportError(f"{where} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # data classes look up their module there
    spec.loader.exec_module(module)
    return module


FORM = ".py:"  # marks a member of a file, in contrast to a member of the tables
SUFFIX = ".py"
_given: dict[str, tuple[str, object]] = {}  # kind and member of those given as Python objects, by key


@cache
def member_of_file(kind: str, name: str) -> str:
    """Load and register a member; return its key in the table.

    Raises InputError if file or function do not exist, or if the member violates its contract.
    """
    file, _, function = name.rpartition(":")
    if not function:
        raise InputError(_file_alone(kind, file))
    _require_file(kind, name, file)
    return _registered(load_function(kind, name), kind, name)


def member_in_file(name: str) -> tuple[str, str]:
    """Load and register a member of any kind; return its kind and its key.

    A function is a protocol if its first argument is k, a metric if its second is the truth, else a method.

    Raises InputError as `member_of_file`.
    """
    _require_file("NAME", name, name.rpartition(":")[0])
    member: Any = load_function("NAME", name)
    names = [*inspect.signature(getattr(member, "function", member)).parameters]  # of a PostProcessor or a Metric
    kind = "protocol" if isinstance(member, type) or names[:1] == ["k"] else "method"
    if kind == "method" and "truth" in names[1:2]:
        kind = "metric"
    return kind, member_of_file(kind, name)


def member_of_python(kind: str, member: Any) -> str:
    """Register a function or a member; return its key in the table. The same member is checked only once.

    Raises InputError if it is not a member of this kind, or violates its contract.
    """
    for key, (known, other) in _given.items():
        if other is member and key in REGISTERED:
            if known == kind:
                return key
            from simulator.registration import unregister  # heavy: its checks

            unregister(key)  # named under the wrong keyword before
    key = _registered(member, kind, None)
    _given[key] = kind, member
    return key


def _registered(member: Any, kind: str, source: str | None) -> str:
    from simulator.registration import register  # heavy: its checks

    try:
        return register(member, kind, source=source)
    except ValueError as error:
        raise InputError(str(error)) from None


def as_named(key: str) -> str:
    """Return the name of a member on a command line: with its file, if it comes from a file.

    >>> as_named("norm_sub"), as_named("base_cut:keep=20")
    ('norm_sub', 'base_cut:keep=20')
    """
    base, colon, settings = key.partition(":")
    source = REGISTERED.get(base, base)
    return f"{source if FORM in source else base}{colon}{settings}"


def file_of(name: str) -> str:
    """Return the file in the name of a member.

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
    """Return the content of a file that was named without a function."""
    _require_file(kind, file, file)
    load_module(kind, file)
    names = offered(module_name(file))
    if not names:
        return f"{kind} {file}: this file defines no function and no class"
    return f"{kind} {file}: name what is in the file, {listed(f'{file}:{name}' for name in names)}"


def _require_file(kind: str, name: str, file: str) -> None:
    if not Path(file).is_file():
        raise InputError(f"{kind} {name}: there is no file {file}")
