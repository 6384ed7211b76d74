"""The server: this computer alone can reach it, and only with the token in its address."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route

from advisor.extensions.app.uploads import Uploads
from advisor.show.page import SCRIPT, STYLE

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]
Handler = Callable[[Scope, Receive, Send], Awaitable[None]]

HOST = "127.0.0.1"
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


class Guard:
    """Refuses what does not begin with the token, or is meant for another host than this computer."""

    def __init__(self, inner: Handler, token: str, port: int) -> None:
        self._inner = inner
        self._prefix = f"/{token}/".encode()
        self._hosts = {f"{host}:{port}".encode() for host in (HOST, "localhost")}
        self._origins = {b"http://" + host for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request or a connection."""
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return
        if not self._is_welcome(scope):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await PlainTextResponse(REFUSAL, 403, HEADERS)(scope, receive, send)
            return

        async def guarded(message: Scope) -> None:
            if message["type"] == "http.response.start":
                ours = [(name.encode(), text.encode()) for name, text in HEADERS.items()]
                given = [(name, text) for name, text in message["headers"] if name.decode().lower() not in HEADERS]
                message["headers"] = [*given, *ours]
            await send(message)

        await self._inner(scope, receive, guarded)

    def _is_welcome(self, scope: Scope) -> bool:
        headers = dict(scope["headers"])
        start = scope["path"].encode()[: len(self._prefix)]
        from_here = headers.get(b"origin", b"") in {b"", *self._origins}
        return headers.get(b"host") in self._hosts and from_here and secrets.compare_digest(start, self._prefix)


def site(inner: Handler, uploads: Uploads, token: str, port: int) -> Guard:
    """Return the whole server around the Shiny application: uploads, style and script beside it."""
    here = files("advisor.extensions.app") / "static"
    style = f"{STYLE}\n{(here / 'app.css').read_text('utf-8')}"
    script = f"{SCRIPT}\n{(here / 'app.js').read_text('utf-8')}"
    routes = [
        Route("/upload", uploads.receive, methods=["POST"]),
        Route("/page.css", _text(style, "text/css")),
        Route("/page.js", _text(script, "text/javascript")),
        Mount("/", app=inner),
    ]
    return Guard(Starlette(routes=[Mount(f"/{token}", routes=routes)]), token, port)


def _text(content: str, kind: str) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        del request
        return Response(content, media_type=kind)

    return answer
