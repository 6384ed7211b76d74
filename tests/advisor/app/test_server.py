"""A real server without a browser: what is begun ends with its page, and nothing is left behind by any signal."""

from __future__ import annotations

import gzip
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from advisor.extensions.app.state import state_of
from tests.advisor.app.conftest import Server, serving
from tests.advisor.app.test_site import UNSOUND

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "ignore:connect:DeprecationWarning"
    ),  # a connection here outlives its test's first lines
]
SECONDS = 120  # how long a busy machine may take before a test gives up
LARGE = gzip.compress(b"".join(b"%d\n" % (place % 1000) for place in range(50_000)) * 1000, 1)


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that the test may end."""
    yield from serving(tmp_path_factory)


class Session:
    """A page that a script has opened."""

    def __init__(self, server: Server, query: str) -> None:
        client = pytest.importorskip("websockets.sync.client", reason="no websockets: pip install 'ldp-advise[app]'")
        address = server.address.replace("http", "ws", 1)
        self.connection = client.connect(f"{address}websocket/", max_size=None, ping_interval=None)
        state = state_of(query, {})
        inputs = {
            control.name: state.values[control.name].split(",") if control.several else state.values[control.name]
            for control in state.goal.controls
        }
        buttons = {f"{name}:shiny.action": 0 for name in ("cancel", "simulate", "again")}
        self.say("init", {".clientdata_url_search": f"?{query}", "shape": state.data.shape, **inputs, **buttons})

    def say(self, method: str, data: dict[str, Any]) -> None:
        self.connection.send(json.dumps({"method": method, "data": data}))

    def hear(self, *words: str) -> str:
        """Return the first message that holds some words."""
        while True:
            message = str(self.connection.recv(timeout=SECONDS))
            if all(word in message for word in words):
                return message


def drop(server: Server, name: str, content: bytes) -> dict[str, str]:
    """Upload a file, and return what names it."""
    with urlopen(f"{server.address}upload?name={name}", content, timeout=SECONDS) as answer:  # noqa: S310 - our own
        return dict(json.load(answer))


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def are_gone(processes: set[int]) -> bool:
    """Whether processes have ended, reaped or not."""

    def is_gone(process: int) -> bool:
        with suppress(OSError):
            return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(") ")[2][0] == "Z"
        return True

    return all(map(is_gone, processes))


def stopped(server: Server, rest: set[int]) -> int:
    """Stop the only process beside some others while it reads its file, so that it cannot end by itself."""

    def works(process: int) -> bool:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
        return sum(map(int, fields[11:13])) >= os.sysconf("SC_CLK_TCK") / 2  # it has the file: that takes far less

    until(lambda: server.children() - rest)
    (worker,) = server.children() - rest
    until(lambda: works(worker))
    os.kill(worker, signal.SIGSTOP)
    return worker


def at_rest(server: Server) -> set[int]:
    """Return the processes of a server that has nothing to do."""
    session = Session(server, "goal=plan")
    session.hear('"verdict"', "<p")
    session.connection.close()
    small = drop(server, "small.csv", b"a\nb\na\n" * 50)
    session = Session(server, f"goal=compare&file={small['digest']}&name=small.csv")
    session.hear("Simulated.")
    session.connection.close()
    return server.children()


def test_a_file_is_read_by_one_process_that_ends_with_whoever_waits_for_it(own: Server) -> None:
    rest = at_rest(own)
    large, small = drop(own, "large.gz", LARGE), drop(own, "small.csv", b"a\nb\nc\n" * 50)
    query = f"file={large['digest']}&name=large.gz"
    for goal in ("compare", "plan"):
        for way in ("cancel", "close", "other", "unwanted"):
            session = Session(own, f"goal={goal}&{query}" + "&simulated=yes" * (way == "unwanted"))
            session.hear("Reading the file")
            worker = stopped(own, rest)
            if way == "close":
                session.connection.close()
            elif way == "other":
                session.say("update", {"dropped": small})
                session.hear('"verdict"', "<p")
            else:
                session.say("update", {"cancel:shiny.action": 1})
                session.hear("Cancelled.")
            until(lambda: are_gone({worker}))  # noqa: B023 - called at once
            session.connection.close()
            until(lambda: own.children() == rest)
    sessions = [Session(own, f"goal=compare&{query}") for _ in range(4)]
    worker = stopped(own, rest)
    Session(own, "goal=plan").hear('"verdict"', "<p")  # others are answered meanwhile
    assert own.children() - rest == {worker}
    os.kill(worker, signal.SIGCONT)
    for session in sessions:
        session.hear('"verdict"', "<p")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_leaves_no_process_no_file_and_no_traceback(own: Server, name: str) -> None:
    at_rest(own)
    for text in [*filter(None, UNSOUND), b"\x00", "x" * 2_000_000]:
        session = Session(own, "goal=plan&n=20000")
        session.connection.send(text)
        with pytest.raises(Exception, match=r"10(08|09)"):  # of the library
            session.hear("what is never said")
    large = drop(own, "large.gz", LARGE)
    query = f"file={large['digest']}&name=large.gz"
    reading, simulating = Session(own, f"goal=compare&{query}"), Session(own, "goal=plan&n=20000&simulated=yes")
    reading.hear("Reading the file")
    simulating.hear("Simulating")
    children = own.children()
    os.kill(own.process, getattr(signal, name))
    assert own.popen.wait(timeout=SECONDS) == 130
    assert own.popen.stderr is not None
    assert own.popen.stderr.read() == "ldp-advise: interrupted\n"
    until(lambda: are_gone(children))
    assert [*own.temporary.iterdir()] == []
