"""Server: counts reports and estimates frequencies, with ldp-advise (pip install ldp-advise).

{{ collection }}; post-processing: {{ method.title }} ({{ method.name }}).

    python server.py reports.csv > frequencies.csv

Written by ldp-advise.
"""

import csv
import pathlib
import sys

from advisor.extensions.code.reports import counted
from simulator import POSTPROCESSORS, PROTOCOLS  # {%- if places +%}
from simulator.channels import PLANAR
from simulator.domain import Domain  # {%- else +%}
from simulator.domain import ORDERED  # {%- endif +%}
from simulator.methods import observe  # {%- if places +%}
from simulator.places import Places  # {%- endif +%}

PROTOCOL, METHOD = "{{ collection.protocol }}", "{{ collection.method }}"
K, EPSILON = {{collection.k}}, {{collection.epsilon}}
LABELS = {{labels}}
OPTIONS = {{options | tojson}}  # what else the lines depend on
# {% if places %}
PLACES, RADIUS = {{places}}, {{collection.cells.radius}}
# {% endif %}

with pathlib.Path(sys.argv[1]).open(encoding="utf-8", errors="replace") as lines:
    tally, wrong = counted(lines, {{"'grr'" if places else "PROTOCOL"}}, EPSILON, K, OPTIONS)
if wrong:
    print(f"{wrong} of {tally.n + wrong} lines are no reports, and were left out", file=sys.stderr)
# {% if places %}
observed = observe(PLANAR[PROTOCOL](PLACES, EPSILON / RADIUS), tally, Domain(ground=PLACES))
# {% else %}
observed = observe(PROTOCOLS[PROTOCOL](K, EPSILON), tally, ORDERED)
# {% endif %}
frequencies = POSTPROCESSORS[METHOD].apply(observed)
csv.writer(sys.stdout).writerows([("answer", "frequency"), *zip(LABELS, frequencies.tolist(), strict=True)])
