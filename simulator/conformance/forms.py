"""Members as people write them, and the frame of their checks."""

from __future__ import annotations

from typing import Any

from simulator.channels.own import Channel, channel_protocol
from simulator.conformance.requirement import ConformanceError, text_of
from simulator.foreign import ForeignError
from simulator.methods import PostProcessor
from simulator.metrics import Metric
from simulator.protocols.functions import user_protocol
from simulator.protocols.protocol import StandardProtocol

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


def member_under_check(member: Any, kind: str) -> Any:
    """Return what `as_member` does, for a check: raises ConformanceError for what is none."""
    try:
        return as_member(member, kind)
    except ForeignError as error:
        raise ConformanceError(str(error)) from None
