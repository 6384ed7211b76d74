"""Whether the server of ``ldp-advise app`` gives memory back: what it holds after rounds of sessions that have ended.

A session uploads a file of its own of up to 2 MB, is answered, and simulates to the end or cancels. The start is the
state after one of them, which has imported what answers need.

python -m tests.benchmarks.bench_memory [ROUNDS]
"""

import os
import sys
import time
from pathlib import Path
from subprocess import Popen
from typing import cast
from urllib.request import urlopen

import numpy as np

from advisor.extensions.app.files import RELOAD_SECONDS
from advisor.extensions.app.goals import COMPARE, ESTIMATE, PLACES, PLAN
from tests.advisor.app.conftest import Server
from tests.advisor.app.test_server import Session, drop
from tests.benchmarks.bench_app import running

SESSIONS = 20  # of a round
PAUSE = 3  # seconds in which what stands below an answer is drawn
PAGES = {COMPARE: "", PLAN: "", ESTIMATE: "&used=oue&eps=1&n=100000", PLACES: ""}


def upload(goal, seed):
    rng = np.random.default_rng(seed)
    if goal == ESTIMATE:
        rows = [f"answer {place},{value:.6f}" for place, value in enumerate(rng.normal(0.01, 0.008, 100))]
    elif goal == PLACES:
        rows = [f"{row},{column}" for row, column in rng.integers((12, 16), size=(200_000, 2))]
    else:
        rows = [f"answer {value}" for value in rng.zipf(2, 200_000) % 200]
    return "\n".join([{ESTIMATE: "answer,estimate", PLACES: "row,col"}.get(goal, "answer"), *rows]).encode()


def visit(server, goal, seed, *, cancels):
    content = upload(goal, seed)
    file = drop(server, f"{seed}.csv", content)
    query = f"goal={goal}&file={file['digest']}&name={file['name']}{PAGES[goal]}"
    urlopen(f"{server.address}?{query}", timeout=30).close()  # noqa: S310 - our own
    session = Session(server, query)
    session.hear('"verdict"', "<p")
    session.hear("Simulating: ")
    if cancels:
        session.say("update", {"cancel:shiny.action": 1})
    whole = "Judged by" if goal == ESTIMATE else "Simulated "  # of the notes below the whole answer
    session.hear("Cancelled." if cancels else whole)
    time.sleep(PAUSE)
    session.connection.close()
    return len(content)


def memory(process):
    """Return MB that a process has in memory, and MB of these that it shares with no other."""
    time.sleep(RELOAD_SECONDS + PAUSE)
    text = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii")
    kilobytes = {line.split()[0]: int(line.split()[1]) for line in text.splitlines()[1:]}
    return kilobytes["Rss:"] / 1024, (kilobytes["Private_Clean:"] + kilobytes["Private_Dirty:"]) / 1024


def main():
    with running() as (address, process):
        server = Server(address, process, Path(), cast("Popen[str]", None))
        visit(server, COMPARE, 0, cancels=False)
        start, uploaded = memory(process), 0
        print(f"start: {start[0]:.0f} MB in memory, {start[1]:.0f} MB of its own", flush=True)
        for ended in range(SESSIONS, SESSIONS * (int(sys.argv[1]) if sys.argv[1:] else 3) + 1, SESSIONS):
            for at in range(SESSIONS):
                goal = [*PAGES][at % 4]  # a whole simulation of a plan, or of places, takes half a minute
                uploaded += visit(server, goal, ended + at, cancels=at % 8 > 3 or goal in (PLAN, PLACES))
            rss, own = memory(process)
            begun = time.perf_counter()
            session = Session(server, "goal=plan")
            session.hear('"verdict"', "<p")
            seconds = time.perf_counter() - begun
            session.connection.close()
            print(f"after {ended} sessions, and {uploaded / 1e6:.0f} MB of files:", end=" ")
            print(f"{rss:.0f} MB in memory ({rss / start[0]:.2f} of the start),", end=" ")
            print(f"{own:.0f} MB of its own ({own / start[1]:.2f});", end=" ")
            print(f"first verdict in {seconds:.2f} s, load average {os.getloadavg()[0]:.1f}", flush=True)


if __name__ == "__main__":
    main()
