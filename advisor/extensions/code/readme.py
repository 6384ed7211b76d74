"""README.md of a deployment: one page that states the promise, what it does not cover, and how to use the files."""

from __future__ import annotations

import json
import math
import textwrap
from decimal import ROUND_CEILING, Context

from advisor.figures import percent
from knowledge.recipes import Collection, Parameters
from simulator import POSTPROCESSORS
from simulator.audit.client import CLIENT_TRIALS

NOTABLY = 0.999  # below this share of the budget, a page says that less is spent

PAGE = """\
# {title}

{settings}

## The promise
{shuffler}
Whatever line a device sends: it is at most {factor} times (e^ε) as likely with the user's answer as with any other of
the {k:,} answers. This holds in the worst case: for each pair of answers, each line, and whatever a reader of the line
knows besides. Someone to whom two answers seemed equally likely is right about them in at most {guess} of cases after
reading the line.

{exactly}

The randomness is that of the operating system (`secrets`; `crypto.getRandomValues`). Uniform numbers are drawn by
rejection, so none is favoured. The clients are not randomised by any other source unless a test passes one.

## What is NOT promised

- **Repeated collection.** Each line spends ε again: R lines of one user spend R times {epsilon}. If the question is
  asked again, send the stored line again and draw no new one. Answers to several questions add up in the same way.
- **Linkage.** A line hides the answer, not the sender. Addresses, accounts, cookies and times of arrival link lines to
  people, and to each other: do not store them with the lines.
- **Participation.** That a user sent a line at all is not hidden.
- **Side channels.** How long a client runs, how much power it draws, and what else runs on the device are not covered.
  The clients do not run in constant time: whoever can time one may learn which random branch it took, and so more
  than the line tells.
- **The device and the code.** Logs, crash reports and analytics must not hold the answer. Users trust whoever serves
  `client.mjs` to serve this file.
- **Correct figures.** Anybody can send false lines. `server.py` leaves out malformed lines; it cannot recognise lies.

## Use

```python
import client
line = client.report({answer})
```

```html
<script type="module">
  import {{ report }} from "./client.mjs";
  const line = report({browser_answer});
</script>
```

{use}

```sh
python server.py reports.csv > frequencies.csv
{reports}```

## Check

```sh
python check.py      # client.py and server.py give the figures in test_vectors.json
node check.mjs       # client.mjs makes the same lines from the same random bytes
{audit}
```

The audit attacks {calls} lines from `client.py` and bounds ε from below: more than {epsilon} would be a fault.
"""

LINES = {
    "value": "one number per line", "bits": "one line of {k} characters 0 and 1 per user",
    "subset": "one line per user, numbers with commas between them", "hash": "seed and symbol in each line",
    "symbol": "one number per line", "cells": "one line of {k} whole numbers per user",
    "node": "height and node in each line",
}  # fmt: skip


def readme(collection: Collection) -> str:
    """Return the page."""
    made = collection.parameters
    protocol, method = made.protocol, POSTPROCESSORS[collection.method]
    epsilon, labels = float(collection.epsilon), collection.labels
    last = collection.k - 1 if labels is None else labels[-1]
    ordered = protocol.ordered_only or method.uses_order
    line = LINES[protocol.report_kind].format(k=f"{collection.k:,}")
    order = f" Answers are numbers from 0 to {collection.k - 1}." if labels is None else ""
    order += " Their order counts: neighbours are taken to be similar." if ordered else ""
    return PAGE.format(
        title=f"Private collection with {protocol.title} ({collection.protocol})",
        settings=_folded(
            f"{protocol.title} ({protocol.reference}), ε = {made.epsilon}, {collection.k:,} possible answers; "
            f"post-processing: {method.title} ({collection.method}; {method.reference})."
        ),
        epsilon=made.epsilon,
        k=collection.k,
        factor=_rounded_up(math.exp(epsilon)),
        guess=percent(1 / (1 + math.exp(-epsilon))),
        shuffler=f"\n{_folded(f'**{collection.rests_on}**')}\n" if collection.rests_on else "",
        exactly=_exactly(made),
        answer=repr(last),
        browser_answer=json.dumps(last, ensure_ascii=False),
        use=_folded(
            f"`report` refuses what is not an answer.{order} Collect the lines in a file without header: {line}. Then:"
        ),
        reports=_reports(collection),
        audit=audit_command(collection),
        calls=f"{2 * CLIENT_TRIALS:,}",
    )


def audit_command(collection: Collection) -> str:
    """Return the command that audits the client."""
    hashing = _hashing(collection)
    return (
        f"ldp-advise audit --target client.py:audited --reports {collection.protocol}{hashing} "
        f"--eps {collection.parameters.epsilon} --k {collection.k}"
    )


def _hashing(collection: Collection) -> str:
    return " --hash xxh32" if getattr(collection.parameters.protocol, "hash", "mix64") != "mix64" else ""


def _reports(collection: Collection) -> str:
    """Return the command that reads the same lines."""
    steps = f" --steps {collection.parameters.whole('GRID')}" if collection.protocol == "she" else ""
    return (
        f"ldp-advise reports reports.csv --protocol {collection.protocol}{_hashing(collection)}{steps} "
        f"--eps {collection.parameters.epsilon} --k {collection.k} --no-header   # reads the same lines\n"
    )


def _rounded_up(number: float) -> str:
    """Return a number of at least 1 with four digits or more, none of them too low.

    >>> _rounded_up(2.71828), _rounded_up(22026.46), _rounded_up(1.05)
    ('2.719', '22027', '1.05')
    """
    places = max(0, 3 - math.floor(math.log10(number)))
    return f"{math.ceil(round(number * 10**places, 6)) / 10**places:.{places}f}".rstrip("0" if places else "")


def spent(made: Parameters) -> str:
    """Return how much of its budget a report spends, as people read it; JSON has all digits."""
    if not _spends_less(made):
        return f"at most ε = {made.epsilon}"
    figure = Context(prec=4, rounding=ROUND_CEILING).create_decimal(made.exact_epsilon)
    return f"at most ε = {figure.normalize():f} of the {made.epsilon} that it may"


def _spends_less(made: Parameters) -> bool:
    return float(made.exact_epsilon) < NOTABLY * made.protocol.epsilon


def _exactly(made: Parameters) -> str:
    """Return how exact the promise is, and why."""
    first = f"A line spends {spent(made)}."
    if made.ratio is None:
        return _folded(
            f"{first} Noise is drawn as whole steps of 1/GRID with discrete Laplace probabilities, from uniform whole "
            "numbers alone. Real numbers with noise would leak in their last bits."
        )
    bits = "that of a 1 is rounded up for other bits, and never up for the own one"
    support = "that of a report which supports the own answer is rounded down"
    kinds = {"bits": bits, "node": f"{support}; where a line has bits, {bits}"}
    way = kinds.get(made.protocol.report_kind, support)
    saved = " This protocol spends less than it is given: bits tell less than the noisy numbers behind them."
    return _folded(
        f"{first} Probabilities are whole numbers out of 2^64, without floating point: {way}. The largest ratio, a "
        f"fraction, was compared with a lower bound of e^ε.{saved if _spends_less(made) else ''}"
    )


def _folded(text: str) -> str:
    return textwrap.fill(text, 118, break_on_hyphens=False)
