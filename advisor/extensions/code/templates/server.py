"""Server: counts reports and estimates frequencies, with ldp-advise (pip install ldp-advise).

{{ collection }}; post-processing: {{ method.title }} ({{ method.name }}).

    python server.py reports.csv > frequencies.csv

Written by ldp-advise.
"""

import csv
import pathlib
import sys

from advisor.extensions.code.collection import CodedCollection
from advisor.extensions.code.reports import counted  # {%- if collection.cells.grid +%}
from advisor.question.settings import Cells  # {%- endif +%}

PROTOCOL, METHOD = "{{ collection.protocol }}", "{{ collection.method }}"
K, EPSILON = {{collection.k}}, {{collection.epsilon}}
LABELS = {{collection.answers}}
# {% if collection.cells.grid %}
COLLECTION = CodedCollection(PROTOCOL, METHOD, K, EPSILON, cells={{collection.cells}})
# {% else %}
COLLECTION = CodedCollection(PROTOCOL, METHOD, K, EPSILON, hash="{{ collection.hash }}")
# {% endif %}

with pathlib.Path(sys.argv[1]).open(encoding="utf-8", errors="replace") as lines:
    tally, wrong = counted(COLLECTION, lines)
if wrong:
    print(f"{wrong} of {tally.n + wrong} lines are no reports, and were left out", file=sys.stderr)
frequencies = COLLECTION.frequencies(tally)
csv.writer(sys.stdout).writerows([("answer", "frequency"), *zip(LABELS, frequencies.tolist(), strict=True)])
