"""Count one column of a Parquet file, record batch by record batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from advisor.errors import InputError
from advisor.inputs.columns import Choice, Table, choose_columns
from advisor.inputs.opening import Source
from advisor.inputs.tally import Tallied, Tally

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH_ROWS = 1 << 16
_HEAD_ROWS = 1000


def tally_parquet(
    source: Source, column: str | None, counts: str | None, *, drop_missing: bool
) -> tuple[Tallied, Table, Choice]:
    """Count a Parquet column of integers, strings, booleans, whole or decimal numbers, or a dictionary of these.

    Parameters
    ----------
    source : Source
        The input; standard input is copied to disk.
    column, counts : str or None
        The columns the user named.
    drop_missing : bool
        Whether to leave out nulls and NaN.

    Returns
    -------
    tuple
        Labels, users and warnings; the head of the table; the columns that were read.

    Raises
    ------
    InputError
        If pyarrow is not installed, the file is damaged, or the columns cannot be read.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            f"{source.name}: reading Parquet needs pyarrow; install it with pip install 'ldp-advise[parquet]', "
            "or give the column as CSV"
        ) from None
    try:
        with source.rereadable() as again, parquet.ParquetFile(again.binary()) as file:
            return _tally(file, source.name, column, counts, drop_missing=drop_missing)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{source.name}: the Parquet file cannot be read ({error})") from error


def _tally(
    file: Any, source: str, column: str | None, counts: str | None, *, drop_missing: bool
) -> tuple[Tallied, Table, Choice]:
    names = tuple(file.schema_arrow.names)
    if not names:
        raise InputError(f"{source}: the Parquet file has no columns; one with a value a user is needed")
    table = _head(file, source, names)
    choice = choose_columns(table, column, counts)
    used = [choice.label] if choice.count is None else [choice.label, choice.count]
    for at in used:
        _check_column(file, source, names, at)
    tally = Tally(source, unit="row")
    first = 1
    for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=[names[at] for at in used]):
        if choice.count is None:
            _add_users(batch.column(0), first, tally)
        else:
            labels, users = (_cells(batch.column(names[at])) for at in used)
            places = range(first, first + batch.num_rows)
            tally.add_counts(zip(labels, users, places, strict=True))
        first += batch.num_rows
    if first == 1:
        raise InputError(f"{source}: is empty; a table with one row a user is needed")
    return tally.result(drop_missing=drop_missing), table, choice


def _head(file: Any, source: str, names: tuple[str, ...]) -> Table:
    """Return the first rows of the columns that could matter; the others are not even decoded."""
    stripped = tuple(name.strip() for name in names)
    if len(names) == 1:
        return Table(source, stripped, 1, (), (), unit="row")
    flat = [name for at, name in enumerate(names) if _is_flat(file, at) and names.count(name) == 1]
    batch = next(file.iter_batches(batch_size=_HEAD_ROWS, columns=flat), None) if flat else None
    number = 0 if batch is None else batch.num_rows
    columns = [
        list(_cells(batch.column(name))) if batch is not None and name in flat else [""] * number for name in names
    ]
    return Table(source, stripped, len(names), list(zip(*columns, strict=True)), range(1, number + 1), unit="row")


def _value_type(file: Any, at: int) -> Any:
    kind = file.schema_arrow.field(at).type
    return getattr(kind, "value_type", kind) if str(kind).startswith("dictionary") else kind


def _is_flat(file: Any, at: int) -> bool:
    from pyarrow import types

    kind = _value_type(file, at)
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_string, types.is_large_string)
    return any(test(kind) for test in tests) or types.is_null(kind)


def _check_column(file: Any, source: str, names: tuple[str, ...], at: int) -> None:
    if names.count(names[at]) > 1:
        raise InputError(f"{source}: several columns are called {names[at]!r}; rename them")
    if not _is_flat(file, at):
        raise InputError(
            f"{source}: column {names[at]!r} holds {file.schema_arrow.field(at).type}; "
            "integers, strings, booleans, numbers or a dictionary of these can be read: cast it to strings"
        )


def _cells(values: pa.Array[Any]) -> Iterator[str]:
    return map(_label, _decoded(values).to_pylist())


def _add_users(values: pa.Array[Any], first: int, tally: Tally) -> None:
    decoded = _decoded(values)
    for entry in decoded.value_counts().to_pylist():
        label = _label(entry["values"])
        place = first
        if not label or label.casefold() in {"nan", "na", "n/a", "null", "none"}:
            place += next(at for at, value in enumerate(_cells(decoded)) if value == label)
        tally.add_tallied(label, entry["counts"], place)
    tally.skip_blanks(0, 0, only=False)


def _decoded(values: Any) -> Any:
    return values.dictionary_decode() if str(values.type).startswith("dictionary") else values


def _label(value: object) -> str:
    """Write a value as CSV writers do, a float that is a whole number as an integer."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
