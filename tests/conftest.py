"""What all tests need."""

from __future__ import annotations

import os
import signal

# A shell starts what runs in its background without interrupts, and so would be the processes that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# pytest imports readline, which tells every process that is started from here that its terminal has 80 columns.
os.unsetenv("COLUMNS")
