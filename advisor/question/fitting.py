"""Which metrics, methods and threats of a question fit its domain and users."""

from __future__ import annotations

from collections.abc import Container

from advisor.errors import InputError, listed
from advisor.members import as_named
from advisor.question.settings import Menu, Terms, Threat
from knowledge.predict import predicted_protocols
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.channels.channel import ChannelProtocol
from simulator.foreign import REGISTERED

HONEST = Threat()


def fitting_metrics(
    question: Terms, ordered: bool, *, predictable: Container[str] | None = None
) -> tuple[tuple[str, ...], list[str]]:
    """Return the metrics asked for (l1 if none was), and a note on those that were left out.

    Parameters
    ----------
    ordered
        Whether the categories have an order.
    predictable
        For a look-up: the metrics that the model knows.

    Raises
    ------
    InputError
        If a metric that was named needs an order that is not there.
    """
    metrics = question.metrics or (() if question.every_metric else ("l1",))
    if not ordered:
        for name in metrics:
            if METRICS[name].ordered_only:
                others = listed((key for key, metric in METRICS.items() if not metric.ordered_only), most=20)
                raise InputError(
                    f"metric {name} needs an ordered domain, and these categories have no order: give --ordered if "
                    f"their order means something, or another metric ({others})"
                )
    if not question.every_metric:
        return metrics, []
    notes = []
    different = {key: metric for key, metric in METRICS.items() if not metric.same_order_as}
    fitting = [key for key, metric in different.items() if ordered or not metric.ordered_only]
    if left_out := [key for key in different if key not in fitting]:
        notes.append(f"metrics {listed(left_out)} are left out: they need an ordered domain (--ordered)")
    fitting = list(dict.fromkeys([*metrics, *fitting]))
    if predictable is not None and (unknown := [key for key in fitting if key not in predictable]):
        fitting = [key for key in fitting if key in predictable]
        notes.append(f"metrics {listed(unknown)} are left out: the model does not know them, a simulation does")
    return tuple(fitting), notes


def fitting_protocols(menu: Menu, ordered: bool, *, instant: bool = False) -> tuple[str, ...]:
    """Return the protocols asked for that fit the domain; for a look-up (`instant`) those that it covers.

    Raises InputError if a protocol that was named does not.
    """
    covered: Container[str] = predicted_protocols() if instant else PROTOCOLS
    fitting = []
    for name in menu.protocols:
        if PROTOCOLS[name].ordered_only and not ordered:
            reason = "needs an ordered domain: give --ordered if the order of the categories means something"
        elif name not in covered:
            reason = "is not predicted: give a sample to simulate it, and no --instant"
        elif issubclass(PROTOCOLS[name], ChannelProtocol) and name not in menu.protocol:
            continue  # its matrix may be for other domains and budgets
        else:
            fitting.append(name)
            continue
        if name in menu.protocol:
            raise InputError(f"protocol {name} {reason}")
    return tuple(fitting)


def refuse_registered(question: Terms, menu: Menu, k: int | None) -> None:
    """Refuse a prediction for members that the caller brought: models know none of them.

    Raises InputError if one was named.
    """
    registered = [name for name in (*menu.protocol, *menu.method, *question.metrics) if name in REGISTERED]
    if registered:
        texts = listed(REGISTERED[name] for name in registered)
        epsilon, n, size = question.epsilon or 1, question.n or 100_000, k or 64
        members = {"protocol": menu.protocol, "method": menu.method, "metric": question.metrics[:1]}
        words = " ".join(f"--{kind} {','.join(map(as_named, names))}" for kind, names in members.items() if names)
        raise InputError(
            f"{texts} cannot be predicted, only simulated: give a sample, or simulate an assumed shape, for example "
            f"ldp-advise sweep --eps {epsilon:g} --n {n} --k {size} --shape zipf:1 {words}"
        )


def fitting_methods(
    menu: Menu,
    metrics: tuple[str, ...],
    ordered: bool,
    threat: Threat = HONEST,
    *,
    k: int | None = None,
    reports: bool = True,
) -> tuple[str, ...]:
    """Return the methods asked for that fit the domain; with a threat, the remedies for it too.

    k: domain size of what is simulated; slow methods are left out of large ones unless they are named.
    reports: whether the reports themselves are there, or to come, and not an estimate alone.

    Raises InputError if a method that was named does not.
    """
    asks_queries = any(METRICS[name].clipped for name in metrics)
    fitting = []
    feared = threat.threat is not None
    for name in POSTPROCESSORS if feared and not menu.method else menu.methods:
        method = POSTPROCESSORS[name]
        if k is not None and method.largest is not None and k > method.largest and name not in menu.method:
            continue
        if method.is_remedy and not feared:
            reason = "is a remedy for fake users: ask ldp-advise fakes or estimate for it, with --threat SHARE"
        elif "targets" in method.needs and not threat.targets:
            reason = "needs to know what fake users promote: give --targets LABEL"
        elif "suspects" in method.needs and not reports:
            reason = "needs the reports one by one, and an estimate or a tally no longer has them"
        elif method.uses_order and not ordered:
            reason = "needs an ordered domain: give --ordered if the order of the categories means something"
        elif method.queries_only and not asks_queries:
            # Wang et al., Section IV-A: of single categories it is the same.
            fitting += ["base_pos"] if name in menu.method else []
            continue
        else:
            fitting.append(name)
            continue
        if name in menu.method:
            raise InputError(f"method {name} {reason}")
    return tuple(dict.fromkeys(fitting))


def known_targets(threat: Threat, labels: tuple[str, ...]) -> tuple[int, ...]:
    """Return the places of the categories that fake users are known to promote; empty if unknown.

    Raises InputError if one of them is no category, or none is left that is no target.
    """
    places = {label: place for place, label in enumerate(labels)}
    unknown = [label for label in threat.targets if label not in places]
    if unknown:
        quoted = (
            "; a label with a comma goes in double quotes within the word" if any("," in one for one in labels) else ""
        )
        there = f"there are {listed(labels, most=9)}{quoted}"
        raise InputError(f"targets must be categories, got {listed(unknown)}: {there}")
    if len(threat.targets) >= len(labels) and labels:
        raise InputError(f"targets must leave a category that is none, got all {len(labels)}")
    return tuple(sorted(places[label] for label in threat.targets))


def checked_threat(threat: Threat, n: int | None, *, instant: bool) -> float | None:
    """Return the share of users that an attacker controls, if that can be simulated for n users (None: not known yet).

    Raises InputError if it cannot.
    """
    share = threat.threat
    if share is not None and instant:
        raise InputError("--threat needs a simulation, and this answer is predicted: give a sample, and no --instant")
    if share is not None and n is not None and not max(1, round(share * n)) < n:
        raise InputError(f"threat {share:g} leaves no honest user among n={n}")
    return share
