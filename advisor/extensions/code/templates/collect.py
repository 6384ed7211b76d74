import numpy as np
from simulator import POSTPROCESSORS, PROTOCOLS  # {%- if cells +%}
from simulator.channels import PLANAR
from simulator.domain import Domain  # {%- else +%}
from simulator.domain import ORDERED, UNORDERED  # {%- endif +%}
from simulator.methods import observe  # {%- if cells +%}
from simulator.places import Places  # {%- endif +%}

# {% if cells %}
domain = Domain(ground={{cells.places}})
protocol = PLANAR["{{ protocol }}"](domain.ground, epsilon={{epsilon}} / {{cells.radius}})
# {% else %}
protocol = PROTOCOLS["{{ protocol }}"](k={{k}}, epsilon={{epsilon}})
domain = ORDERED if protocol.ordered_only else UNORDERED
# {% endif %}
rng = np.random.default_rng()  # not a secure generator: for studies, not for real secrets
values = rng.integers(0, protocol.k, size=1_000)  # in place of the users' values, each in 0..k-1

reports = protocol.perturb(values, rng)  # client: all that leaves the users
tally = protocol.tally(reports)  # server: tallies of parts of the users add up
observed = observe(protocol, tally, domain)  # what a method may see
# {% if estimates %}
estimate = observed.estimate  # unbiased frequencies: some are negative
sd = np.sqrt(observed.covariance.entry(np.clip(estimate, 0, 1)))  # roughly the sd of each
# {% endif %}
improved = POSTPROCESSORS["{{ method }}"].apply(observed)

# To simulate many users, draw the tally instead: by its law, if it has one, at a cost that does not depend on n.
counts = 1_000 * np.bincount(values, minlength=protocol.k)  # users who hold each value
drawn = observe(protocol, protocol.sample_tally(counts, rng), domain)
simulated = POSTPROCESSORS["{{ method }}"].apply(drawn)
