import numpy as np
from simulator import METRICS

# Frequencies of the categories{{ ", in their natural order" if metric.ordered_only }}.
truth = np.array([0.40, 0.25, 0.15, 0.10, 0.05, 0.03, 0.02, 0.00])
estimate = np.array([0.38, 0.26, 0.17, 0.11, 0.06, 0.03, 0.00, 0.00])  # or several, (..., k)

error = METRICS["{{ key }}"](estimate, truth)  # unit: {{ metric.unit }}
# {% if option %}

other = METRICS["{{ key }}"].with_options({{option[0]}})(estimate, truth)  # {{ option[1] }}
# {% endif %}
# {% if metric.clipped is not none %}

clipped = METRICS["{{ key }}"].clipped_error(estimate, truth)  # negative answers set to 0
# {% endif %}
