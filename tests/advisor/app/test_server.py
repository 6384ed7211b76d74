import gzip
import json
import os
import re
import signal
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from advisor.extensions.app.files import example_file
from tests.advisor.app.conftest import Session, drop, serving
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
def own(tmp_path_factory):
    yield from serving(tmp_path_factory)


def until(true):
    end = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def are_gone(processes):

    def is_gone(process):
        with suppress(OSError):
            return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(") ")[2][0] == "Z"
        return True

    return all(map(is_gone, processes))


def stopped(server, rest):

    def works(process):
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
        return sum(map(int, fields[11:13])) >= os.sysconf("SC_CLK_TCK") / 2  # it has the file: that takes far less

    until(lambda: server.children() - rest)
    (worker,) = server.children() - rest
    until(lambda: works(worker))
    os.kill(worker, signal.SIGSTOP)
    return worker


def at_rest(server):
    session = Session(server, "goal=plan")
    session.hear('"verdict"', "<p")
    session.connection.close()
    small = drop(server, "small.csv", b"a\nb\na\n" * 50)
    session = Session(server, f"goal=compare&file={small['digest']}&name=small.csv")
    session.hear("Simulated ")
    session.connection.close()
    return server.children()


def test_a_file_is_read_by_one_process_that_ends_with_whoever_waits_for_it(own):
    rest = at_rest(own)
    for goal in ("compare", "plan"):
        for way in ("cancel", "close", "other", "unwanted"):
            query = f"file={drop(own, 'large.gz', LARGE)['digest']}&name=large.gz"
            session = Session(own, f"goal={goal}&{query}" + "&simulated=yes" * (way == "unwanted"))
            session.hear("reading the file")
            worker = stopped(own, rest)
            if way == "close":
                session.connection.close()
            elif way == "other":
                session.say("update", {"dropped": drop(own, "small.csv", b"a\nb\nc\n" * 50)})
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
def test_a_signal_leaves_no_process_no_file_and_no_traceback(own, name):
    at_rest(own)
    for text in [*filter(None, UNSOUND), b"\x00", "x" * 2_000_000]:
        session = Session(own, "goal=plan&n=20000")
        session.connection.send(text)
        with pytest.raises(Exception, match=r"10(08|09)"):  # of the library
            session.hear("what is never said")
    large = drop(own, "large.gz", LARGE)
    query = f"file={large['digest']}&name=large.gz"
    reading, simulating = Session(own, f"goal=compare&{query}"), Session(own, "goal=plan&n=20000&simulated=yes")
    reading.hear("reading the file")
    simulating.hear("Simulating")
    children = own.children()
    os.kill(own.process, getattr(signal, name))
    assert own.popen.wait(timeout=SECONDS) == 130
    assert own.popen.stderr.read() == "ldp-advise: interrupted\n"
    until(lambda: are_gone(children))
    assert [*own.temporary.iterdir()] == []


def test_a_method_of_ones_own_is_simulated_where_it_is_not_loaded_yet(server):
    session = Session(server, "goal=compare&k=16&n=20000&method=norm_sub,soft&protocol=oue")
    session.pieces("No answer")  # it has no predictions
    session.say("update", {"simulate:shiny.action": 1})
    assert ">soft<" in session.hear("Simulated ")
    session.connection.close()


TABLE = "town,age,people\nKiel,31,500\nUlm,18,300\nBonn,44,150\nJena,52,50\n"
HOMES = np.random.default_rng(1).normal((13.4, 52.5, 0), (0.03, 0.02, 0), (3000, 3))
LONLAT = "lon,lat,id\n" + "".join(f"{lon:.5f},{lat:.5f},{place}\n" for place, (lon, lat, _) in enumerate(HOMES))
BUTTON = "the first button"
NEWCOMERS = [  # a page, what somebody does there one after the other, and what the verdict then says each time
    (
        "goal=plan",
        [({"k": "2600"}, "Do not collect guessing"), (BUTTON, "Do not collect no"), (BUTTON, "Collect with")],
    ),
    ("goal=plan", [({"sensitive": "high", "times": "12"}, "Do not collect no ε up to 0.083")]),
    (
        "goal=compare",
        [
            (("table.csv", TABLE.encode()), "No answer table.csv: has 3 columns"),
            ({"column": "town", "counts": "people"}, "Tied"),
        ],
    ),
    (
        "goal=estimate",
        [({}, "Example: Tied"), (("raw.csv", example_file("estimate.csv").content), "Tied the posterior")],
    ),
    (
        "goal=places",
        [
            ({}, "Example: Tied"),
            (("homes.csv", LONLAT.encode()), "No answer homes.csv: no column 'row'"),
            ({"columns": "lon,lat"}, "Tied planar_laplace"),
        ],
    ),
]


@pytest.mark.parametrize(("query", "steps"), NEWCOMERS, ids=["plan", "whether", "columns", "repair", "places"])
def test_a_newcomer_ends_with_the_right_verdict(query, steps, server):
    session = Session(server, query)
    pieces = session.pieces()
    for step, verdict in steps:
        if step == BUTTON:
            step = json.loads(re.findall(r"data-set='(.*?)'", pieces["changes"])[0])
        if isinstance(step, tuple):
            session.say("update", {"dropped": drop(server, *step), "k": ""})
        elif step:
            session.say("update", step)
        pieces = pieces if step == {} else session.pieces(verdict)
        assert verdict in re.sub("<[^>]*>", "", pieces["verdict"])
        if "No answer" not in verdict:  # the whole answer comes at once
            assert {"changes", "details", "attacker", "reproduce"} <= pieces.keys()
            assert len({html.partition(" hidden>")[0] for html in pieces.values() if html}) == 1
    assert ("table.csv" in str(steps)) == any("'age': 31, 18, 44" in message for message in session.heard)  # to pick
    session.connection.close()
