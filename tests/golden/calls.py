"""Python calls whose figures are kept, as the command lines' are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from advisor.answers.rank.trade_offs import Frontier
from ldp_advise import advise, audit, memoise, pareto, plan, sweep
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, rng_for
from simulator.methods import observe
from tests.golden.inputs import ESTIMATES, LABELS, WEIGHTS

COUNTS = {label: 60 * weight for label, weight in zip(LABELS, WEIGHTS, strict=True)}
RAW = pd.Series(ESTIMATES, index=LABELS, name="share")
QUICK = {"repetitions": 4, "max_repetitions": 4}
PAIR = {"protocol": "oue", "method": ["norm_sub", "none"]}
SIZES = pd.CategoricalDtype(["S", "M", "L", "XL"], ordered=True)


def half(estimate: np.ndarray, noise: object) -> np.ndarray:
    del noise
    return (estimate + 1 / estimate.shape[-1]) / 2


def collected(protocol: str) -> object:
    """The estimate and the noise of one collection by a protocol."""
    member = PROTOCOLS[protocol](8, 1.0)
    tally = member.sample_tally(np.array(list(COUNTS.values())), rng_for(3, "golden", protocol))
    return {"counts": tally.counts.tolist(), "bits": member.report_bits, "attack": member.attack_success}


def repaired(method: str) -> object:
    """One estimate after a method, and its errors."""
    oracle = PROTOCOLS["oue"](8, 1.0)
    held = np.array(list(COUNTS.values()), dtype=np.int64)
    observed = observe(oracle, oracle.sample_tally(held, rng_for(3, "golden", "repaired")))
    post_processed, truth = POSTPROCESSORS[method].apply(observed), held / held.sum()
    errors = {name: float(METRICS[name].function(post_processed, truth)) for name in ("l1", "l2", "kl", "js", "emd")}
    return {"estimate": post_processed.tolist(), "errors": errors}


def _rows(frontier: Frontier) -> object:
    return {"rows": [(row.protocol, row.method, row.error) for row in frontier.rows], "dominated": frontier.dominated}


CALLS: dict[str, Callable[[], object]] = {
    "advise(1, k=64)": lambda: advise(1, k=64),
    "advise(epsilon=1, k=64, n=10**6, metric='emd', ordered=True)": lambda: advise(
        epsilon=1, k=64, n=10**6, metric="emd", ordered=True
    ),
    "advise(eps=2, k=1000, max_bits=20, proper=True)": lambda: advise(eps=2, k=1000, max_bits=20, proper=True),
    "advise(1, k=64, shape='gaussian:0.1')": lambda: advise(1, k=64, shape="gaussian:0.1"),
    "advise(1, sample=series)": lambda: advise(1, sample=pd.Series(list("aabbbcccc") * 30), **QUICK, **PAIR),
    "advise(1, sample=value_counts)": lambda: advise(
        1, sample=pd.Series(list("aabbbcccc") * 30).value_counts(), **QUICK, **PAIR
    ),
    "advise(2, sample=ordered categories, metric='emd')": lambda: advise(
        2, sample=pd.Series(["M"] * 50 + ["L"] * 30 + ["S"] * 20, dtype=SIZES), n=20_000, metric="emd", **QUICK
    ),
    "advise(1, sample_counts=dict)": lambda: advise(1, sample_counts=COUNTS, n=20_000, **QUICK, **PAIR),
    "advise(1, sample_counts=array)": lambda: advise(1, sample_counts=np.arange(1, 9) * 50, **QUICK, **PAIR),
    "advise(1, sample=numbers, bins=4)": lambda: advise(1, sample=np.arange(200) % 37 / 2, bins=4, **QUICK, **PAIR),
    "advise(1, instant)": lambda: advise(1, sample_counts=COUNTS, instant=True),
    "advise(1, threat=0.05)": lambda: advise(1, sample_counts=COUNTS, threat=0.05, **QUICK, **PAIR),
    "advise(1, attributes=3)": lambda: advise(1, sample_counts=COUNTS, attributes=3, **QUICK, **PAIR),
    "advise(central_epsilon=0.5)": lambda: advise(central_epsilon=0.5, delta=1e-8, n=10**5, k=64),
    "advise(1, method=function)": lambda: advise(
        1, sample_counts=COUNTS, protocol="oue", method=[half, "norm_sub"], **QUICK
    ),
    "advise(1, estimate=series)": lambda: advise(
        1, estimate=RAW, protocol="oue", n=20_000, repetitions=4, method=["norm_sub", "none"]
    ),
    "advise(...).apply": lambda: advise(
        1, estimate=RAW, protocol="oue", n=20_000, repetitions=4, method=["norm_sub", "none"]
    ).apply(RAW),
    "advise(...).intervals": lambda: advise(
        1, estimate=RAW, protocol="oue", n=20_000, repetitions=4, method=["norm_sub", "none"]
    ).intervals(),
    "advise(...).to_frame": lambda: advise(1, k=16).to_frame(),
    "advise(tally=tree)": lambda: advise(
        1,
        tally=PROTOCOLS["tree"](8, 1.0).sample_tally(np.array(list(COUNTS.values())), rng_for(1, "golden")),
        protocol="tree",
        k=8,
        metric="emd",
        repetitions=4,
    ),
    "plan(target=0.1, eps=1, k=64, instant=True)": lambda: plan(target=0.1, epsilon=1, k=64, instant=True),
    "plan(detect=0.01, n=10**5, k=64)": lambda: plan(detect=0.01, n=10**5, k=64, protocol="oue"),
    "sweep": lambda: sweep(eps=[0.5, 2], n=[10_000], k=[16], repetitions=4, **PAIR),
    "pareto(advise(1, k=64))": lambda: _rows(pareto(advise(1, k=64))),
    "audit": lambda: audit(protocol=["grr", "oue"], epsilon=1, k=8, trials=5000),
    "memoise": lambda: memoise(epsilon=1, epsilon_forever=2, rounds=10, k=16, n=10**5),
    "all protocols": lambda: {name: collected(name) for name in PROTOCOLS},
    "noise of all oracles": lambda: {
        name: float(np.max(PROTOCOLS[name](8, 1.0).noise(10_000).sd))
        for name in ("grr", "oue", "olh", "ss", "hr", "pgr")
    },
    "all methods on one estimate": lambda: {
        name: repaired(name) for name in ("none", "norm", "norm_sub", "norm_cut", "mle_apx", "power_ns", "eb_ns")
    },
    "advise(0, k=8)": lambda: advise(0, k=8),
    "advise(1)": lambda: advise(1),
    "advise(1, k=8, metric='l3')": lambda: advise(1, k=8, metric="l3"),
    "advise(1, estimate without protocol)": lambda: advise(1, estimate=RAW, n=1000),
}
