"""The public API under the name that pip knows: ``from ldp_advise import advise``. It is that of `advisor`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import advisor
from advisor import __all__ as __all__

if TYPE_CHECKING:
    from advisor import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """Take a name from `advisor`, which imports it when it is first asked for."""
    if name in __all__:
        return getattr(advisor, name)
    raise AttributeError(f"module 'ldp_advise' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return dir(advisor)
