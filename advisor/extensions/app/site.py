"""What a page may say to its session: anything else ends the session before Shiny, which shows a traceback, sees it."""

from __future__ import annotations

import json
import logging
import secrets
import signal
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Iterable, Mapping
from functools import partial
from html import escape
from pathlib import Path

import typer
import uvicorn
from shiny import App, ui
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from advisor.errors import InputError, reason
from advisor.extensions.app.files import LARGEST, MEGABYTE, STATIC, Uploads, safe_name, set_up_memory
from advisor.extensions.app.pieces import first_paint, page_answer
from advisor.extensions.app.session import server_of
from advisor.extensions.app.state import state_of
from advisor.extensions.app.worker import WorkerPool
from advisor.show.page import SCRIPT, STYLE

CLIENT = ".clientdata_"  # begin of what Shiny's script says of the browser
ADDRESS = f"{CLIENT}url_search"
ACTION = "shiny.action"  # type of a button, whose value is how often it was pressed
REFUSED = 1008  # code of a connection that breaks the rules


def checked(receive: Receive, send: Send) -> Receive:
    """Return what receives the messages of a page: one that first says how it is set, and then what has changed."""
    methods = ["update", "init"]

    async def received() -> Message:
        message = await receive()
        if message["type"] == "websocket.receive":
            if not is_sound(message.get("text"), methods[-1]):
                await send({"type": "websocket.close", "code": REFUSED})
                return {"type": "websocket.disconnect", "code": REFUSED}
            del methods[1:]
        return message

    return received


def is_sound(text: str | None, method: str) -> bool:
    """Return whether a message is one that the page sends; None: it is bytes."""
    try:
        message = json.loads(text or "")
        json.dumps(message, ensure_ascii=False).encode()  # halves of characters cannot be sent back
    except (ValueError, RecursionError):
        return False
    if not isinstance(message, dict) or message.get("method") != method or not isinstance(message.get("data"), dict):
        return False
    data: Mapping[str, object] = message["data"]
    return (method != "init" or ADDRESS in data) and all(_is_input(name, value) for name, value in data.items())


def _is_input(name: str, value: object) -> bool:
    bare, typed, kind = name.partition(":")
    if typed:
        return kind == ACTION and type(value) is int
    if bare.startswith(CLIENT):
        return isinstance(value, str) or not bare.startswith(f"{CLIENT}url_")
    if bare == "dropped":
        return isinstance(value, dict) and all(isinstance(value.get(key), str) for key in ("digest", "name"))
    members = value if isinstance(value, list) else [value]
    return all(member is None or isinstance(member, str | int | float) for member in members)


