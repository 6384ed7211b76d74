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
improved = POSTPROCESSORS["{{ key }}" if suspects else "norm_sub"].apply(observed)
