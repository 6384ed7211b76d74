"""Members that a caller brings: a function or a class, checked, guarded, and put into its table for this process."""

from __future__ import annotations

from typing import Any

from simulator import plugins
from simulator.channels.channel import ChannelProtocol
from simulator.conformance import ConformanceError, check_metric, check_postprocessor, check_protocol
from simulator.conformance.forms import as_member, kind_of, require_texts, source_of
from simulator.foreign import FAILURES, REGISTERED, ForeignError, containment, guard
from simulator.foreign import register as register_source
from simulator.metrics import Metric

KINDS = {"protocol": "PROTOCOLS", "method": "POSTPROCESSORS", "metric": "METRICS"}
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
        For a protocol a `simulator.Channel`, a class with the methods ``perturb(values, k, epsilon, rng)`` and
        ``estimate(reports, k, epsilon)`` (see `simulator.user_protocol`), or a subclass of `FrequencyOracle` or
        `StandardProtocol`; a `PostProcessor`; a `Metric`; or a function, whose name is the member's: ``function(k,
        epsilon)`` for a protocol, which returns a matrix, ``function(estimate, noise)`` or ``function(observed)`` for a
        method, ``function(estimate, truth)`` for a metric.
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
    called = source or source_of(member)
    kind_wanted = kind if kind is not None else kind_of(member)
    if kind_wanted not in KINDS:
        allowed = ", ".join(KINDS)
        raise ValueError(f"{called}: say which kind of member it is, one of {allowed}: register(member, 'method')")
    with containment():
        try:
            built = guard(lambda: as_member(member, kind_wanted, called))
            name = guard(lambda: _checked(built, kind_wanted, table))
        except ForeignError as error:
            form = f" ({CALLED[kind_wanted]})" if kind_wanted in CALLED and "breaks its contract" in str(error) else ""
            raise ValueError(f"{called}: {error}{form}") from None
    table[KINDS[kind_wanted]][name] = built
    register_source(name, called, str(getattr(member, "__module__", "")))
    REGISTERED[name] = called
    FAILURES.pop(name, None)
    return name


def unregister(name: str) -> None:
    """Take a registered member out of its table."""
    if REGISTERED.pop(name, None):
        for members in plugins.load()[0].values():
            members.pop(name, None)


def _checked(member: Any, kind: str, tables: dict[str, dict[str, Any]]) -> str:
    """Return the name of a member that keeps its contract."""
    replaceable = REGISTERED.keys() & tables[KINDS[kind]].keys()
    taken = (other for table in tables.values() for other in table if other not in replaceable)
    name = plugins.check_name(member.key if kind == "protocol" else member.name, taken)
    try:
        if kind == "protocol":
            if not issubclass(member, ChannelProtocol):  # a matrix is looked at wherever it is asked for
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
        with containment():
            check_metric(metric, k, own=True)
    except ConformanceError as error:
        raise ForeignError(f"{REGISTERED[metric.name]}: it breaks its contract: {error} ({CALLED['metric']})") from None
