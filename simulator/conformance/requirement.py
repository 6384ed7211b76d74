"""The exception of checks, and calls into members that may fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from traceback import walk_tb
from typing import Any

import numpy as np

from simulator.foreign import OURS, ForeignError, described

ROUNDING = 1e-9


class ConformanceError(AssertionError):
    """A member breaks a promise; the message names it."""


def require(kept: bool | np.bool_, sentence: str) -> None:
    """Raise `ConformanceError` unless a promise is kept."""
    if not kept:
        raise ConformanceError(sentence)


def answer_of(question: str, call: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a call into the member; any exception is a broken promise."""
    try:
        with np.errstate():  # the member's own may stay
            return call(*arguments)
    except ConformanceError:
        raise
    except ForeignError as error:
        raise ConformanceError(str(error)) from error
    except Exception as error:  # foreign code may raise anything; it goes on as the cause of ours
        raise ConformanceError(f"{question} must not fail, but raised {described(error)}{_place(error)}") from error


def _place(error: BaseException) -> str:
    """Return where foreign code failed, ``" (mine.py, line 12)"``: the last line in its file; "" for our code.

    The libraries that it calls are passed over.
    """
    own, place = None, 0
    for frame, line in walk_tb(error.__traceback__):
        package, file = str(frame.f_globals.get("__name__", "")).partition(".")[0], frame.f_code.co_filename
        own = file if own is None and package not in OURS else own
        place = line if file == own else place
    return "" if own is None else f" ({Path(own).name}, line {place})"


def text_of(member: Any, field: str) -> str:
    """Return a text that a member should have, without blanks around it; empty if it has none."""
    value = getattr(member, field, "")
    return value.strip() if isinstance(value, str) else ""


def require_texts(member: Any, who: str, *fields: str) -> None:
    """Raise `ConformanceError` unless a member has these texts."""
    for field in fields:
        require(bool(text_of(member, field)), f"{who}.{field} must be a text that is not empty")


def require_refusal(call: Callable[[], object], sentence: str) -> None:
    """Raise `ConformanceError` unless a call is refused with a ValueError."""
    try:
        call()
    except ValueError:
        return
    raise ConformanceError(sentence)
