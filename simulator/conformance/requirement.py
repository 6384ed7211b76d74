"""What a check raises, and how it asks a member that may fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from simulator.foreign import described

ROUNDING = 1e-9


class ConformanceError(AssertionError):
    """A member breaks a promise; one sentence says which."""


def require(kept: bool | np.bool_, sentence: str) -> None:
    """Raise `ConformanceError` unless a promise is kept."""
    if not kept:
        raise ConformanceError(sentence)


def answer_of(question: str, call: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a call into the member gives; whatever it raises instead is a broken promise."""
    try:
        return call(*arguments)
    except ConformanceError:
        raise
    except Exception as error:  # foreign code may raise anything; it goes on as the cause of ours
        raise ConformanceError(f"{question} must not fail, but raised {described(error)}") from error


def text_of(member: Any, field: str) -> str:
    """Return a text that a member should have, without blanks around it; empty if it has none."""
    value = getattr(member, field, "")
    return value.strip() if isinstance(value, str) else ""
