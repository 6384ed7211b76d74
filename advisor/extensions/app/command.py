"""``ldp-advise app``: a page on this computer, where every answer is that of a command line."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated, ClassVar
from urllib.parse import urlsplit

from advisor.checks import whole
from advisor.cli.options import argument
from advisor.errors import InputError
from advisor.members import as_named
from advisor.question.option import Settings, like, option
from advisor.question.settings import Menu
from advisor.show.pictures import require_matplotlib

MOST_PORT = 65_535

Address = Annotated[
    str | None, argument("ADDRESS", "an address of the page, of this run or an earlier one: it opens as it was")
]


@dataclass(frozen=True, kw_only=True)
class Serving(Settings):
    """Where the page is, and what it knows."""

    panel: ClassVar[str] = "Page"

    port: int | None = option(
        "--port", read=whole(0, MOST_PORT), metavar="N", help="port on this computer [default: any that is free]"
    )
    quiet_start: bool = option("--no-browser", help="show the address, and do not open a browser")
    method: tuple[str, ...] = like(Menu, "method", help="a method of yours to compare: mine.py:soft")


def app_command(*, address: Address = None, serving: Serving) -> None:
    """Open a page in the browser that shows all of this.

    Four pages: plan a survey, repair an estimate, compare methods, places. It runs on this computer alone and loads
    nothing from elsewhere; files that are dropped on it stay in memory. Ctrl-C ends it.

    Example: ldp-advise app
    """
    if find_spec("shiny") is None:  # which brings the others
        raise InputError("the page needs Shiny for Python: pip install 'ldp-advise[app]'")
    require_matplotlib("ldp-advise app")
    from advisor.extensions.app.site import serve  # heavy

    query = urlsplit(f"?{(address or '').rpartition('?')[2]}").query
    serve(query, serving.port or 0, opens=not serving.quiet_start, methods=tuple(map(as_named, serving.method)))
