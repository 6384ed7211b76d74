"""A server of its own for the tests of the page, and Chromium of the machine."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from urllib.request import urlopen

import pytest

from advisor.extensions.app.state import state_of

OWN_METHOD = Path(__file__).parents[3] / "examples" / "soft.py"
SECONDS = 120_000  # milliseconds: how long a page may take on a busy machine before a test gives up


@dataclass
class Server:
    """A running page: its address, its process, and the only folder that it could write to."""

    address: str
    process: int
    temporary: Path
    popen: subprocess.Popen[str]

    def written(self):
        """Bytes that the process has handed to a disk so far."""
        counters = Path(f"/proc/{self.process}/io").read_text(encoding="ascii")
        return int(re.search(r"^write_bytes: (\d+)", counters, re.MULTILINE)[1])

    def children(self):
        """Processes that were started by it, or by what it started."""
        tree = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((folder / "stat").read_text(encoding="utf-8").rpartition(") ")[2].split()[1])
            except OSError:
                continue
            tree.setdefault(parent, []).append(int(folder.name))
        found, wanted = set(), [self.process]
        while wanted:
            more = tree.get(wanted.pop(), [])
            found |= set(more)
            wanted += more
        return found


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A page that knows a method of one's own."""
    yield from serving(tmp_path_factory, "--method", f"{OWN_METHOD}:soft")


def serving(tmp_path_factory, *words):
    """Start a page, and end it."""
    pytest.importorskip("shiny", reason="the page needs Shiny: pip install 'ldp-advise[app]'")
    temporary = tmp_path_factory.mktemp("temporary")
    environment = {name: text for name, text in os.environ.items() if not name.startswith("LDP_ADVISE_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "advisor", "app", "--no-browser", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment | {"TMPDIR": str(temporary)},
        cwd=OWN_METHOD.parents[1],
    )
    address = process.stdout.readline().partition(": ")[2].strip()
    assert address.startswith("http://127.0.0.1:")
    yield Server(address, process.pid, temporary, process)
    process.terminate()
    process.wait(timeout=30)
    process.stdout.close()
    process.stderr.close()


class Session:
    """A page that a script has opened."""

    def __init__(self, server, query):
        client = pytest.importorskip("websockets.sync.client", reason="no websockets: pip install 'ldp-advise[app]'")
        address = server.address.replace("http", "ws", 1)
        self.connection = client.connect(f"{address}websocket/", max_size=None, ping_interval=None)
        self.heard = []
        state = state_of(query, {})
        inputs = {
            control.name: state.values[control.name].split(",") if control.several else state.values[control.name]
            for control in state.goal.controls
        }
        buttons = {f"{name}:shiny.action": 0 for name in ("cancel", "simulate")}
        self.say("init", {".clientdata_url_search": f"?{query}", "shape": state.data.shape, **inputs, **buttons})

    def say(self, method, data):
        self.connection.send(json.dumps({"method": method, "data": data}))

    def hear(self, *words):
        """Return the first message that holds some words."""
        while True:
            message = str(self.connection.recv(timeout=SECONDS / 1000))
            self.heard.append(message)
            if all(word in message for word in words):
                return message

    def pieces(self, *words):
        """Return the pieces of the first message whose verdict holds some words, by their places, without markup."""
        while True:
            values = json.loads(self.hear('"values"'))["values"]
            pieces = {place: unescape(value["html"]) for place, value in values.items() if value}
            verdict = re.sub("<[^>]*>", "", pieces.get("verdict", ""))
            if verdict.strip() and all(word in verdict for word in words):
                return pieces


def drop(server, name, content):
    """Upload a file, and return what names it."""
    with urlopen(f"{server.address}upload?name={name}", content, timeout=SECONDS / 1000) as answer:  # noqa: S310 - our own
        return dict(json.load(answer))


class Tab:
    """A page in the browser, with what tests look at."""

    def __init__(self, page, address):
        self.page, self.address = page, address
        self.problems = []
        self.requests = []
        page.set_default_timeout(SECONDS)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", lambda said: self.problems.append(said.text) if said.type == "error" else None)
        page.on("request", lambda request: self.requests.append(request.url))

    def go(self, query=""):
        self.page.goto(f"{self.address}?{query}" if query else self.address)
        return self

    def drop(self, path):
        self.page.set_input_files(".upload", path)

    def verdict(self, *words):
        """Wait until the verdict holds some words, and return it."""
        for word in words:
            self.page.wait_for_function(
                "word => document.querySelector('.verdict')?.textContent.includes(word)", arg=word
            )
        self.page.wait_for_selector(".verdict .headline")
        return str(self.page.inner_text(".verdict"))

    def simulated(self):
        """Wait until the whole answer is simulated."""
        self.page.wait_for_function(
            "() => document.querySelector('#cancel').hidden && document.querySelector('.work-words').textContent === ''"
            " && /Simulated |Judged /.test(document.querySelector('#details').textContent)"
        )

    def work(self, words):
        """Wait until the row of the simulation says some words."""
        self.page.wait_for_function(
            "words => document.querySelector('.work-words')?.textContent.startsWith(words)", arg=words
        )

    def lines(self):
        """The command lines that are shown."""
        self.page.wait_for_selector("#copy-line-0")
        return [str(one.inner_text()) for one in self.page.query_selector_all("[id^=copy-line]")]


@pytest.fixture
def tab(browser, server):
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    yield Tab(context.new_page(), server.address)
    context.close()
