"""What a page may say to its session: anything else ends the session before Shiny, which shows a traceback, sees it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]

CLIENT = ".clientdata_"  # begin of what Shiny's script says of the browser
ADDRESS = f"{CLIENT}url_search"
ACTION = "shiny.action"  # type of a button, whose value is how often it was pressed
REFUSED = 1008  # code of a connection that breaks the rules


def checked(receive: Receive, send: Send) -> Receive:
    """Return what receives the messages of a page: one that first says how it is set, and then what has changed."""
    methods = ["update", "init"]

    async def received() -> Scope:
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
