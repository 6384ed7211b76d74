"""The last line of every study: what made its figures, and what they cost."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from simulator import __version__


def footer(seed: str) -> str:
    """Return version, seed, day, and CPU seconds of this process and of those it waited for.

    seed: the seed, or several and what they are for.
    """
    times = os.times()
    seconds = times.user + times.system + times.children_user + times.children_system
    return f"ldp-advise {__version__}, seed {seed}, {datetime.now(UTC):%Y-%m-%d}, {seconds:,.0f} CPU seconds"
