"""The server without a browser: the token, uploads into memory, and what is said where the extra is missing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from itertools import product
from multiprocessing import Pipe
from typing import Any

import pytest

from advisor.errors import InputError
from advisor.extensions.app import command, worker
from advisor.extensions.app.files import LARGEST, Uploads
from simulator.foreign import ForeignError
from tests.advisor.conftest import Run
from tests.cells import over

TOKEN, PORT = "t0ken", 8123
HOST = b"127.0.0.1:8123"


async def _inner(scope: Any, receive: Any, send: Any) -> None:
    del receive
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"referrer-policy", b"origin")]})
    await send({"type": "http.response.body", "body": b"inside"})


def ask(
    path: str,
    *,
    kind: str = "http",
    headers: Iterable[tuple[bytes, bytes]] = ((b"host", HOST),),
    body: Iterable[bytes] = (b"",),
    query: str = "",
    method: str = "GET",
    uploads: Uploads | None = None,
) -> list[dict[str, Any]]:
    """Return what the site sends for a request."""
    pytest.importorskip("shiny", reason="the page needs Shiny: pip install 'ldp-advise[app]'")
    from advisor.extensions.app.site import site

    guarded = site(_inner, Uploads() if uploads is None else uploads, TOKEN, PORT)
    blocks, sent = list(body), []

    async def receive() -> dict[str, Any]:
        block = blocks.pop(0)
        return {"type": "http.request", "body": block, "more_body": bool(blocks)}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": kind,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "method": method,
        "scheme": "http",
        "headers": list(headers),
        "query_string": query.encode(),
        "server": ("127.0.0.1", PORT),
        "http_version": "1.1",
    }
    asyncio.run(guarded(scope, receive, send))
    return sent


@over(
    product(
        ["http", "websocket"],
        [
            ("/", [(b"host", HOST)]),
            ("/t0keN/", [(b"host", HOST)]),
            ("/t0ken", [(b"host", HOST)]),
            ("/t0ken/", []),
            ("/t0ken/", [(b"host", b"evil.example:8123")]),  # a name that somebody has pointed at this computer
            ("/t0ken/", [(b"host", HOST), (b"origin", b"http://evil.example")]),
        ],
    )
)
def test_nobody_comes_in_without_the_token(kind, setting) -> None:
    path, headers = setting
    first = ask(path, kind=kind, headers=headers)[0]
    if kind == "websocket":
        assert first == {"type": "websocket.close", "code": 1008}
    else:
        assert first["status"] == 403


def test_with_the_token_there_is_a_page_that_loads_nothing_from_elsewhere() -> None:
    first, second, *_ = ask("/t0ken/")
    assert (first["status"], second["body"]) == (200, b"inside")
    headers = dict(first["headers"])
    assert headers[b"referrer-policy"] == b"no-referrer"
    assert b"default-src 'self'" in headers[b"content-security-policy"]
    assert ask("/t0ken/websocket/", kind="websocket")[0] == {"type": "websocket.accept"}


def _upload(uploads: Uploads, content: Iterable[bytes], length: int | None = None) -> tuple[int, Any]:
    headers = [(b"host", HOST)] + ([] if length is None else [(b"content-length", str(length).encode())])
    first, second, *_ = ask(
        "/t0ken/upload", headers=headers, body=content, query="name=ages.csv", method="POST", uploads=uploads
    )
    return first["status"], json.loads(second["body"])


def test_a_file_is_received_in_blocks() -> None:
    uploads = Uploads()
    status, answer = _upload(uploads, [b"a,1\n", b"b,2\n"], 8)
    assert (status, answer["name"]) == (200, "ages.csv")
    assert uploads[answer["digest"]].content == b"a,1\nb,2\n"


def test_a_file_that_is_too_large_is_refused_before_it_is_whole() -> None:
    for length in (None, LARGEST + 1, 3):  # not said, said, and said wrong
        uploads = Uploads()
        status, answer = _upload(uploads, [b"x" * 10_000_000] * 6, length)
        assert status == 413
        assert "50 MB" in answer["error"]
        assert len(uploads) == 0


def test_what_was_not_asked_for_longest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("advisor.extensions.app.files.MOST", 400)
    uploads = Uploads()
    digests = [uploads.add(bytes([place]) * 100) for place in range(4)]
    assert uploads[digests[0]]  # asked for again
    uploads.add(b"one more")
    assert digests[0] in uploads
    assert digests[1] not in uploads


def test_without_the_extra_one_line_says_what_installs_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: None if name == "shiny" else object())
    code, out, err = run("app")
    assert (code, out) == (2, "")
    assert err == "ldp-advise: error: the page needs Shiny for Python: pip install 'ldp-advise[app]'\n"


def test_an_own_member_that_fails_is_named_and_not_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> None:
        raise ForeignError("mine.py:of_five: it breaks its contract")

    monkeypatch.setattr(worker, "answer", fails)
    receiver, sender = Pipe(duplex=False)
    worker._work(None, (), sender, 0)  # type: ignore[arg-type]
    (kind, what) = receiver.recv()
    assert (kind, type(what), str(what)) == (worker.DONE, InputError, "mine.py:of_five: it breaks its contract")


def test_a_port_that_is_taken_is_named(run: Run) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, err = run("app", "--no-browser", "--port", str(port))
    assert code == 2
    assert err.startswith(f"ldp-advise: error: --port {port}: cannot be used (Address already in use")
