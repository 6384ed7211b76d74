import asyncio
import gc
import json
import stat
from collections import Counter
from itertools import product
from multiprocessing import Pipe
from typing import Any
from unittest import mock

import pytest

from advisor.errors import InputError
from advisor.extensions.app import command, worker
from advisor.extensions.app.files import LARGEST, Uploads
from advisor.extensions.app.site import ADDRESS, checked, is_sound
from advisor.extensions.app.state import Inquiry, state_of
from advisor.inputs.held import HeldFile
from advisor.question.question import Question
from simulator.foreign import ForeignError
from tests.advisor.cli_answers import refused
from tests.cells import over

TOKEN, PORT = "t0ken", 8123
HOST = b"127.0.0.1:8123"
ANSWERS = b"a\nb\n" * 50


async def _inner(scope, receive, send):
    del receive
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"referrer-policy", b"origin")]})
    await send({"type": "http.response.body", "body": b"inside"})


def ask(path, *, kind="http", headers=((b"host", HOST),), body=(b"",), query="", method="GET", uploads=None):
    pytest.importorskip("shiny", reason="the page needs Shiny: pip install 'ldp-advise[app]'")
    from advisor.extensions.app.site import site

    guarded = site(_inner, Uploads() if uploads is None else uploads, TOKEN, PORT)
    blocks, sent = list(body), []

    async def receive():
        block = blocks.pop(0)
        return {"type": "http.request", "body": block, "more_body": bool(blocks)}

    async def send(message):
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
            ("/t0ke", [(b"host", HOST)]),
            ("/t0ken/", []),
            ("/t0ken/", [(b"host", b"evil.example:8123")]),  # a name that somebody has pointed at this computer
            ("/t0ken/", [(b"host", HOST), (b"origin", b"http://evil.example")]),
        ],
    )
)
def test_nobody_comes_in_without_the_token(kind, setting):
    path, headers = setting
    first = ask(path, kind=kind, headers=headers)[0]
    if kind == "websocket":
        assert first == {"type": "websocket.close", "code": 1008}
    else:
        assert first["status"] == 403


def test_with_the_token_there_is_a_page_that_loads_nothing_from_elsewhere():
    first, second, *_ = ask("/t0ken/")
    assert (first["status"], second["body"]) == (200, b"inside")
    headers = dict(first["headers"])
    assert headers[b"referrer-policy"] == b"no-referrer"
    assert b"default-src 'self'" in headers[b"content-security-policy"]
    assert ask("/t0ken/websocket/", kind="websocket")[0] == {"type": "websocket.accept"}


def _upload(uploads, content, length=None):
    headers = [(b"host", HOST)] + ([] if length is None else [(b"content-length", str(length).encode())])
    first, second, *_ = ask(
        "/t0ken/upload", headers=headers, body=content, query="name=ages.csv", method="POST", uploads=uploads
    )
    return first["status"], json.loads(second["body"])


def test_a_file_is_received_in_blocks():
    uploads = Uploads()
    status, answer = _upload(uploads, [b"a,1\n", b"b,2\n"], 8)
    assert (status, answer["name"]) == (200, "ages.csv")
    assert uploads[answer["digest"]].content == b"a,1\nb,2\n"


def test_a_file_that_is_too_large_is_refused_before_it_is_whole():
    for length in (None, LARGEST + 1, 3):  # not said, said, and said wrong
        uploads = Uploads()
        status, answer = _upload(uploads, [b"x" * 10_000_000] * 6, length)
        assert status == 413
        assert "50 MB" in answer["error"]
        assert len(uploads) == 0


def test_what_was_not_asked_for_longest_is_forgotten(monkeypatch):
    monkeypatch.setattr("advisor.extensions.app.files.MOST", 400)
    uploads = Uploads()
    digests = [uploads.add(bytes([place]) * 100) for place in range(4)]
    assert uploads[digests[0]]  # asked for again
    uploads.add(b"one more")
    assert digests[0] in uploads
    assert digests[1] not in uploads


