"""Recipes with this package, for every member."""

from __future__ import annotations

import inspect
from pathlib import PurePath

from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, PostProcessor
from simulator.domain import ORDERED, UNORDERED
from simulator.foreign import REGISTERED
from simulator.methods import possible
from simulator.protocols import StandardProtocol

_COLLECTED = """\
import numpy as np
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.domain import {domain}
from simulator.methods import observe

protocol = PROTOCOLS["{protocol}"](k={k}, epsilon={epsilon})
rng = np.random.default_rng()  # not a secure generator: for studies, not for real secrets
values = rng.integers(0, protocol.k, size=1_000)  # in place of the users' values, each in 0..k-1

reports = protocol.perturb(values, rng)  # client: all that leaves the users
tally = protocol.tally(reports)  # server: tallies of parts of the users add up
observed = observe(protocol, tally, {domain})  # what a method may see
{raw}improved = POSTPROCESSORS["{method}"].apply(observed)

# To simulate many users, draw the tally instead: its cost does not depend on n.
counts = 1_000 * np.bincount(values, minlength=protocol.k)  # users who hold each value
drawn = observe(protocol, protocol.sample_tally(counts, rng), {domain})
simulated = POSTPROCESSORS["{method}"].apply(drawn)
"""

_RAW = """\
estimate = observed.estimate  # unbiased frequencies: some are negative
sd = np.sqrt(observed.covariance.entry(np.clip(estimate, 0, 1)))  # roughly the sd of each
"""

_METHOD = """\
import numpy as np
from simulator import POSTPROCESSORS, PROTOCOLS

{order}estimate = np.array([0.38, 0.26, 0.17, 0.11, 0.06, 0.03, 0.01, -0.02])
n = 10_000  # users who reported
oracle = PROTOCOLS["{protocol}"](k=len(estimate), epsilon=1.0)  # what they reported with
noise = oracle.noise(n)  # its variance, and what else a method may know

improved = POSTPROCESSORS["{key}"](estimate, noise)
"""

_REMEDY = """\
import numpy as np
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.domain import Attackers, Domain

estimate = np.array([0.38, 0.26, 0.17, 0.11, 0.06, 0.03, 0.01, -0.02])  # raw, unbiased estimates
n = 10_000  # users who reported
oracle = PROTOCOLS["oue"](k=len(estimate), epsilon=1.0)  # what they reported with
# At most so many of the users are fake, and they promote these values.
domain = Domain(attackers=Attackers(share=0.05, targets=(1, 4)))

improved = POSTPROCESSORS["{key}"](estimate, oracle.noise(n), domain)
"""

_DETECTION = """\
import numpy as np
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.methods import observe
from simulator.poisoning import frequent_set, suspects_of

protocol = PROTOCOLS["oue"](k=16, epsilon=1.0)
rng = np.random.default_rng()  # not a secure generator: for studies, not for real secrets
reports = protocol.perturb(rng.integers(0, protocol.k, size=10_000), rng)
reports[:500, [2, 5, 7, 11]] = 1  # fake users, who promote four values

supports = reports.astype(bool)  # which values each report supports
values = frequent_set(supports, protocol.p, protocol.q)  # None where no set stands out
suspects = None if values is None else suspects_of(supports, values)
observed = observe(protocol, protocol.tally(reports), suspects=suspects)
improved = POSTPROCESSORS["{key}" if suspects else "norm_sub"].apply(observed)
"""

_UNORDERED = "# Raw, unbiased estimates, one per category; a leading axis for several at once is fine.\n"
_ORDERED = "# Raw, unbiased estimates, the categories in their natural order: the method relies on it.\n"

_QUERIES = """
# The method leaves the estimate as it is: clip the answer of each query instead.
answer = max(float(improved[[1, 5, 7]].sum()), 0.0)
"""

_METRIC = """\
import numpy as np
from simulator import METRICS

{order}truth = np.array([0.40, 0.25, 0.15, 0.10, 0.05, 0.03, 0.02, 0.00])
estimate = np.array([0.38, 0.26, 0.17, 0.11, 0.06, 0.03, 0.00, 0.00])  # or several, (..., k)

error = METRICS["{key}"](estimate, truth)  # unit: {unit}
"""

_OWN = """\
{path}import simulator
from {module} import {function}

simulator.register({function}, "{kind}")

"""

