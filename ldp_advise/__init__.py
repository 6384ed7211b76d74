"""The public API under the name that pip knows: ``from ldp_advise import advise``. It is that of `advisor`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import advisor

if TYPE_CHECKING:
    from advisor import *  # noqa: F403


__doc__ = advisor.__doc__


def __getattr__(name: str) -> Any:
    """Take a name from `advisor`, which imports it when it is first asked for."""
    if name in dir(advisor):
        return getattr(advisor, name)
    raise AttributeError(f"module 'ldp_advise' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return dir(advisor)
