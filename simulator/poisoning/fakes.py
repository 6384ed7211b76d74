"""The attacks: what fake users send.

Cao, Jia, Gong, "Data poisoning attacks to local differential privacy protocols", USENIX Security 2021.
"""

from __future__ import annotations

import numpy as np

from simulator._types import IntArray
from simulator.protocols.protocol import Protocol, Tally


def random_value(protocol: Protocol, targets: IntArray, fakes: int, rng: np.random.Generator) -> Tally | None:
    """Let every fake user send an even draw of all possible reports; None where there is none.

    The "random perturbed-value attack" of the source (Section 3.2.1); it does not use the `targets`.
    """
    del targets
    return protocol.random_fakes(fakes, rng)


def maximal_gain(protocol: Protocol, targets: IntArray, fakes: int, rng: np.random.Generator) -> Tally | None:
    """Let every fake user send a report that supports as many targets as one can.

    The "maximal gain attack" of the source (Section 3.2.3). None for protocols without support sets: what a report may
    claim there has no bound. Where a report has to look like others, it also supports values that are no targets: as
    many as are usual for a unary encoding, the whole subset for subset selection, what the hash happens to send there.
    """
    return protocol.crafted(targets, fakes, rng)
