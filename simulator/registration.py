"""Members that a caller brings: a function or a class, checked, guarded, and put into its table for this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulator import plugins
from simulator.conformance import ConformanceError, check_metric, check_postprocessor, check_protocol
from simulator.conformance.requirement import require_texts, text_of
from simulator.foreign import FAILURES, REGISTERED, ForeignError, containment, guard, watched
from simulator.foreign import register as register_source
from simulator.methods import PostProcessor
from simulator.metrics import Metric
from simulator.protocols.functions import user_protocol
from simulator.protocols.protocol import StandardProtocol

KINDS = {"protocol": "PROTOCOLS", "method": "POSTPROCESSORS", "metric": "METRICS"}
FUNCTIONS = "perturb(self, values, k, epsilon, rng) and estimate(self, reports, k, epsilon)"
CALLED = {  # how a function is called, which a function that fails may not know
    "method": "a method is called as f(estimate, noise), with estimates (..., k) in an array, and returns an array of "
    "that shape; a function of one argument gets an Observed",
    "metric": "a metric is called as f(estimate, truth), with arrays (..., k) and (k,), and returns (...)",
}


def register(member: Any, kind: str | None = None, *, source: str | None = None) -> str:
    """Put a protocol, a post-processing method or a metric into its table, for this process.

    It is then simulated and ranked like the others, by its name, with the guards of members of other packages: a member
    that fails is skipped with a `simulator.plugins.PluginWarning`. Registering a name again replaces the member.

    Parameters
    ----------
    member
        A subclass of `FrequencyOracle` or `StandardProtocol`, a class with the methods ``perturb(values, k, epsilon,
        rng)`` and ``estimate(reports, k, epsilon)`` (see `simulator.protocols.functions.user_protocol`), a
        `PostProcessor`, a `Metric`, or a function, whose name is the member's: ``function(estimate, noise)`` or
        ``function(observed)`` for a method, ``function(estimate, truth)`` for a metric.
    kind
        ``"protocol"``, ``"method"`` or ``"metric"``; needed for a function.
    source
        What messages call it; default: the function or class by its module.

    Returns
    -------
    The name in the table.

    Raises
    ------
    ValueError
        A single line, if it is not such a member, its name is taken, or it breaks its contract
        (`simulator.conformance`). A metric is checked when it is first used, with the k of the question.
    """
    table, _ = plugins.load()
    code = getattr(member, "function", member)  # of a PostProcessor or a Metric
    called = source or f"{getattr(code, '__module__', '')}:{getattr(code, '__qualname__', type(member).__name__)}"
    kind_wanted = kind if kind is not None else _kind_of(member)
    if kind_wanted not in KINDS:
        allowed = ", ".join(KINDS)
        raise ValueError(f"{called}: say which kind of member it is, one of {allowed}: register(member, 'method')")
    with containment(), watched(f"checking {kind_wanted} {called}"):
        try:
            built = guard(lambda: _made(member, kind_wanted, called))
            name = guard(lambda: _checked(built, kind_wanted, table))
        except ForeignError as error:
            form = f" ({CALLED[kind_wanted]})" if kind_wanted in CALLED and "breaks its contract" in str(error) else ""
            raise ValueError(f"{called}: {error}{form}") from None
    table[KINDS[kind_wanted]][name] = built
    register_source(name, called, str(getattr(member, "__module__", "")))
    REGISTERED[name] = called
    FAILURES.pop(name, None)
    return name


def _kind_of(member: Any) -> str | None:
    if isinstance(member, type):
        return "protocol"
    return "method" if isinstance(member, PostProcessor) else "metric" if isinstance(member, Metric) else None


def _made(member: Any, kind: str, called: str) -> Any:
    """Return the member, or the result of a factory function; it is not checked yet."""
    if kind == "protocol" and isinstance(member, type) and not issubclass(member, StandardProtocol):
        if not all(callable(getattr(member, name, None)) for name in ("perturb", "estimate")):
            raise ForeignError(f"a protocol is a subclass of FrequencyOracle, or a class of two methods: {FUNCTIONS}")
        texts = {name: text for name in ("title", "reference") if (text := text_of(member, name))}
        pair: Any = member()
        key = text_of(member, "key") or member.__name__.lower()
        return user_protocol(pair.perturb, pair.estimate, key, **{"reference": called, **texts})
    if kind == "protocol" or isinstance(member, PostProcessor | Metric) or not callable(member):
        return member
    if isinstance(member, type):
        made_as = "a Metric" if kind == "metric" else "a PostProcessor"
        raise ForeignError(f"this is a class, a {kind} is a function or {made_as}")
    function: Callable[..., Any] = member
    name = str(getattr(function, "__name__", ""))
    if kind == "metric":
        return Metric(name, name, function, unit="no unit")
    return PostProcessor(
        name, name, function, nonnegative=False, sums_to_one=False, reference=called, keeps_order=False
    )


def _left_open(member: type) -> list[str]:
    """Return the required attributes that a protocol does not define."""
    texts = [f"the text {field}" for field in ("key", "title", "reference") if not text_of(member, field)]
    return [*texts, *sorted(getattr(member, "__abstractmethods__", ()))]


def _checked(member: Any, kind: str, tables: dict[str, dict[str, Any]]) -> str:
    """Return the name of a member that keeps its contract."""
    if _kind_of(member) != kind:
        got = f"a {_kind_of(member)}" if _kind_of(member) else f"a {type(member).__name__}"
        raise ForeignError(f"this is {got}, a {kind} is needed")
    if kind == "protocol" and (missing := _left_open(member)):
        raise ForeignError(f"it lacks {', '.join(missing)} (examples/sampled_bit.py is a whole protocol)")
    field = "key" if kind == "protocol" else "name"
    name = getattr(member, field)
    if not isinstance(name, str) or not plugins.NAME.fullmatch(name) or name in plugins.RESERVED:
        raise ForeignError(
            f"its {field} must be lower-case words joined by underscores, begin with a letter, and be none of "
            f"{', '.join(sorted(plugins.RESERVED))}, got {name!r}"
        )
    same = (other for table in tables.values() for other in table if other.replace("_", "") == name.replace("_", ""))
    for taken in same:
        if taken not in REGISTERED or taken not in tables[KINDS[kind]]:
            raise ForeignError(f"the name {name} is taken by {taken!r}: rename it")
    try:
        if kind == "protocol":
            check_protocol(member)
        elif kind == "method":
            check_postprocessor(member)
        else:
            require_texts(member, "Metric", "name", "title", "unit")  # the rest as soon as k is known
    except ConformanceError as error:
        raise ForeignError(f"it breaks its contract: {error}") from None
    return name


def check_own_metric(metric: Metric, k: int) -> None:
    """Check a registered metric at the k of a question.

    Raises ForeignError if it breaks its contract there.
    """
    try:
        with containment(), watched(f"checking metric {REGISTERED[metric.name]}"):
            check_metric(metric, k, own=True)
    except ConformanceError as error:
        raise ForeignError(f"{REGISTERED[metric.name]}: it breaks its contract: {error} ({CALLED['metric']})") from None