def test_a_file_is_forgotten_after_its_last_page(monkeypatch):
    monkeypatch.setattr("advisor.extensions.app.files.RELOAD_SECONDS", 0)
    uploads = Uploads()

    async def is_held():
        digest, held = uploads.add(ANSWERS), []
        for change in (uploads.keep, uploads.keep, uploads.release, uploads.release):
            change(digest)
            await asyncio.sleep(0.01)
            held.append(digest in uploads)
        return held

    assert asyncio.run(is_held()) == [True, True, True, False]


@pytest.mark.slow
def test_an_ended_session_leaves_nothing(monkeypatch):
    shiny = pytest.importorskip("shiny", reason="the page needs Shiny: pip install 'ldp-advise[app]'")
    from advisor.extensions.app.pieces import PageAnswer
    from advisor.extensions.app.session import Page, server_of
    from advisor.extensions.app.site import site

    monkeypatch.setattr("advisor.extensions.app.files.RELOAD_SECONDS", 0)
    monkeypatch.setattr("advisor.extensions.app.session.FOLLOWS", 0)
    uploads = Uploads()
    page = site(shiny.App(shiny.ui.TagList(), server_of(uploads, worker.WorkerPool())), uploads, TOKEN, PORT)
    kinds = {HeldFile, Page, PageAnswer, shiny.Inputs, shiny.reactive.ExtendedTask}

    def alive():
        gc.collect()
        return Counter(type(one) for one in gc.get_objects() if type(one) in kinds)

    async def visit():
        state = state_of(f"goal=compare&protocol=grr&file={uploads.add(ANSWERS)}&name=a.csv", uploads)
        inputs = {name: text or None for name, text in state.values.items()} | {"shape": "", ADDRESS: f"?{state.query}"}
        said, heard = asyncio.Queue[Any](), asyncio.Queue[Any]()
        scope = {"type": "websocket", "path": f"/{TOKEN}/websocket/", "headers": [(b"host", HOST)]}
        session = asyncio.create_task(page(scope, said.get, heard.put))
        said.put_nowait({"type": "websocket.connect"})
        said.put_nowait({"type": "websocket.receive", "text": json.dumps({"method": "init", "data": inputs})})
        while "Simulating: " not in str(await heard.get()):
            pass
        assert alive() >= before + Counter(kinds)
        said.put_nowait({"type": "websocket.disconnect", "code": 1001})
        await session

    async def visits():
        await visit()
        async with asyncio.timeout(60):  # threads cannot be stopped, and hold what they work on
            while alive() != before:
                await asyncio.sleep(0.1)

    before = alive()
    asyncio.run(visits())
    assert len(uploads) == 0


def test_without_the_extra_one_line_says_what_installs_it(run, monkeypatch):
    monkeypatch.setattr(command, "find_spec", lambda name: None if name == "shiny" else object())
    assert refused(run, "app") == "ldp-advise: error: the page needs Shiny for Python: pip install 'ldp-advise[app]'\n"


@over(
    [
        "goal=plan&n=5",
        "?goal=plan&n=5",
        "http://127.0.0.1:1/t0ken/?goal=plan&n=5#answer",
        "127.0.0.1:1/a/?goal=plan&n=5",
    ]
)
def test_an_address_of_an_earlier_run_opens_the_page_as_it_was(address):
    with mock.patch("advisor.extensions.app.site.serve") as serve:
        command.app_command(address=address, serving=command.Serving())
    serve.assert_called_once_with("goal=plan&n=5", 0, opens=True, methods=())


