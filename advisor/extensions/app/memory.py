"""Memory that is freed goes back to the system, while the server goes on."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress

M_ARENA_MAX = -8  # of malloc.h


def set_up_memory() -> None:
    """Prepare this process before its threads start: `give_back` will return more, and sooner."""
    _glibc("mallopt", M_ARENA_MAX, 1)  # one heap for all threads: each would have its own, with holes
    gc.freeze()  # what is imported stays: a collection passes over it


def give_back() -> None:
    """Return to the system what ended sessions have left: their objects refer to each other."""
    gc.collect()
    _glibc("malloc_trim", 0)


def _glibc(name: str, *numbers: int) -> None:
    with suppress(OSError, AttributeError, TypeError):  # other systems have no such function
        getattr(ctypes.CDLL(None), name)(*numbers)
