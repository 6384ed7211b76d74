"""The measures of the house: short files and functions, imports without circles."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("simulator", "knowledge", "advisor", "ldp_advise")
FUNCTION_LINES = 60  # of a function without its docstring


@cache
def modules() -> dict[str, Path]:
    """The files of the packages by the names that import them."""
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in files}


FUNCTIONS, IMPORTS = (ast.FunctionDef, ast.AsyncFunctionDef), (ast.Import, ast.ImportFrom)


@cache
def statements(name: str) -> tuple[dict[str, int], list[ast.AST]]:
    """The lengths of a module's functions, and its imports, wherever they stand: never in an expression."""
    lengths: dict[str, int] = {}
    imported, left = [], list[ast.AST](ast.parse(modules()[name].read_text(encoding="utf-8")).body)
    while left:
        node = left.pop()
        if isinstance(node, FUNCTIONS):
            lengths[node.name] = max(length(node), lengths.get(node.name, 0))
        elif isinstance(node, IMPORTS):
            imported.append(node)
        left += [
            one for part in ("body", "orelse", "finalbody", "handlers", "cases") for one in getattr(node, part, [])
        ]
    return lengths, imported


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function, signature and all, without its docstring."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    if ast.get_docstring(function, clean=False) is None:
        return lines
    docstring = function.body[0]
    return lines - ((docstring.end_lineno or 0) - docstring.lineno + 1)


def test_no_function_is_longer_than_60_lines() -> None:
    lengths = {f"{name}.{function}": lines for name in modules() for function, lines in statements(name)[0].items()}
    assert {name: lines for name, lines in lengths.items() if lines > FUNCTION_LINES} == {}


def imports(name: str) -> set[str]:
    """The modules of the house that a module imports, now or later, but for what only types name."""
    result: set[str] = set()
    for node in statements(name)[1]:
        if isinstance(node, ast.Import):
            result |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{one.name}" for one in node.names}
            result |= (inner & modules().keys()) or {node.module}
    return (result & modules().keys()) - {name}


def circles(arrows: dict[str, set[str]]) -> list[set[str]]:
    """The groups of nodes that reach one another: what is left when the nodes without ways in or out are gone."""
    left = dict(arrows)
    while True:
        entered = set().union(*left.values()) if left else set()
        ends = {node for node in left if node not in entered or not left[node] & left.keys()}
        if not ends:
            return [set(left)] if left else []
        left = {node: after - ends for node, after in left.items() if node not in ends}


def test_no_imports_run_in_a_circle() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [{"b", "c"}]
    assert circles({name: imports(name) for name in modules()}) == []


def test_packages_import_downwards() -> None:
    below = {"simulator": {"simulator"}, "knowledge": {"simulator", "knowledge"}}
    for name in modules():
        package = name.partition(".")[0]
        assert {one.partition(".")[0] for one in imports(name)} <= below.get(package, set(PACKAGES)), name


def test_extensions_are_imported_by_the_page_alone() -> None:
    """By name, when they are run; columns and rounds are still options of the main command."""

    def extension(name: str) -> str:
        parts = name.split(".")
        return parts[2] if parts[:2] == ["advisor", "extensions"] and len(parts) > 2 else ""

    arrows = {(name, extension(one)) for name in modules() for one in imports(name) if extension(one)}
    public, main = "advisor", "advisor.cli.rank"  # the functions that `advisor` exports, for those who check types
    allowed = {(public, "audit"), (public, "rounds"), (main, "columns"), (main, "rounds")}
    assert {arrow for arrow in arrows if extension(arrow[0]) not in ("app", arrow[1])} == allowed
