"""Scripts that use one member with this package."""

from __future__ import annotations

import inspect
from pathlib import PurePath

from advisor.extensions.code.collection import rendered
from advisor.members import as_named
from advisor.members.names import TABLES
from advisor.question.settings import Cells
from knowledge.menu import ALIASES, COVERED, MEASURED
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, FrequencyOracle, PostProcessor
from simulator.channels import PLANAR
from simulator.domain import ORDERED
from simulator.foreign import REGISTERED, SOURCES
from simulator.methods import possible
from simulator.methods.processor import SUMMARIES
from simulator.protocols import StandardProtocol

ATTACKED = "Domain(attackers=simulator.domain.Attackers(share=0.05, targets=(1, 4)))"
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
    registration = _registration(kind, key)
    if kind == "metric":
        arguments = inspect.signature(METRICS[key].function).parameters
        option = next((setting for name, setting in OPTIONS.items() if name in arguments), None)
        return registration + rendered("metric.py", key=key, metric=METRICS[key], option=option)
    if kind == "method":
        method = POSTPROCESSORS[key]
        fitting = (name for name in ("oue", *PROTOCOLS) if possible(method, PROTOCOLS[name](8, 1.0), ORDERED, 10_000))
        protocol = next(fitting, "oue")
    else:
        protocol, method = key, POSTPROCESSORS[usual_method(PROTOCOLS[key])]
    small = PROTOCOLS[protocol](k=8, epsilon=1.0)
    ordered = "ORDERED" if small.ordered_only or method.uses_order else "UNORDERED"
    return registration + _collection(
        f'simulator.PROTOCOLS["{protocol}"](k={k}, epsilon={epsilon})',
        ATTACKED if method.is_remedy else ordered,
        method,
        estimates=small.offers("estimate"),
        alone=kind == "method" and isinstance(small, FrequencyOracle),
    )


def usual_method(protocol: type[StandardProtocol]) -> str:
    """Return a method that fits a protocol."""
    provided = protocol(k=8, epsilon=1.0).provides
    if protocol.ordered_only and "haar" in provided:
        return "tree_eb"
    return "norm_sub" if "estimate" in provided else "em_stopped"


def usage_on(cells: Cells, key: str, epsilon: float) -> str:
    """Return Python that uses a mechanism for places on these cells, see `usage`."""
    protocol = f'simulator.channels.PLANAR["{key}"](domain.ground, epsilon={epsilon} / {cells.radius})'
    return _collection(protocol, f"Domain(ground=simulator.places.{cells.places})", POSTPROCESSORS["ibu"])


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
    return f"ldp-advise --eps {epsilon:g} {data} --{kind} {as_named(name)}{' --ordered' * ordered}"


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


def _collection(
    protocol: str, domain: str, method: PostProcessor, *, estimates: bool = False, alone: bool = False
) -> str:
    """Return a script from the values of users to what a method makes of their reports.

    protocol, domain: Python that makes them.
    estimates, alone: whether there is an unbiased estimate, and whether to show the method of an estimate alone.
    """
    values = {"protocol": protocol, "domain": f"simulator.domain.{domain}", "method": method}
    return rendered("collect.py", **values, estimates=estimates, alone=alone)
