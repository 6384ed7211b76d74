"""Answers of Python functions: what all of them can do with their document."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, Self

from advisor.show.data import json_text
from advisor.show.model import Document
from advisor.show.page import fragment_html


class Shown(ABC):
    """An answer that is shown by its document; classes join it to a frozen result."""

    @classmethod
    def of(cls, result: Any) -> Self:
        """Return a result with what is done with it."""
        return cls(**{item.name: getattr(result, item.name) for item in fields(result)})

    @property
    @abstractmethod
    def _document(self) -> Document: ...

    def to_json(self) -> str:
        """Return the answer as one JSON object (see the shipped JSON Schema)."""
        return json_text(self._document)

    def _repr_html_(self) -> str:
        return fragment_html(self._document)