HOST = "127.0.0.1"
TOKEN_BYTES = 24
LARGEST_MESSAGE = 1 << 20  # maximum of bytes per message of a page: files are sent differently
PATIENCE = 2  # seconds that open pages are given when the program ends
TOO_LARGE = f"The file is larger than {LARGEST // MEGABYTE} MB: ldp-advise reads larger ones on the command line."
NO_DISK = "Files go to the memory of the program: drop them on the page."
REFUSAL = "This page is private: open the address that ldp-advise app has shown."
# The one inline script of Shiny's own, which sets two attributes; that of another release is refused, without harm.
INLINE = "'sha256-erP5hScmId9gRru9k52QQl/lSJmUl8NfFAiLNMbPtcg='"
# Nothing is loaded from elsewhere, no other site may frame the page, and none learns its address.
HEADERS = {
    "content-security-policy": (
        f"default-src 'self'; script-src 'self' {INLINE}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}


def serve(query: str, port: int, *, opens: bool, methods: Iterable[str] = ()) -> None:
    """Serve the page until it is interrupted, asked to end, or left by its terminal.

    query: what the page is set to at first, as an address has it behind its question mark.
    port: 0 for any that is free.
    opens: whether the browser is opened.
    methods: methods from files, which are chosen from too.

    Raises InputError if the port is taken.
    """
    with socket.socket() as listener, tempfile.TemporaryDirectory(prefix="ldp-advise-") as folder:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except (OSError, OverflowError) as error:
            why = reason(error) if isinstance(error, OSError) else str(error)
            raise InputError(f"--port {port}: cannot be used ({why}); leave it out for any that is free") from None
        listener.listen(128)
        _interrupt_at_end()
        set_up_memory()
        token, port = secrets.token_urlsafe(TOKEN_BYTES), listener.getsockname()[1]
        address = f"http://{HOST}:{port}/{token}/" + (f"?{query}" if query else "")
        uploads, workers = Uploads(), WorkerPool(methods)
        shiny = App(
            lambda request: ui.page_html(first_paint(state_of(request.url.query, uploads))), server_of(uploads, workers)
        )
        shiny.sanitize_errors = True
        config = uvicorn.Config(
            site(shiny, uploads, token, port),
            log_level="error",
            access_log=False,
            lifespan="off",
            ws="websockets-sansio",
            ws_max_size=LARGEST_MESSAGE,
            timeout_graceful_shutdown=PATIENCE,
            server_header=False,
        )
        typer.echo(f"ldp-advise app: {address}")
        typer.echo("This computer alone can open it. Ctrl-C ends it.")
        for first in (partial(page_answer, state_of("", {})), workers.warm):  # the first of each kind is slow
            threading.Thread(target=first, daemon=True).start()
        if opens:
            threading.Thread(target=webbrowser.open, args=(_redirect(Path(folder), address),), daemon=True).start()
        # A message that is no text is the fault of its sender, who learns it; the terminal need not show a traceback.
        logging.getLogger("uvicorn.error").addFilter(lambda record: "Invalid UTF-8" not in str(record.msg))
        uvicorn.Server(config).run(sockets=[listener])


def _interrupt_at_end() -> None:
    """Let what else ends the program do so as Ctrl-C does, which ends processes and removes files."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no terminals that leave
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores it
            signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))


def _redirect(folder: Path, address: str) -> str:
    """Return the address of a file that leads to the page: all users can read the arguments of the browser."""
    page = folder / "open.html"
    page.touch(0o600)
    page.write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={escape(address)}">'
        f'<title>ldp-advise</title><a href="{escape(address)}">ldp-advise app</a>',
        encoding="utf-8",
    )
    return page.as_uri()


class Guard:
    """Refuses what does not begin with the token, or is meant for another host than this computer."""

    def __init__(self, inner: ASGIApp, token: str, port: int) -> None:
        self._inner = inner
        self._prefix = f"/{token}/".encode()
        self._hosts = {f"{host}:{port}".encode() for host in (HOST, "localhost")}
        self._origins = {b"http://" + host for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request or a connection."""
        if not self._is_welcome(scope):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": REFUSED})
            else:
                await PlainTextResponse(REFUSAL, 403, HEADERS)(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if scope["type"] == "websocket":
            receive = checked(receive, send)
        await self._inner(scope, receive, guarded)

    def _is_welcome(self, scope: Scope) -> bool:
        headers = dict(scope["headers"])
        start = f"{scope['path']}/".encode()[: len(self._prefix)]  # without its last slash it is led to the page
        from_here = headers.get(b"origin", b"") in {b"", *self._origins}
        return headers.get(b"host") in self._hosts and from_here and secrets.compare_digest(start, self._prefix)


def site(inner: ASGIApp, uploads: Uploads, token: str, port: int) -> Guard:
    """Return the whole server around the Shiny application: uploads, style and script beside it."""
    style = f"{STYLE}\n{(STATIC / 'app.css').read_text('utf-8')}"
    script = f"{SCRIPT}\n{(STATIC / 'app.js').read_text('utf-8')}"
    routes = [
        Route("/upload", partial(_receive, uploads), methods=["POST"]),
        Route("/page.css", Response(style, media_type="text/css"), methods=["GET"]),
        Route("/page.js", Response(script, media_type="text/javascript"), methods=["GET"]),
        Route("/session/{path:path}", PlainTextResponse(NO_DISK, 403), methods=["POST"]),
        Mount("/", app=inner),
    ]
    return Guard(Starlette(routes=[Mount(f"/{token}", routes=routes)]), token, port)


async def _receive(uploads: Uploads, request: Request) -> Response:
    """Take the body of a request for a file, and answer with its digest and the name that commands give it."""
    declared = request.headers.get("content-length", "0")
    if not declared.isdecimal() or int(declared) > LARGEST:
        return JSONResponse({"error": TOO_LARGE}, 413)
    content = bytearray()
    try:
        async for block in request.stream():
            content += block
            if len(content) > LARGEST:
                return JSONResponse({"error": TOO_LARGE}, 413)
    except ClientDisconnect:
        return JSONResponse({"error": "The connection was closed."}, 400)
    name = safe_name(request.query_params.get("name", ""))
    digest = uploads.add(bytes(content))
    uploads.keep(digest)
    uploads.release(digest)  # unless a page shows it meanwhile
    return JSONResponse({"digest": digest, "name": name})
