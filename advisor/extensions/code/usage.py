"""Scripts that use one member with this package."""

from __future__ import annotations

import inspect
from pathlib import PurePath

from advisor.extensions.code.collection import environment
from advisor.members.names import TABLES
from advisor.question.settings import Cells
from knowledge.menu import ALIASES, COVERED, MEASURED
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, PostProcessor
from simulator.channels import PLANAR
from simulator.domain import ORDERED, UNORDERED
from simulator.foreign import REGISTERED, SOURCES
from simulator.methods import possible
from simulator.methods.processor import SUMMARIES
from simulator.protocols import StandardProtocol

ENVIRONMENT = environment("# ")
USUAL = ("tree_eb", "em_stopped", "norm_sub", "none")  # methods of the scripts of protocols: the first that fits
OPTIONS = {  # of metrics: a value, and what it means
    "mix": ("mix=1e-3", "weight of the uniform distribution"),
    "top_values": ("top_values=3", "how many of the most frequent values"),
    "set_share": ("set_share=0.25", "share of the domain that a subset holds"),
}


def usage(kind: str, key: str, k: int = 16, epsilon: float = 1.0) -> str:
    """Return Python that uses one member with this package.

    kind: ``"protocol"``, ``"method"`` or ``"metric"``.
    key: key in the table of that kind, for members of this package or of others.
    k, epsilon: settings of a protocol.

    Returns a script that runs as it stands, on values that are there to be replaced. Raises KeyError if there is no
    such kind, method or metric.
    """
    if kind == "protocol":
        return _registration(kind, key) + _of_protocol(key, k, epsilon)
    return _registration(kind, key) + {"method": _of_method, "metric": _of_metric}[kind](key)


def usage_on(cells: Cells, key: str, epsilon: float) -> str:
    """Return Python that uses a mechanism for places on these cells, see `usage`."""
    return _filled("collect.py", protocol=key, method="ibu", cells=cells, epsilon=epsilon, estimates=False)


def trial(kind: str, key: str, epsilon: float = 1.0, k: int = 16) -> str:
    """Return a command line that ranks with one member, see `usage`; files stand for those of the reader.

    A sample is needed where predictions do not cover the member.
    """
    if key in PLANAR:
        return f"ldp-advise places visits.csv --grid 8x8 --privacy metric --radius 1 --eps {epsilon:g} --protocol {key}"
    if key in SUMMARIES:
        return f"ldp-advise estimate raw.csv --protocol oue --eps 1 --n 100k --method {key}"
    member = TABLES[kind][key]
    if isinstance(member, PostProcessor) and member.is_remedy:
        return "ldp-advise fakes --eps 1 --threat 0.05 sample.csv"
    ordered = member.uses_order if isinstance(member, PostProcessor) else getattr(member, "ordered_only", False)
    covered = {"method": key.partition(":")[0] in COVERED | {*ALIASES}, "metric": key in (*MEASURED, "mae")}
    data = f"--k {k}" if covered.get(kind, key not in SOURCES) else "sample.csv"
    name = "sets:groups.csv" if key == "sets" else key
    return f"ldp-advise --eps {epsilon:g} {data} --{kind} {name}{' --ordered' * ordered}"


def _registration(kind: str, key: str) -> str:
    """Return what puts a member from a file into its table, which no other process has it in; "" for all others."""
    file, _, function = REGISTERED.get(key, "").rpartition(":")
    if not file.endswith(".py"):
        return ""
    path = PurePath(file)
    folder = path.parent.as_posix()
    start = "" if folder == "." else f'import sys\n\nsys.path.insert(0, "{folder}")  # the folder of {path.name}\n'
    return (
        f'{start}import simulator\nfrom {path.stem} import {function}\n\nsimulator.register({function}, "{kind}")\n\n'
    )


def _of_protocol(key: str, k: int = 16, epsilon: float = 1.0, method: str | None = None) -> str:
    """Return a script from the values of users to what a method makes of their reports."""
    protocol, domain = _small(key), ORDERED if PROTOCOLS[key].ordered_only else UNORDERED
    fitting = (name for name in USUAL if possible(POSTPROCESSORS[name], protocol, domain, 1_000))
    key_of_method = method or next(fitting, USUAL[-1])
    estimates = protocol.offers("estimate")
    values = {"protocol": key, "method": key_of_method, "cells": None, "k": k, "epsilon": epsilon}
    return _filled("collect.py", **values, estimates=estimates)


def _of_method(key: str) -> str:
    """Return a script from an estimate to a better one."""
    method = POSTPROCESSORS[key]
    if "suspects" in method.needs:
        return _filled("detect.py", key=key)
    protocol = "oue" if method.is_remedy else _protocol_for(method)
    if PROTOCOLS[protocol].ordered_only:
        return _of_protocol(protocol, method=key)
    return _filled("method.py", key=key, method=method, protocol=protocol)


def _of_metric(key: str) -> str:
    """Return a script from an estimate and the truth to an error."""
    metric = METRICS[key]
    arguments = inspect.signature(metric.function).parameters
    option = next((setting for name, setting in OPTIONS.items() if name in arguments), None)
    return _filled("metric.py", key=key, metric=metric, option=option)


def _filled(template: str, **values: object) -> str:
    return ENVIRONMENT.get_template(template).render(values)


def _small(key: str) -> StandardProtocol:
    return PROTOCOLS[key](k=8, epsilon=1.0)


def _protocol_for(method: PostProcessor) -> str:
    """Return a protocol that the method is for: one for ordered domains if it needs the order, OUE if it can."""
    ordered = [key for key, kind in PROTOCOLS.items() if kind.ordered_only and "order" in method.needs]
    fitting = (key for key in (*ordered, "oue", *PROTOCOLS) if possible(method, _small(key), ORDERED, 10_000))
    return next(fitting, "oue")
