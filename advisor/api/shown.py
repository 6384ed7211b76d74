"""Answers of Python functions: what all of them can do with their document and their picture."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from advisor.api.keywords import flags_to_keywords, keyword_errors
from advisor.errors import InputError
from advisor.show.data import json_text, latex, plain_text
from advisor.show.model import Document, View
from advisor.show.outputs import Outputs, Target
from advisor.show.page import fragment_html, page_html
from advisor.show.pictures import PICTURES, require_matplotlib, save, to_svg

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

PAGES = (".html", ".htm")


class Shown(ABC):
    """An answer that is shown by its document, in the words of Python; classes join it to a frozen result."""

    @classmethod
    def of(cls, result: Any) -> Self:
        """Return a result with what is done with it."""
        return cls(**{item.name: getattr(result, item.name) for item in fields(result)})

    @abstractmethod
    def _document(self) -> Document: ...

    @property
    def summary(self) -> str:
        """The answer in a sentence, or a few."""
        verdict = self._document().verdict
        return "" if verdict is None else flags_to_keywords(verdict.summary)

    def to_json(self) -> str:
        """Return the answer as one JSON object (see the shipped JSON Schema)."""
        return json_text(self._document())

    def to_latex(self) -> str:
        r"""Return the tables of the answer as ``tabular`` of booktabs, for ``\input``; all else is in comments."""
        return flags_to_keywords(latex(self._document(), View(top=None, hint=False)))

    def to_frame(self) -> pd.DataFrame:
        """Return the rows of the answer as a pandas data frame, those that ``--format csv`` writes."""
        import pandas as pd  # heavy

        records = self._document().records
        return pd.DataFrame(records.rows, columns=list(records.columns))

    def plot(self, path: str | Path | None = None, *, force: bool = False) -> Figure:
        """Draw the answer; needs matplotlib (the extra ``plot``).

        Parameters
        ----------
        path
            A file to write besides: .png, .svg or .pdf.
        force
            Whether a file that exists may be replaced.

        Returns
        -------
        A `matplotlib.figure.Figure`, which notebooks show.

        Raises
        ------
        InputError
            If matplotlib is missing, there is nothing to draw, or the file exists or cannot be written.
        """
        target = plot_target(path, force=force)
        draw = self._document().picture
        if draw is None:
            raise InputError("there is nothing to draw in this answer")
        return written(draw(), target)

    def report(self, path: str | Path, *, force: bool = False) -> None:
        """Write one self-contained page with everything; its pictures need matplotlib (the extra ``plot``).

        Parameters
        ----------
        path
            The page: .html.
        force
            Whether a file that exists may be replaced.

        Raises
        ------
        InputError
            If the file exists or cannot be written.
        """
        target = python_target("report", path, PAGES, force=force)
        target.write_text(page_html(self._document()))

    def __str__(self) -> str:
        """Return the warnings, the answer, the head of its table, and what was assumed."""
        document = self._document()
        lines = [*(f"Warning: {text}." for text in document.warnings), plain_text(document, View(hint=False))]
        return flags_to_keywords("\n".join(lines).rstrip("\n"))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary}>"

    def _repr_html_(self) -> str:
        return flags_to_keywords(fragment_html(self._document()))


@keyword_errors()
def python_target(name: str, path: str | Path, suffixes: Sequence[str], *, force: bool) -> Target:
    """Return a file that may be written.

    Raises InputError if its suffix differs, or if it exists and may not be replaced.
    """
    return Outputs(force=force).take(name, str(path), suffixes=suffixes)


def plot_target(path: str | Path | None, *, force: bool) -> Target | None:
    """Return the file of a picture, if there is to be one.

    Raises InputError if matplotlib is missing, or the file exists or cannot be written.
    """
    target = None if path is None else python_target("plot", path, PICTURES, force=force)
    require_matplotlib("plot")
    return target


def written(figure: Figure, target: Target | None) -> Figure:
    """Return a picture as notebooks show it, and write it if there is a target.

    Raises InputError if the file cannot be written.
    """
    # Notebooks ask for it; pyplot, which would teach them to show figures, is not imported.
    setattr(figure, "_repr_svg_", lambda: to_svg(figure, "notebook"))  # noqa: B010 - no field of the class
    if target is not None:
        target.write(lambda temporary: save(figure, temporary))
    return figure
