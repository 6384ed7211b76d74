"""What people take away from a page: command line, Python, and files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from html import escape

from shiny import reactive, render, req, ui

from advisor.errors import InputError
from advisor.extensions.app.shown import PageAnswer


def reproduce_html(answer: PageAnswer) -> str:
    """Return the commands and the code that give the same, and the files, under a heading."""
    files = [
        ui.download_link("take_page", "The page (HTML)"),
        ui.download_link("take_csv", "The ranking (CSV)"),
    ]
    if answer.applied() is not None:
        files.append(ui.download_link("take_applied", "The repaired frequencies (CSV)"))
    if answer.first is not None:
        files.append(ui.download_link("take_code", "Clients and server for this pair (zip)"))
    if answer.made_up():
        what = "The example (CSV)" if answer.state.data.digest else "The frequencies that were assumed (CSV)"
        files.append(ui.download_link("take_data", what))
    listed = "".join(f"<li>{link}</li>" for link in files)
    named = ", ".join(sorted(answer.made_up()))
    note = f"<p class='quiet'>The command reads {escape(named)}: take it from the list below.</p>" if named else ""
    code = f"<p class='quiet'>The zip file is that of:</p>{_copied('code', answer.code_line())}" if answer.first else ""
    lines = "".join(_copied(f"line-{place}", line) for place, line in enumerate(answer.lines))
    return (
        f'<section id="take"><h2>Take it away</h2><h3>On the command line</h3>{lines}{note}'
        f"<h3>In Python</h3>{_copied('python', answer.python)}"
        f'<h3>Files</h3><ul class="files">{listed}</ul>{code}</section>'
    )


def _copied(name: str, text: str) -> str:
    """Return text to copy, with the button that does it."""
    return (
        f'<div class="copied"><pre tabindex="0" id="copy-{name}">{escape(text)}</pre>'
        f'<button type="button" class="copy quiet-button" data-copy="copy-{name}">Copy</button></div>'
    )


def add_downloads(current: reactive.Value[PageAnswer | None]) -> None:
    """Add the files of the newest answer, made when they are asked for, in memory."""

    def answer() -> PageAnswer:
        with reactive.isolate():
            known = current()
        req(known is not None)
        assert known is not None  # noqa: S101 - `req` has seen to it
        return known

    @render.download(filename="ldp-advise.html", media_type="text/html")
    async def take_page() -> AsyncIterator[str]:
        yield await asyncio.to_thread(answer().page)

    @render.download(filename="ldp-advise.csv", media_type="text/csv")
    def take_csv() -> Iterator[str]:
        yield answer().csv()

    @render.download(filename="repaired.csv", media_type="text/csv")
    def take_applied() -> Iterator[str]:
        yield answer().applied() or ""

    @render.download(filename="collection.zip", media_type="application/zip")
    async def take_code() -> AsyncIterator[bytes]:
        try:
            yield await asyncio.to_thread(answer().code)
        except InputError:
            return

    @render.download(filename=lambda: next(iter(answer().made_up()), "data.csv"), media_type="text/csv")
    def take_data() -> Iterator[bytes]:
        yield from answer().made_up().values()
