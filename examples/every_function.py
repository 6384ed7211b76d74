"""Every function of the package once."""

from __future__ import annotations

import pandas as pd

from ldp_advise import (
    AttackSettings,
    Cells,
    CentralPromise,
    InputError,
    Limits,
    Simulation,
    Threat,
    advise,
    audit,
    choose,
    estimate,
    memoise,
    pareto,
    places,
    plan,
    reports,
    sweep,
)

quick = Simulation(repetitions=4, max_repetitions=4, seed=1)
visits = pd.Series(["home"] * 500 + ["news"] * 300 + ["mail"] * 150 + ["maps"] * 50)

ranked = advise(1.0, sample=visits, n=100_000, method=["none", "norm_sub"], limits=Limits(max_bits=8), simulation=quick)
best = ranked.best
print(best.protocol, best.method, f"{best.error:.3g}", len(ranked.ties))
print(advise(1.0, k=64, shape=1.5, metric="emd", ordered=True).summary)
print(advise(k=64, n=100_000, promise=CentralPromise(central_epsilon=0.5, delta=1e-8)).best.epsilon)
threat = Threat(threat=0.05, targets=("home",))
print(advise(1.0, sample=visits, protocol="oue", method="none", threat=threat, simulation=quick).best.gain_maximal)

raw = pd.Series([0.52, 0.29, 0.17, 0.03], index=["home", "news", "mail", "maps"])
judged = estimate(raw, "oue", eps=1.0, n=100_000, method=["none", "norm_sub"], simulation=Simulation(repetitions=8))
print(judged.best.method, judged.intervals().shape)
repaired: pd.Series[float] = judged.apply(raw)
print(round(float(repaired.sum()), 3))
counted = reports(visits, "grr", eps=3.0, simulation=Simulation(repetitions=8))
print(counted.to_frame().shape[0] > 0, counted.next_round is not None)

planned = plan(target=0.1, eps=1.0, k=64, instant=True)
print(planned.value)
chosen = choose(n=200_000, k=5, within=2.0, sensitive="medium")
print(chosen.epsilon, chosen.reason)
swept = sweep(eps=[0.5, 1], n=10_000, k=8, protocol=["grr", "oue"], method="norm_sub", simulation=quick)
print(swept.at(1.0, 10_000, 8).winner.protocol)
print(len(pareto(advise(1.0, k=64)).rows))
print(memoise(1.0, epsilon_forever=2.0, rounds=30, k=16).memoise)
print(audit(1.0, k=10, protocol="grr", attack=AttackSettings(trials=2000)).leaks)
town = pd.DataFrame({"row": [0, 1, 2, 2] * 50, "col": [0, 2, 1, 1] * 50})
print(places(town, 1.0, method="norm_sub", cells=Cells(grid="3x3"), simulation=quick).best("emd").pair)
try:
    advise(1.0, k=64, limits=Limits(max_bits=0))
except InputError as error:
    print(error)
