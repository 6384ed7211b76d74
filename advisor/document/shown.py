"""Answers of Python functions: what all of them can do with their document."""

from __future__ import annotations

from abc import ABC, abstractmethod

from advisor.document.json import json_text
from advisor.document.model import Document
from advisor.document.page import fragment_html


class Shown(ABC):
    """An answer that is shown by its document."""

    @property
    @abstractmethod
    def _document(self) -> Document: ...

    def to_json(self) -> str:
        """Return the answer as one JSON object (see the shipped JSON Schema)."""
        return json_text(self._document)

    def _repr_html_(self) -> str:
        return fragment_html(self._document)
