"""The rows of a Parquet file, batch by batch, of which only the columns in use are decoded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

from advisor.errors import InputError
from advisor.inputs.blocks import Block, Rows
from advisor.inputs.columns import InputTable
from advisor.inputs.head import Expected
from advisor.inputs.held import check_content
from advisor.inputs.labels import label_of, missing_labels, shortened
from advisor.inputs.source import LONGEST_LINE, Source

_BATCH_ROWS = 1 << 15
_BATCH_LISTS = 1 << 9  # rows with lists, which may have thousands of members each
_BETWEEN = ";"  # separator of the members of a list, if the list is text
_HEAD_ROWS = 1000
_FLAT = ("integer", "floating", "boolean", "string", "large_string", "null", "decimal", "date", "timestamp")
_BUFFER_BYTES = 1 << 20  # without it whole row groups are held
_LARGEST_CHUNK = 1 << 26  # bytes of a column in a row group from which its values must be short: a page is read whole
_LONGEST_MEAN = 1 << 8  # a million rows, which is what writers put into a row group, may have one value of 256 MB


@contextmanager
def opened_parquet(source: Source, expected: Expected) -> Iterator[ParquetRows]:
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
        with source.rereadable() as again:
            schema = parquet.read_schema(again.binary())
            # A text that is there a million times is decoded once.
            texts = [field.name for field in schema if pa.types.is_string(field.type)]
            with parquet.ParquetFile(
                again.binary(), buffer_size=_BUFFER_BYTES, pre_buffer=False, read_dictionary=texts
            ) as file:
                groups = (file.metadata.row_group(group) for group in range(file.metadata.num_row_groups))
                cells = file.metadata.num_rows * file.metadata.num_columns  # of a byte at least, once they are text
                check_content(source.name, max(cells, sum(group.total_byte_size for group in groups)))
                yield ParquetRows(file, source.name, texts, expected)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{source.name}: the Parquet file cannot be read ({error})") from error


class ParquetRows(Rows):
    """The rows of an open Parquet file."""

    def __init__(self, file: Any, source: str, texts: Sequence[str], expected: Expected) -> None:
        self._file = file
        self._texts = texts  # columns without a categorical type
        self._kinds = [field.type for field in file.schema_arrow]
        self._names = tuple(file.schema_arrow.names)
        self._leaves: dict[str, int] = {}  # by the name of a column: of a list, the first
        for leaf, column in enumerate(file.schema):
            for name in accumulate(column.path.split("."), "{}.{}".format):
                self._leaves.setdefault(name, leaf)
        lists = {name for name, kind in zip(self._names, self._kinds, strict=True) if _is_list(kind)}
        self._lists = lists if expected.lists else set()
        if not self._names:
            raise InputError(f"{source}: the Parquet file has no columns")
        if not file.metadata.num_rows:
            raise InputError(f"{source}: is empty; a table with at least one row is needed")
        rows = self._head()
        names = tuple(map(str.strip, self._names))
        places, codes = range(1, len(rows) + 1), expected.missing
        super().__init__(InputTable(source, names, len(names), rows, places, unit="row", codes=codes), ())

    def _head(self) -> list[list[str]]:
        """Return the first rows; columns that cannot be read anyway are empty there."""
        places = range(len(self._names))
        times = Counter(self._names)
        once = [at for at in places if times[self._names[at]] == 1]
        flat = [at for at in once if self._is_flat(at) and not self._overlong(self._names[at])]
        cells = next(self._batches(flat, _HEAD_ROWS)) if flat else {}
        rows = len(cells[flat[0]]) if flat else 0
        return [[cells[at][row] if at in cells else "" for at in places] for row in range(rows)]

    def _batches(self, used: Sequence[int], most: int) -> Iterator[dict[int, list[str]]]:
        """Yield the cells of some columns for at most so many rows at once: fewer where lists may be long."""
        names = [self._names[at] for at in used]
        rows = min(most, _BATCH_LISTS) if self._lists & set(names) else most
        for batch in self._file.iter_batches(batch_size=rows, columns=names):
            yield {at: _cells(batch.column(self._names[at])) for at in used}

    def blocks(self, columns: Sequence[int] | None = None, *, even: bool = True) -> Iterator[Block]:  # noqa: ARG002
        """Yield the rows in blocks, without the header and blank lines."""
        used = sorted(set(range(self.table.width) if columns is None else columns))
        for at in used:
            self._check(at)
        place = 1
        for cells in self._batches(used, _BATCH_ROWS):
            for at in used:
                if max(map(len, cells[at])) > LONGEST_LINE:
                    raise self._too_long(at)
            rows = len(cells[used[0]])
            yield Block(cells, self.table.width, range(place, place + rows))
            place += rows

    def categories(self, column: int) -> tuple[tuple[str, ...], bool | None]:
        """Return all categories that the type of a column names, and whether their order means something, if known.

        Only a dictionary that was written as one, the same in each row group, is known to be complete and in order.
        """
        from pyarrow import types

        name, kind, metadata = self._names[column], self._kinds[column], self._file.metadata
        if name in self._texts or not types.is_dictionary(kind):
            return (), None
        groups = [group for group in range(metadata.num_row_groups) if metadata.row_group(group).num_rows]
        heads = (next(self._file.iter_batches(1, row_groups=[group], columns=[name])) for group in groups)
        first, *others = (head.column(0).dictionary for head in heads)
        written = all(chunk.has_dictionary_page for chunk in self._chunks(name) if chunk.num_values)
        if not written or any(not first.equals(other) for other in others):
            return (), None
        labels = dict.fromkeys(label_of(value) for value in first.to_pylist() if value is not None)
        missing = set(missing_labels(labels))
        found = [label for label in labels if label not in missing]
        columns = (self._file.schema_arrow.pandas_metadata or {}).get("columns", ())
        chosen = any(one.get("name") == name and one.get("pandas_type") == "categorical" for one in columns)
        # Other writers list values as they meet them, which is no order.
        return tuple(found if chosen or kind.ordered else sorted(found)), bool(kind.ordered) or None

    def _is_flat(self, at: int) -> bool:
        from pyarrow import types

        kind = self._kinds[at]
        kind = kind.value_type if self._names[at] in self._lists or types.is_dictionary(kind) else kind
        return any(getattr(types, f"is_{name}")(kind) for name in _FLAT)

    def _overlong(self, name: str) -> bool:
        """Return whether the values of a column are so long that a few of them would fill the memory."""
        return any(
            chunk.total_uncompressed_size > max(_LARGEST_CHUNK, _LONGEST_MEAN * chunk.num_values)
            for chunk in self._chunks(name)
        )

    def _chunks(self, name: str) -> list[Any]:
        """Return what the file says of a column in each row group."""
        metadata, leaf = self._file.metadata, self._leaves[name]
        return [metadata.row_group(group).column(leaf) for group in range(metadata.num_row_groups)]

    def _too_long(self, at: int) -> InputError:
        return InputError(
            f"{self.table.source}: column {shortened(self._names[at])} holds a value of over {LONGEST_LINE} bytes, or "
            f"of over {_LONGEST_MEAN} on average; labels are shorter: choose another --column"
        )

    def _check(self, at: int) -> None:
        name, source = self._names[at], self.table.source
        if self._names.count(name) > 1:
            raise InputError(f"{source}: several columns are called {shortened(name)}; rename them")
        if not self._is_flat(at):
            raise InputError(
                f"{source}: column {shortened(name)} holds {self._kinds[at]}; "
                "integers, strings, booleans, numbers, dates or a dictionary of these can be read: cast it to strings"
            )
        if self._overlong(name):
            raise self._too_long(at)


def _cells(values: Any) -> list[str]:
    """Return values of a batch as text; a repeated long value is in memory once."""
    values = _as_text(values) if _is_list(values.type) else values
    coded = values if str(values.type).startswith("dictionary") else values.dictionary_encode()
    distinct = coded.unique()
    texts = ["" if value is None else label_of(value) for value in distinct.to_pylist()]
    labels = dict(zip(distinct.indices.to_pylist(), texts, strict=True))
    return [labels[code] for code in coded.indices.to_pylist()]


def _is_list(kind: Any) -> bool:
    from pyarrow import types

    return any(getattr(types, f"is_{name}")(kind) for name in ("list", "large_list", "fixed_size_list"))


def _as_text(lists: Any) -> Any:
    """Return lists as text, members in the order of the list; missing ones make a missing list."""
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_boolean(lists.type.value_type):
        lists = lists.cast(pa.list_(pa.int8()))  # 0 and 1, as in CSV
    return compute.binary_join(lists.cast(pa.list_(pa.string())), _BETWEEN)
