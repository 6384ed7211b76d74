"""Pictures of answers; needs matplotlib (the extra ``plot``). Readable in grey and without telling red from green."""

from __future__ import annotations

import io
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, suppress
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.errors import InputError, printable
from advisor.show.model import Figure as Picture
from advisor.show.model import Section
from advisor.show.pictures.style import settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = (".png", ".svg", ".pdf")  # suffixes


def require_matplotlib(option: str, path: Path | None = None) -> None:
    """Import matplotlib for a command, before the simulation and not after.

    It would read the settings in the folder that a command is run in, which may be somebody else's, and in the
    environment; so it is imported in its own folder. In Python, settings are the caller's own.

    Raises InputError if it cannot be imported.
    """
    del path  # whatever is to be drawn
    home = find_spec("matplotlib")
    if home is None or home.origin is None:
        raise InputError(f"{option} needs matplotlib: pip install 'ldp-advise[plot]'")
    logging.getLogger("matplotlib").setLevel(logging.CRITICAL)  # where it keeps its fonts is no news for our users
    backend = os.environ.pop("MPLBACKEND", None)
    try:
        with suppress(FileNotFoundError), chdir(Path(home.origin).parent):
            import matplotlib
        import matplotlib  # noqa: F401 - in a folder that has been removed, there are no settings
    except (ImportError, OSError) as error:
        raise InputError(f"{option} needs matplotlib, which cannot be imported: {error}") from None
    finally:
        if backend is not None:
            os.environ["MPLBACKEND"] = backend


@contextmanager
def one_glyph_warning(*, text_as_text: bool = False) -> Iterator[None]:
    """Turn matplotlib's warnings about characters without a glyph, one for each, into one that says what it means.

    Where text stays text, what shows the picture chooses the font, and there is nothing to warn of.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    glyphs = [warning for warning in caught if "missing from font" in str(warning.message)]
    for warning in caught:
        if warning not in glyphs:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    if glyphs and not text_as_text:
        warnings.warn(
            "some labels have characters that are not in the fonts of pictures; they are drawn as boxes (.svg keeps "
            "them as text)",
            stacklevel=3,
        )


def save(figure: Figure, target: Path) -> None:
    """Write a figure in the format of the suffix; the same figure gives the same bytes."""
    kind = target.suffix.lower().lstrip(".")
    if kind == "svg":
        target.write_text(_svg(figure, "ldp-advise"), encoding="utf-8")
        return
    dated = {"png": {}, "pdf": {"CreationDate": None}}[kind]
    with settings(), one_glyph_warning():
        figure.savefig(target, format=kind, metadata=dated)


def to_svg(figure: Figure, salt: str) -> str:
    """Return the ``<svg>`` element of a figure for a page: text as text, ids that no other `salt` gives."""
    svg = _svg(figure, salt)
    return svg[svg.index("<svg") :]


def picture_section(title: str, label: str, draw: Callable[[], Figure], salt: str) -> Section:
    """Return the section of a page with a picture; salt: see `to_svg`."""
    return Section(title, (Picture(title, label, lambda: to_svg(draw(), salt)),))


def _svg(figure: Figure, salt: str) -> str:
    """Return a figure as SVG, with a title, and the figure's label as its description for who cannot see it."""
    text = io.StringIO()
    with settings(salt), one_glyph_warning(text_as_text=True):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    before, svg = text.getvalue().split("<svg ", 1)
    tag, inside = svg.split(">", 1)
    title = figure.get_suptitle() or next((title for axes in figure.axes if (title := axes.get_title("left"))), "")
    names = "".join(
        f'<{kind} id="{salt}-{kind}">{escape(words)}</{kind}>'
        for kind, words in (("title", title.strip()), ("desc", printable(str(figure.get_label()))))
    )
    return f'{before}<svg role="img" aria-labelledby="{salt}-title {salt}-desc" {tag}>{names}{inside}'
