import numpy as np
import simulator  # {%- if "suspects" in method.needs +%}
from simulator.poisoning import frequent_set, suspects_of  # {%- endif +%}

domain = {{domain}}
protocol = {{protocol}}
method = simulator.POSTPROCESSORS["{{ method.name }}"]
rng = np.random.default_rng()  # not a secure generator: for studies, not for real secrets
values = rng.integers(0, protocol.k, size=1_000)  # in place of the users' values, each in 0..k-1

reports = protocol.perturb(values, rng)  # client: all that leaves the users
# {% if "suspects" in method.needs %}
reports[:50, [2, 5, 7, 11]] = 1  # fake users, who promote four values
supports = reports.astype(bool)  # which values each report supports
promoted = frequent_set(supports, protocol.p, protocol.q)  # None where no set stands out
suspects = None if promoted is None else suspects_of(supports, promoted)
observed = simulator.methods.observe(protocol, protocol.tally(reports), domain, suspects=suspects)
improved = (method if suspects else simulator.POSTPROCESSORS["norm_sub"]).apply(observed)
# {% else %}
tally = protocol.tally(reports)  # server: tallies of parts of the users add up
observed = simulator.methods.observe(protocol, tally, domain)  # what a method may see
# {% if estimates %}
estimate = observed.estimate  # unbiased frequencies: some are negative
sd = np.sqrt(observed.covariance.entry(np.clip(estimate, 0, 1)))  # roughly the sd of each
# {% endif %}
improved = method.apply(observed)
# {% if alone %}
improved = method(estimate, protocol.noise(1_000), domain)  # the same from an estimate of so many users, or several
# {% endif %}
# {% if method.queries_only %}
# The method leaves the estimate as it is: clip the answer of each query instead.
answer = max(float(improved[[1, 5, 7]].sum()), 0.0)
# {% endif %}

# To simulate many users, draw the tally instead: by its law, if it has one, at a cost that does not depend on n.
counts = 1_000 * np.bincount(values, minlength=protocol.k)  # users who hold each value
drawn = simulator.methods.observe(protocol, protocol.sample_tally(counts, rng), domain)
simulated = method.apply(drawn)
# {% endif %}
