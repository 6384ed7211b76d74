"""Excerpts of this package's own source: some functions with all that they use, as one file that needs numpy alone."""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

PACKAGE = "simulator"
REMARK = re.compile(r"  # (noqa|type:|fmt:).*$")


class _Definition(NamedTuple):
    """A name of a module: where its text is, and what it is made of; or where it is imported from."""

    lines: tuple[int, int]  # numbers of the first and last line, from 1
    nodes: ast.stmt


class _Module:
    """The names of a module of this package."""

    def __init__(self, name: str) -> None:
        self.name = name
        source = Path(str(import_module(name).__file__)).read_text(encoding="utf-8")
        tree = ast.parse(source)
        self.lines = _unannotated(source, tree).splitlines()
        self.definitions: dict[str, _Definition] = {}
        self.imports: dict[str, tuple[str, str | None]] = {}  # module, and the name in it; None: the module itself
        for node in tree.body:
            for name_of in _names(node):
                first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
                self.definitions[name_of] = _Definition((first, node.end_lineno or first), node)
            if isinstance(node, ast.Import):
                self.imports |= {alias.asname or alias.name: (alias.name, None) for alias in node.names}
            if isinstance(node, ast.ImportFrom):
                self.imports |= {alias.asname or alias.name: (str(node.module), alias.name) for alias in node.names}

    def text(self, definition: _Definition) -> str:
        """Return the source of a definition, without annotations and remarks to linters."""
        first, last = definition.lines
        return "\n".join(REMARK.sub("", line) for line in self.lines[first - 1 : last])


def excerpt(*wanted: tuple[str, str], given: str = "", then: str = "") -> str:
    """Return the source of some names of modules, and of all names of this package that they use.

    wanted: (module, name) of each.
    given: data classes in place of those of this package that have the same names.
    then: what is put after all the rest.

    Raises ValueError if two different things would have one name.
    """
    standing_in = {name for node in ast.parse(given).body for name in _names(node)}
    taken: dict[str, str] = {}  # name -> module
    imports: set[tuple[str, str | None, str]] = {("numpy", None, "np")}
    if standing_in:
        imports.add(("dataclasses", "dataclass", "dataclass"))
    constants: list[str] = []
    functions: list[str] = []

    def take(where: str, name: str) -> None:
        if name in standing_in:
            return
        inside = _module(where)
        if name not in inside.definitions:
            if name in inside.imports:
                _import(inside, name)
            return
        if name in taken:
            if taken[name] != where:
                raise ValueError(f"{name} is in {taken[name]} and in {where}")
            return
        taken[name] = where
        definition = inside.definitions[name]
        simple = isinstance(definition.nodes, ast.Assign | ast.AnnAssign)
        used = _used(definition.nodes)
        at_once = used if simple else _used_at_once(definition.nodes)
        for each in at_once:
            take(where, each)
        (constants if simple else functions).append(inside.text(definition))
        for each in used:
            take(where, each)

    def _import(inside: _Module, name: str) -> None:
        source, member = inside.imports[name]
        if source.partition(".")[0] == PACKAGE:
            take(source, member or name)
        else:
            imports.add((source, member, name))

    for module, name in wanted:
        take(module, name)
    blocks = ["from __future__ import annotations", _import_lines(imports)]
    blocks += ["\n".join(dict.fromkeys(constants))] if constants else []  # one line may define several
    return (
        "\n\n\n".join(["\n\n".join(blocks), *filter(None, [given.strip()]), *functions, *filter(None, [then.strip()])])
        + "\n"
    )


def _import_lines(imports: Iterable[tuple[str, str | None, str]]) -> str:
    """Return the lines that import some names: module, name in it (None: the module itself), and what it is called."""
    lines, members = [], defaultdict(list)
    for source, member, name in sorted(imports, key=str):
        if member is None:
            lines.append(f"import {source}" if name == source else f"import {source} as {name}")
        else:
            members[source].append(name)
    lines += [f"from {source} import {', '.join(names)}" for source, names in members.items()]
    lines.sort(key=lambda line: (line.startswith("from"), line))
    parts = ([line for line in lines if ("numpy" in line) == last] for last in (False, True))
    return "\n\n".join("\n".join(part) for part in parts if part)  # the standard library comes first


@lru_cache(maxsize=64)
def _module(name: str) -> _Module:
    return _Module(name)


def _names(node: ast.stmt) -> list[str]:
    """Return the names that a statement at the top of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]


@lru_cache(maxsize=4096)
def _used(node: ast.AST) -> tuple[str, ...]:
    """Return the names that a definition uses, but not in annotations, in the order in which they stand."""
    hidden = {id(each) for note in _annotations(node) for each in ast.walk(note)}
    names = [each for each in ast.walk(node) if isinstance(each, ast.Name) and id(each) not in hidden]
    names.sort(key=lambda each: (each.lineno, each.col_offset))
    return tuple(each.id for each in names if not hasattr(builtins, each.id))


def _used_at_once(node: ast.stmt) -> tuple[str, ...]:
    """Return the names that must be there when a definition is made: bases of classes."""
    return tuple(name for base in getattr(node, "bases", ()) for name in _used(base))


def _annotations(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield what stands behind colons and arrows, wherever it means nothing when the program runs."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            yield from (each.annotation for each in every if each is not None and each.annotation is not None)
            if node.returns is not None:
                yield node.returns
        if isinstance(node, ast.AnnAssign):
            yield node.annotation


def _unannotated(source: str, tree: ast.Module) -> str:
    """Return a source without the annotations of functions and their variables; fields of classes keep theirs."""
    lines = source.splitlines()
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    fields = {id(each.annotation) for node in classes for each in node.body if isinstance(each, ast.AnnAssign)}
    variables = {id(node.annotation) for node in ast.walk(tree) if isinstance(node, ast.AnnAssign)}
    spans = [
        (note.lineno, note.col_offset, note.end_lineno or 0, note.end_col_offset or 0, id(note) in variables)
        for note in _annotations(tree)
        if id(note) not in fields
    ]
    for first, start, last, end, variable in sorted(spans, reverse=True):
        line = lines[first - 1].encode()  # columns are counted in bytes
        head = re.sub(rb"(:| ->) *$", b"", line[:start])
        rest = lines[last - 1].encode()[end:]
        rest = rest if variable else re.sub(rb"^ = ", b"=", rest)  # a default beside no annotation has no blanks
        lines[first - 1 : last] = [(head + rest).decode(), *[""] * (last - first)]
    return "\n".join(lines)
