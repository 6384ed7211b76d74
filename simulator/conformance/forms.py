"""Members as people write them, and the frame of their checks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from traceback import walk_tb
from typing import Any

import numpy as np

from simulator.channels.channel import Channel, channel_protocol
from simulator.foreign import OURS, ForeignError, described
from simulator.methods import PostProcessor
from simulator.metrics import Metric
from simulator.protocols.functions import user_protocol
from simulator.protocols.protocol import StandardProtocol

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


FORMS = {
    "protocol": "a protocol is a Channel or a function of k and epsilon, which give a matrix, a class of two "
    "methods, perturb(self, values, k, epsilon, rng) and estimate(self, reports, k, epsilon), or a subclass of "
    "FrequencyOracle or StandardProtocol",
    "method": "a method is a function or a PostProcessor",
    "metric": "a metric is a function or a Metric",
}
TYPES = {"method": PostProcessor, "metric": Metric}


def source_of(member: Any) -> str:
    """Return what messages call a member: its function or class by its module."""
    code = getattr(member, "function", getattr(member, "matrix_for", member))  # of a PostProcessor, Metric or Channel
    name = getattr(code, "__qualname__", getattr(member, "key", type(member).__name__))
    return f"{getattr(code, '__module__', '')}:{name}".lstrip(":")


def kind_of(member: Any) -> str | None:
    """Return the kind of a member; None for a function, which may be any."""
    if isinstance(member, type | Channel):
        return "protocol"
    return next((kind for kind, own in TYPES.items() if isinstance(member, own)), None)


def as_member(member: Any, kind: str, called: str = "") -> Any:
    """Return the protocol class, method or metric that a member of this kind is, or stands for; it is not checked yet.

    Raises ForeignError for what is none.
    """
    called = called or source_of(member)
    got = kind_of(member)
    if got not in (kind, None) or not callable(member):
        what = "a class" if isinstance(member, type) else f"a {got or type(member).__name__}"
        raise ForeignError(f"this is {what}, {FORMS[kind]}")
    name = str(getattr(member, "__name__", ""))
    if kind == "protocol":
        if isinstance(member, type) and issubclass(member, StandardProtocol):
            missing = [f"the text {field}" for field in ("key", "title", "reference") if not text_of(member, field)]
            if missing := [*missing, *sorted(getattr(member, "__abstractmethods__", ()))]:
                raise ForeignError(f"it lacks {', '.join(missing)} (examples/sampled_bit.py is a whole protocol)")
            return member
        if not isinstance(member, type):
            return channel_protocol(member if isinstance(member, Channel) else Channel(name, member), called)
        if not all(callable(getattr(member, function, None)) for function in ("perturb", "estimate")):
            raise ForeignError(FORMS[kind])
        given = {field: text for field in ("title", "reference") if (text := text_of(member, field))}
        most = getattr(member, "most_users", StandardProtocol.most_users)
        pair: Any = member()
        key = text_of(member, "key") or name.lower()
        return user_protocol(pair.perturb, pair.estimate, key, most, **{"reference": called, **given})
    if got == kind:
        return member
    if kind == "metric":
        return Metric(name, name, member, unit="no unit")
    return PostProcessor(name, name, member, nonnegative=False, sums_to_one=False, reference=called, keeps_order=False)
