"""What all tests need."""

from __future__ import annotations

import signal

# A shell starts what runs in its background without interrupts, and so would be the processes that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
