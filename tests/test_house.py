import ast
import re
import sys
import tomllib
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("simulator", "knowledge", "advisor", "ldp_advise")
# The rooms of the advisor from the ground up, those of one storey together; what is in a room knows nothing above it.
ROOMS = (
    ("errors", "checks", "figures", "members"),
    ("inputs",),
    ("question",),
    ("answers",),
    ("show",),
    ("api",),
    ("cli",),
    ("extensions",),
)
REGISTRY = "advisor.extensions"  # the names of commands, which imports none of them


@cache
def modules():
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in files}


@cache
def statements(name):
    """The imports of a module, wherever they stand: never in an expression."""
    imported, left = [], list[ast.AST](ast.parse(modules()[name].read_text(encoding="utf-8")).body)
    while left:
        node = left.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imported.append(node)
        left += [
            one for part in ("body", "orelse", "finalbody", "handlers", "cases") for one in getattr(node, part, [])
        ]
    return imported


def imports(name):
    """The modules of the house that a module imports, now or later, but for what only types name."""
    result = set()
    for node in statements(name):
        if isinstance(node, ast.Import):
            result |= {one.name for one in node.names}
        elif node.module:
            inner = {f"{node.module}.{one.name}" for one in node.names}
            result |= (inner & modules().keys()) or {node.module}
    return (result & modules().keys()) - {name}


def test_no_imports_run_in_a_circle():
    with pytest.raises(CycleError, match=r"'b', 'c', 'b'|'c', 'b', 'c'"):
        TopologicalSorter({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}).prepare()
    TopologicalSorter({name: imports(name) for name in modules()}).prepare()


def test_packages_import_downwards():
    below = {"simulator": {"simulator"}, "knowledge": {"simulator", "knowledge"}}
    for name in modules():
        package = name.partition(".")[0]
        assert {one.partition(".")[0] for one in imports(name)} <= below.get(package, set(PACKAGES)), name


def room(name):
    parts = name.split(".")
    return parts[1] if parts[0] == "advisor" and len(parts) > 1 and parts[1] != "__main__" else ""


def upwards(name, imported):
    """The rooms above its own from which a module of the advisor imports, and the doorway, `advisor` itself."""
    storeys = {one: height for height, storey in enumerate(ROOMS) for one in storey}
    here = storeys[room(name)]
    above = {room(one) for one in imported - {REGISTRY} if room(one) and storeys[room(one)] > here}
    return above | ({"advisor"} & imported)


def test_rooms_of_the_advisor_import_downwards():
    """So no two of them import each other; `advisor` itself and its `__main__` open all doors."""
    assert upwards("advisor.question.question", {"advisor.inputs.text", "advisor.cli.run"}) == {"cli"}
    assert upwards("advisor.members.names", {"advisor.errors", "advisor.show.data", "advisor"}) == {"show", "advisor"}
    inside = [name for name in modules() if room(name)]
    assert {room(name) for name in inside} == {one for storey in ROOMS for one in storey}
    assert imports(REGISTRY) == set()
    assert {name: above for name in inside if (above := upwards(name, imports(name)))} == {}


def test_extensions_are_imported_by_the_page_alone():

    def extension(name):
        parts = name.split(".")
        return parts[2] if parts[:2] == ["advisor", "extensions"] and len(parts) > 2 else ""

    arrows = {(name, extension(one)) for name in modules() for one in imports(name) if extension(one)}
    public = "advisor"  # the functions that it exports, for those who check types
    allowed = {(public, name) for name in ("audit", "choose", "places", "rounds")}
    assert {arrow for arrow in arrows if extension(arrow[0]) not in ("app", arrow[1])} == allowed


def test_every_package_that_is_imported_is_named_with_its_lowest_version():
    """A package that another one brings may be too old: uvicorn 0.34 was, which Shiny allows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {name: lines for name, lines in project["optional-dependencies"].items() if name not in ("dev", "test")}
    lines = [*project["dependencies"], *(line for lines in extras.values() for line in lines)]
    bounded = {match[1].lower() for line in lines if (match := re.match(r"([\w-]+)>=\d", line))}
    tops = set()
    for name in modules():
        if ".templates." not in name:  # scripts, and parts of clients that import each other
            for node in statements(name):
                whole = [one.name for one in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                tops |= {module.partition(".")[0] for module in whole}
    foreign = tops - {*PACKAGES, *sys.stdlib_module_names, "_typeshed"}
    assert {"numpy", "uvicorn", "ot"} <= foreign
    assert {{"ot": "pot"}.get(name, name) for name in foreign} - bounded == set()
