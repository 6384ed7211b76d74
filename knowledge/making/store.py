"""Store of a build's finished cells: a JSON line each, appended and flushed, merged on reading."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Generic, TypeVar, cast

R = TypeVar("R", bound=Mapping[str, object])  # stored content of a cell, JSON types with its number as "index"


class Store(Generic[R]):
    """Finished cells of a build.

    The first line identifies the build; a file of another build is refused. A build that was killed may leave half a
    line, which is passed over, and the next record starts on a new line.

    path: file of JSON lines; created when it does not exist.
    plan: the settings that determine the cells: seed, menu, ranges, version.

    Raises ValueError if the file belongs to another plan.
    """

    def __init__(self, path: Path, plan: Mapping[str, object]) -> None:
        self.path = path
        self.plan = json.loads(json.dumps(plan))
        if not path.exists() or path.stat().st_size == 0:
            self._write({"plan": self.plan})
            return
        content = path.read_bytes()
        if b"\n" not in content and self._line({"plan": self.plan}).encode().startswith(content):
            path.write_bytes(b"")  # a kill cut the very first line short: nothing is lost
            self._write({"plan": self.plan})
            return
        first = next(self._lines(), None)
        if first is None or first.get("plan") != self.plan:
            raise ValueError(f"{path} holds the cells of another build: remove it or name another file")
        if not content.endswith(b"\n"):
            with path.open("a", encoding="utf-8") as file:
                file.write("\n")

    def add(self, record: R) -> None:
        """Append a finished cell; it is on disk when this returns."""
        self._write(record)

    def records(self) -> dict[int, R]:
        """Return the finished cells by number."""
        lines = ((line.get("index"), line) for line in self._lines())
        return {index: cast(R, line) for index, line in lines if isinstance(index, int)}

    def _write(self, record: Mapping[str, object]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(self._line(record))

    @staticmethod
    def _line(record: Mapping[str, object]) -> str:
        return json.dumps(record, separators=(",", ":")) + "\n"

    def _lines(self) -> Iterator[dict[str, object]]:
        with self.path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError):
                    continue  # a line that a kill cut short, or that somebody edited
                if isinstance(record, dict):
                    yield record
