"""Start the page: a socket on this computer, a token, and the address for the browser."""

from __future__ import annotations

import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from functools import partial

import uvicorn
from shiny import App

from advisor.errors import InputError, reason
from advisor.extensions.app.server import server_of
from advisor.extensions.app.shown import look_up
from advisor.extensions.app.site import HOST, site
from advisor.extensions.app.state import state_of
from advisor.extensions.app.uploads import Uploads
from advisor.extensions.app.view import document
from advisor.extensions.app.worker import Members, WorkerPool

TOKEN_BYTES = 24
LARGEST_MESSAGE = 1 << 20  # bytes of one message of a page: files come another way
PATIENCE = 2  # seconds that open pages are given when the program ends


def serve(query: str, port: int, *, opens: bool, say: Callable[[str], None], members: Members = ()) -> None:
    """Serve the page until it is interrupted.

    query: what the page is set to at first, as an address has it behind its question mark.
    port: 0 for any that is free.
    opens: whether the browser is opened.
    say: called with the address once the page can be reached.

    Raises InputError if the port is taken.
    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except (OSError, OverflowError) as error:
            why = reason(error) if isinstance(error, OSError) else str(error)
            raise InputError(f"--port {port}: cannot be used ({why}); leave it out for any that is free") from None
        listener.listen(128)
        token, port = secrets.token_urlsafe(TOKEN_BYTES), listener.getsockname()[1]
        address = f"http://{HOST}:{port}/{token}/" + (f"?{query}" if query else "")
        uploads, workers = Uploads(), WorkerPool(members)
        shiny = App(lambda request: document(state_of(request.url.query, uploads)), server_of(uploads, workers))
        shiny.sanitize_errors = True
        config = uvicorn.Config(
            site(shiny, uploads, token, port),
            log_level="error", access_log=False, lifespan="off", ws="websockets-sansio", ws_max_size=LARGEST_MESSAGE,
            timeout_graceful_shutdown=PATIENCE, server_header=False,
        )  # fmt: skip
        for first in (partial(look_up, state_of("", {})), workers.warm):  # the first of each kind is slow
            threading.Thread(target=first, daemon=True).start()
        say(address)
        sys.stdout.flush()
        if opens:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        uvicorn.Server(config).run(sockets=[listener])