def test_an_own_member_that_fails_is_named_and_not_the_memory(monkeypatch):
    def fails(*arguments):
        raise ForeignError("mine.py:of_five: it breaks its contract")

    monkeypatch.setattr(worker, "answer", fails)
    monkeypatch.setattr("signal.signal", lambda *_: None)  # here it is the process of the tests
    receiver, sender = Pipe(duplex=False)
    worker._work(Inquiry("", Question()), (), sender, 0)
    kind, (what, made) = receiver.recv()
    assert (kind, made, type(what)) == (worker.DONE, {}, InputError)
    assert str(what) == "mine.py:of_five: it breaks its contract"


def test_a_port_that_is_taken_is_named(run):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, err = run("app", "--no-browser", "--port", str(port))
    assert code == 2
    assert err.startswith(f"ldp-advise: error: --port {port}: cannot be used (Address already in use")


def test_an_address_without_its_last_slash_leads_to_the_page():
    first = ask("/t0ken", query="goal=plan&n=20000")[0]
    assert first["status"] == 307
    assert dict(first["headers"])[b"location"] == b"http://127.0.0.1:8123/t0ken/?goal=plan&n=20000"


def test_nothing_is_taken_by_the_way_that_writes_to_disk():
    for path in ("upload/def", "upload/", "other/def"):
        assert ask(f"/t0ken/session/abc/{path}", method="POST", body=[b"x"])[0]["status"] == 403
    assert ask("/t0ken/session/abc/download/take_csv")[0]["status"] == 200


def test_the_browser_is_given_a_private_file_instead_of_the_token(tmp_path):
    pytest.importorskip("shiny", reason="the page needs Shiny: pip install 'ldp-advise[app]'")
    from advisor.extensions.app.site import _redirect

    given = _redirect(tmp_path, 'http://127.0.0.1:8123/t0ken/?a=1&b=<">')
    (file,) = tmp_path.iterdir()
    assert given == file.as_uri()
    assert "t0ken" not in given
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert 'url=http://127.0.0.1:8123/t0ken/?a=1&amp;b=&lt;&quot;&gt;"' in file.read_text("utf-8")


SET = '"data":{".clientdata_url_search":"?"'
SOUND = [
    ("init", ""),
    ("init", ',"n":"20","method":["em"],"cancel:shiny.action":0,".clientdata_output_x_font":{"a":[1]}'),
    *(("update", more) for more in (',"dropped":{"digest":"ab","name":"a.csv"}', ',"n":null', ',"n":"\\ud83d\\ude00"')),
]
UNSOUND = [
    *("", "hello", "5", "null", "[]", "{}", "[" * 100_000, '{"method":' + "9" * 5000 + "}", '{"method":NaN}', None),
    *(
        '{"method":"init"}',
        '{"method":"init","data":[]}',
        '{"method":"init","data":{}}',
        '{"method":["init"],"data":{}}',
    ),
    '{"method":"init","data":{".clientdata_url_search":5}}',
    '{"method":"uploadInit","args":[[{"name":"a","size":1,"type":""}]],"tag":1}',
    *(
        f'{{"method":"init",{SET},{more}}}}}'
        for more in ('"a:b:c":1', '"a:shiny.date":1', '"a:shiny.action":true', '"n":"\\ud800"', '"n":{}', '"n":[[1]]')
    ),
    *(f'{{"method":"init",{SET},"dropped":{value}}}}}' for value in ("5", "null", "{}", '{"digest":[],"name":"a"}')),
]


@over(SOUND)
def test_what_a_page_says_is_heard(method, more):
    text = f'{{"method":"{method}",{SET}{more}}}}}'
    assert is_sound(text, method)
    assert not is_sound(text, "init" if method == "update" else "update")


@over(UNSOUND)
def test_what_a_page_never_says_ends_its_session(text):
    assert not is_sound(text, "init")
    sent = []

    async def receive():
        return {"type": "websocket.receive", "text": text}

    async def send(message):
        sent.append(message)

    assert asyncio.run(checked(receive, send)()) == {"type": "websocket.disconnect", "code": 1008}
    assert sent == [{"type": "websocket.close", "code": 1008}]
