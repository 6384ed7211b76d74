"""The rows of a Parquet file, batch by batch, of which only the columns in use are decoded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from advisor.errors import InputError
from advisor.inputs.blocks import Block, Rows
from advisor.inputs.columns import Table
from advisor.inputs.source import Source

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH_ROWS = 1 << 15
_HEAD_ROWS = 1000
_FLAT = ("integer", "floating", "boolean", "string", "large_string", "null", "decimal", "date", "timestamp")
_BUFFER_BYTES = 1 << 20  # without it whole row groups are held


@contextmanager
def opened_parquet(source: Source) -> Iterator[ParquetRows]:
    """Open the rows of a Parquet file; standard input is copied to disk.

    Raises InputError if pyarrow is not installed, the file is damaged, or it has no column or no row.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            f"{source.name}: reading Parquet needs pyarrow; install it with pip install 'ldp-advise[parquet]', "
            "or give the columns as CSV"
        ) from None
    try:
        with (
            source.rereadable() as again,
            parquet.ParquetFile(again.binary(), buffer_size=_BUFFER_BYTES, pre_buffer=False) as file,
        ):
            yield ParquetRows(file, source.name)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{source.name}: the Parquet file cannot be read ({error})") from error


class ParquetRows(Rows):
    """The rows of an open Parquet file."""

    def __init__(self, file: Any, source: str) -> None:
        self._file = file
        self._kinds = [field.type for field in file.schema_arrow]
        self._names = tuple(file.schema_arrow.names)
        if not self._names:
            raise InputError(f"{source}: the Parquet file has no columns")
        if not file.metadata.num_rows:
            raise InputError(f"{source}: is empty; a table with at least one row is needed")
        stripped = tuple(name.strip() for name in self._names)
        rows = self._head()
        super().__init__(Table(source, stripped, len(stripped), rows, range(1, len(rows) + 1), unit="row"), ())

    def _head(self) -> list[list[str]]:
        """Return the first rows; columns that cannot be read anyway are empty there."""
        flat = [name for at, name in enumerate(self._names) if self._names.count(name) == 1 and self._is_flat(at)]
        if not flat:
            return []
        batch = next(self._file.iter_batches(batch_size=_HEAD_ROWS, columns=flat))
        columns = [_cells(batch.column(name)) if name in flat else [""] * batch.num_rows for name in self._names]
        return list(map(list, zip(*columns, strict=True)))

    def blocks(self, columns: Sequence[int] | None = None, *, even: bool = True) -> Iterator[Block]:  # noqa: ARG002
        """Yield the rows in blocks, without the header and blank lines."""
        used = sorted(set(range(self.table.width) if columns is None else columns))
        for at in used:
            self._check(at)
        place = 1
        for batch in self._file.iter_batches(batch_size=_BATCH_ROWS, columns=[self._names[at] for at in used]):
            taken = {at: batch.column(self._names[at]) for at in used}
            yield _ParquetBlock(taken, self.table.width, range(place, place + batch.num_rows))
            place += batch.num_rows

    def _is_flat(self, at: int) -> bool:
        from pyarrow import types

        kind = self._kinds[at]
        kind = kind.value_type if types.is_dictionary(kind) else kind
        return any(getattr(types, f"is_{name}")(kind) for name in _FLAT)

    def _check(self, at: int) -> None:
        name, source = self._names[at], self.table.source
        if self._names.count(name) > 1:
            raise InputError(f"{source}: several columns are called {name!r}; rename them")
        if not self._is_flat(at):
            raise InputError(
                f"{source}: column {name!r} holds {self._kinds[at]}; "
                "integers, strings, booleans, numbers, dates or a dictionary of these can be read: cast it to strings"
            )


class _ParquetBlock(Block):
    def __init__(self, columns: Mapping[int, pa.Array[Any]], width: int, places: Sequence[int]) -> None:
        super().__init__(width, places)
        self._columns = columns

    def cells(self, column: int) -> list[str]:
        return _cells(self._columns[column])

    def tallied(self, column: int) -> Mapping[str, int]:
        result: Counter[str] = Counter()
        for entry in _decoded(self._columns[column]).value_counts().to_pylist():
            result[_label(entry["values"])] += entry["counts"]
        return result


def _decoded(values: Any) -> Any:
    return values.dictionary_decode() if str(values.type).startswith("dictionary") else values


def _cells(values: Any) -> list[str]:
    return list(map(_label, _decoded(values).to_pylist()))


def _label(value: object) -> str:
    """Write a value as CSV writers do, a float that is a whole number as an integer."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
