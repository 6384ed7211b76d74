"""Python calls whose figures are kept, as the command lines' are: the lines of `calls.txt`, and what they name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from advisor.answers.rank.trade_offs import Frontier
from ldp_advise import (  # noqa: F401 - what is called
    AttackSettings,
    CentralPromise,
    Cleaning,
    Limits,
    Plurality,
    Simulation,
    advise,
    audit,
    estimate,
    memoise,
    pareto,
    plan,
    sweep,
)
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, rng_for
from simulator.methods import observe
from tests.golden.inputs import ESTIMATES, LABELS, WEIGHTS

COUNTS = {label: 60 * weight for label, weight in zip(LABELS, WEIGHTS, strict=True)}
RAW = pd.Series(ESTIMATES, index=LABELS, name="share")
QUICK = {"simulation": Simulation(repetitions=4, max_repetitions=4)}
PAIR = {"protocol": "oue", "method": ["norm_sub", "none"]}
FOUR = {"method": ["norm_sub", "none"], "simulation": Simulation(repetitions=4)}
SIZES = pd.CategoricalDtype(["S", "M", "L", "XL"], ordered=True)


def half(raw: np.ndarray, noise: object) -> np.ndarray:
    del noise
    return (raw + 1 / raw.shape[-1]) / 2


def all_protocols() -> object:
    """What the server counts of one collection by each protocol."""
    held, found = np.array(list(COUNTS.values())), {}
    for name, protocol in PROTOCOLS.items():
        member = protocol(8, 1.0)
        counts = member.sample_tally(held, rng_for(3, "golden", name)).counts
        found[name] = {"counts": counts.tolist(), "bits": member.report_bits, "attack": member.attack_success}
    return found


def all_noises() -> object:
    names = ("grr", "oue", "olh", "ss", "hr", "pgr")
    return {name: float(np.max(PROTOCOLS[name](8, 1.0).noise(10_000).sd)) for name in names}


def all_methods() -> object:
    """One estimate after each method, and its errors."""
    oracle, found = PROTOCOLS["oue"](8, 1.0), {}
    held = np.array(list(COUNTS.values()), dtype=np.int64)
    observed = observe(oracle, oracle.sample_tally(held, rng_for(3, "golden", "repaired")))
    for method in ("none", "norm", "norm_sub", "norm_cut", "mle_apx", "power_ns", "eb_ns"):
        repaired = POSTPROCESSORS[method].apply(observed)
        errors = {n: float(METRICS[n].function(repaired, held / held.sum())) for n in ("l1", "l2", "kl", "js", "emd")}
        found[method] = {"estimate": repaired.tolist(), "errors": errors}
    return found


def rows(frontier: Frontier) -> object:
    return {"rows": [(row.protocol, row.method, row.error) for row in frontier.rows], "dominated": frontier.dominated}


LINES = Path(__file__).with_name("calls.txt").read_text(encoding="utf-8").splitlines()
CALLS: dict[str, Callable[[], object]] = {line: partial(eval, line, globals()) for line in LINES}
