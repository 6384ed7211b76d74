"""Code of other people, named on the command line as ``module:function`` or ``file.py:function``."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from advisor.errors import InputError, listed, near_miss
from simulator.foreign import ForeignError, containment, guard

FILE = "ldp_advise_file_"  # prefix of a file's module: numpy.py must not become numpy


def load_function(option: str, name: str) -> Callable[..., Any]:
    """Import a function; modules are looked for in the current directory too.

    Raises InputError if the name has no such form, the module cannot be imported, or has no such function.
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
    """Import a module, or the file of one.

    Raises InputError if it cannot be imported.
    """
    try:
        with containment():
            return guard(lambda: _module(where))
    except ForeignError as error:
        raise InputError(f"{option}: {where} cannot be imported ({error})") from None


def module_name(where: str) -> str:
    """Return the name under which a module, or the file of one, is imported.

    >>> module_name("own/mine.py"), module_name("package.module")
    ('ldp_advise_file_mine', 'package.module')
    """
    return FILE + Path(where).stem if where.endswith(".py") else where


def offered(name: str) -> tuple[str, ...]:
    """Return what an imported module defines itself and can be called, in its order; nothing if it is not imported."""
    members = vars(sys.modules[name]) if name in sys.modules else {}
    return tuple(
        key
        for key, member in members.items()
        if not key.startswith("_") and callable(member) and (not _has_a_home(member) or member.__module__ == name)
    )


def _has_a_home(member: object) -> bool:
    """Tell whether something callable says in which module it was defined: functions, classes and aliases of them."""
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
    sys.modules[module.__name__] = module  # data classes look their module up there
    spec.loader.exec_module(module)
    return module
