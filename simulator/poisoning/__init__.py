"""Gain of an attacker who controls a share of the users: the rise of target frequencies, after post-processing.

Cao, Jia, Gong, "Data poisoning attacks to local differential privacy protocols", USENIX Security 2021.

Two attacks. ``random_value``: each fake user sends a uniform draw of all possible reports, whatever the targets (the
"random perturbed-value attack" of the source, Section 3.2.1). ``maximal_gain``: each fake user sends a report that
supports as many targets as possible (Section 3.2.3); none raises their raw estimates more, but for members of other
packages, where it is the best of many honest reports. If a report must look like others, it also supports values that
are not targets: the usual number for a unary encoding, the whole subset for subset selection, the values that the hash
    maps there (any hash function may be claimed; the source tries some).
"""

from __future__ import annotations

from simulator.poisoning.attack import (
    ATTACKS,
    MAXIMAL,
    NOBODY,
    RANDOM,
    TARGETS,
    Attack,
    draw_targets,
    frequent_set,
    suspects_of,
)

__all__ = ["ATTACKS", "MAXIMAL", "NOBODY", "RANDOM", "TARGETS", "Attack", "draw_targets", "frequent_set", "suspects_of"]
