import numpy as np
from simulator import POSTPROCESSORS, PROTOCOLS

# {%- if method.is_remedy +%}
from simulator.domain import Attackers, Domain

# {%- endif +%}

# Raw, unbiased estimates, one per category; a leading axis for several at once is fine.
# {% if method.uses_order %}
# The categories are in their natural order: the method relies on it.
# {% endif %}
estimate = np.array([0.38, 0.26, 0.17, 0.11, 0.06, 0.03, 0.01, -0.02])
n = 10_000  # users who reported
oracle = PROTOCOLS["{{ protocol }}"](k=len(estimate), epsilon=1.0)  # what they reported with
noise = oracle.noise(n)  # its variance, and what else a method may know

# {% if method.is_remedy %}
# At most so many of the users are fake, and they promote these values.
domain = Domain(attackers=Attackers(share=0.05, targets=(1, 4)))
improved = POSTPROCESSORS["{{ key }}"](estimate, noise, domain)
# {% else %}
improved = POSTPROCESSORS["{{ key }}"](estimate, noise)
# {% endif %}
# {% if method.queries_only %}

# The method leaves the estimate as it is: clip the answer of each query instead.
answer = max(float(improved[[1, 5, 7]].sum()), 0.0)
# {% endif %}