_PATH = """\
import sys

sys.path.insert(0, "{folder}")  # the folder of {file}
"""

_USUAL = ("tree_eb", "em_stopped", "norm_sub", "none")  # methods of the recipes of protocols: the first that fits

_METRIC_ORDERED = "# Frequencies of the categories, in their natural order.\n"

_OPTIONS = {
    "mix": ("1e-3", "weight of the uniform distribution"),
    "top_values": ("3", "how many of the most frequent values"),
    "set_share": ("0.25", "share of the domain that a subset holds"),
}

_CLIPPED = 'clipped = METRICS["{key}"].clipped_error(estimate, truth)  # negative answers set to 0\n'


def package_recipe(kind: str, key: str, k: int = 16, epsilon: float = 1.0) -> str:
    """Return Python that uses one member with this package.

    kind: ``"protocol"``, ``"method"`` or ``"metric"``.
    key: key in the table of that kind: of this package's own members or of others'.
    k, epsilon: settings of a protocol.

    Returns a script that runs as it stands, on values that are there to be replaced. Raises KeyError if there is no
    such kind, method or metric.
    """
    if kind == "protocol":
        return _own(kind, key) + _protocol_recipe(key, k, epsilon)
    return _own(kind, key) + {"method": _method_recipe, "metric": _metric_recipe}[kind](key)


def _own(kind: str, key: str) -> str:
    """Return what puts a member from a file into its table, which no other process has it in; "" for all others."""
    file, _, function = REGISTERED.get(key, "").rpartition(":")
    if not file.endswith(".py"):
        return ""
    path = PurePath(file)
    folder = path.parent.as_posix()
    start = "" if folder == "." else _PATH.format(folder=folder, file=path.name)
    return _OWN.format(path=start, module=path.stem, function=function, kind=kind)


def _protocol_recipe(key: str, k: int, epsilon: float) -> str:
    protocol, domain = _small(key), ORDERED if PROTOCOLS[key].ordered_only else UNORDERED
    fitting = (name for name in _USUAL if possible(POSTPROCESSORS[name], protocol, domain, 1_000))
    return _collected_recipe(key, next(fitting, _USUAL[-1]), k, epsilon)


def _method_recipe(key: str) -> str:
    method = POSTPROCESSORS[key]
    if method.is_remedy:
        return (_DETECTION if "suspects" in method.needs else _REMEDY).format(key=key)
    protocol = _protocol_for(method)
    if PROTOCOLS[protocol].ordered_only:
        return _collected_recipe(protocol, key)
    order = _ORDERED if method.uses_order else _UNORDERED
    recipe = _METHOD.format(key=key, order=order, protocol=protocol)
    return recipe + _QUERIES if method.queries_only else recipe


def _collected_recipe(protocol: str, method: str, k: int = 16, epsilon: float = 1.0) -> str:
    """Return a recipe from the values of users to what a method makes of their reports."""
    domain = "ORDERED" if PROTOCOLS[protocol].ordered_only else "UNORDERED"
    raw = _RAW if _small(protocol).offers("estimate") else ""
    return _COLLECTED.format(protocol=protocol, method=method, domain=domain, raw=raw, k=k, epsilon=epsilon)


def _small(key: str) -> StandardProtocol:
    return PROTOCOLS[key](k=8, epsilon=1.0)


def _protocol_for(method: PostProcessor) -> str:
    """Return a protocol that the method is for: one for ordered domains if it needs the order, OUE if it can."""
    ordered = [key for key, kind in PROTOCOLS.items() if kind.ordered_only and "order" in method.needs]
    for key in (*ordered, "oue", *PROTOCOLS):
        if possible(method, _small(key), ORDERED, 10_000):
            return key
    return "oue"


def _metric_recipe(key: str) -> str:
    metric = METRICS[key]
    recipe = _METRIC.format(key=key, unit=metric.unit, order=_METRIC_ORDERED if metric.ordered_only else "")
    known = inspect.signature(metric.function).parameters
    for option, (value, meaning) in _OPTIONS.items():
        if option in known:
            recipe += f"\n# {option}: {meaning}\n"
            recipe += f'other = METRICS["{key}"].with_options({option}={value})(estimate, truth)\n'
    if metric.clipped is not None:
        recipe += "\n" + _CLIPPED.format(key=key)
    return recipe
