"""Code of other people, named on the command line as ``module:function`` or ``file.py:function``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from advisor.errors import InputError, near_miss
from simulator.foreign import ForeignError, containment, guard

FILE = "ldp_advise_file_"  # what stands before the name of a file: numpy.py must not become numpy


def load_function(option: str, name: str) -> Callable[..., Any]:
    """Import a function; modules are looked for in the current directory too.

    Raises InputError if the name has no such form, the module cannot be imported, or has no such function.
    """
    where, colon, path = name.rpartition(":")
    if not (colon and where and path):
        raise InputError(f"{option} must be module:function or file.py:function, got {name!r}")
    try:
        with containment():
            member: Any = guard(lambda: _module(where))
            for part in path.split("."):
                if not guard(partial(hasattr, member, part)):
                    raise InputError(f"{option} {name}: {where} has no {part!r}{near_miss(part, dir(member))}")
                member = getattr(member, part)
    except ForeignError as error:
        raise InputError(f"{option}: {where} cannot be imported ({error})") from None
    if not callable(member):
        raise InputError(f"{option} {name}: this is a {type(member).__name__}, a function is needed")
    function: Callable[..., Any] = member
    return function


def _module(where: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    if not where.endswith(".py"):
        return importlib.import_module(where)
    spec = importlib.util.spec_from_file_location(FILE + Path(where).stem, where)
    if spec is None or spec.loader is None:
        raise ImportError(f"{where} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # data classes look their module up there
    spec.loader.exec_module(module)
    return module
