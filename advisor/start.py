"""Where the command ``ldp-advise`` begins, and how it ends."""

from __future__ import annotations

import gc
import os
import sys

OBJECTS = 100_000  # made before the collector of reference cycles looks through them for the first time
WORKERS = ("concurrent.futures", "distributed", "joblib", "multiprocessing")  # they have something to do at the end


def main() -> int:
    """Run the command line and return its exit code, or leave with it at once.

    Nothing that is made while modules are imported goes away again, so that looking through it, which Python does
    after every 700 objects, is a tenth of the time of a look-up. Taking it all apart before the process ends would be
    another tenth.
    """
    gc.set_threshold(OBJECTS, *gc.get_threshold()[1:])
    from advisor.cli.app import main as run

    code = run()
    if _nothing_left_to_do():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def _nothing_left_to_do() -> bool:
    """Tell whether the process may end at once: without workers, and with nobody who measures or inspects it."""
    watched = sys.getprofile() or sys.gettrace() or sys.flags.inspect or sys.flags.dev_mode or sys.warnoptions
    return not watched and not any(name in sys.modules for name in WORKERS)
