"""What all tests need."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from advisor.cli.app import BLAS_THREADS

# As in the command, matrix products take one thread each: the threads of several workers wait for each other.
for name in BLAS_THREADS:
    os.environ.setdefault(name, "1")

# A shell starts what runs in its background without interrupts, and so would be the processes that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# pytest imports readline, which tells every process that is started from here that its terminal has 80 columns.
os.unsetenv("COLUMNS")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep the garbage collector away from what is collected: it would go through all of it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep a file to one worker, where what its tests share is made once; slow tests are shared out one by one."""
    from xdist.scheduler import LoadFileScheduling

    usual = config.getoption("dist") == "load" and config.getoption("markexpr") == "not slow"
    return LoadFileScheduling(config, log) if usual else None
