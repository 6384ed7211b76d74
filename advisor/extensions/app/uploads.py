"""Files that people drop on the page: received into memory, in bounded amounts, and never written to disk."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from advisor.extensions.app.state import safe_name
from advisor.inputs.held import HeldFile

MEGABYTE = 1_000_000
LARGEST = 50 * MEGABYTE  # of one file
MOST = 200 * MEGABYTE  # of all that are held: what was not asked for longest is forgotten first
DIGEST = 16  # characters of the digest by which an address names a file
TOO_LARGE = f"The file is larger than {LARGEST // MEGABYTE} MB: ldp-advise reads larger ones on the command line."


class Uploads(Mapping[str, HeldFile]):
    """The files that are held, by digest."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, HeldFile] = OrderedDict()

    def __getitem__(self, digest: str) -> HeldFile:
        """Return a file, which is forgotten last from now on."""
        self._files.move_to_end(digest)
        return self._files[digest]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __contains__(self, digest: object) -> bool:
        return digest in self._files

    def add(self, content: bytes) -> str:
        """Hold a file, and return its digest; what does not fit beside it is forgotten."""
        digest = hashlib.sha256(content).hexdigest()[:DIGEST]
        if digest not in self._files:
            self._files[digest] = HeldFile(content)
        self._files.move_to_end(digest)
        while sum(len(file.content) for file in self._files.values()) > MOST:
            self._files.popitem(last=False)
        return digest

    async def receive(self, request: Request) -> Response:
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
        return JSONResponse({"digest": self.add(bytes(content)), "name": name})
