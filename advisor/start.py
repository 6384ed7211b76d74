"""Where the command ``ldp-advise`` begins."""

from __future__ import annotations

import gc

OBJECTS = 100_000  # made before the collector of reference cycles looks through them for the first time


def main() -> int:
    """Run the command line and return its exit code.

    Nothing that is made while modules are imported goes away again, so that looking through it, which Python does
    after every 700 objects, is a tenth of the time of a look-up.
    """
    gc.set_threshold(OBJECTS, *gc.get_threshold()[1:])
    from advisor.cli import main as run

    return run()
