import importlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
import warnings
from importlib.metadata import EntryPoint, PathDistribution
from pathlib import Path
from types import ModuleType

import pytest

from simulator import plugins
from simulator.conformance import check_metric, check_postprocessor, check_protocol
from simulator.methods import POSTPROCESSORS
from simulator.metrics import METRICS, Metric, mse
from simulator.protocols import PROTOCOLS, FrequencyOracle
from simulator.protocols.unary import OUE
from tests.cells import over

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "tests" / "example_plugin"
STATES = ROOT / "examples" / "us_states_2020.csv"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A directory with the example installed, built from a copy: a build leaves its litter beside the source."""
    place = tmp_path_factory.mktemp("example")
    shutil.copytree(EXAMPLE, place / "source", ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    install = ["install", "--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", *install, "--target", str(place / "site"), str(place / "source")],
        check=True,
        cwd=place,
    )
    return place / "site"


def declare(place, name, version, groups):
    """Write what pip would of a package with members."""
    information = place / f"{name.replace('-', '_')}-{version}.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [line for group, own in groups.items() for line in (f"[{group}]", *(f"{key} = {own[key]}" for key in own))]
    (information / "entry_points.txt").write_text("\n".join(lines))


def copied_site(place):
    """A directory with the example as pip would leave it, without the build."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    declare(place, project["name"], project["version"], project["entry-points"])
    shutil.copy(EXAMPLE / "ldp_advise_example.py", place)
    return place


def broken_site(place, code, group="metrics", name="broken"):
    """A directory with a package whose one member does not work."""
    declare(place, "broken-members", "0.5", {f"ldp_advise.{group}": {name: "broken_members:MEMBER"}})
    (place / "broken_members.py").write_text(code)
    return place


def run(*arguments, sites=(), strict=True):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LDP_ADVISE_", "PYTHON"))}
    environment["PYTHONPATH"] = os.pathsep.join(str(site) for site in (ROOT, *sites))
    flags = ["-W", "error"] if strict else []
    return subprocess.run(
        [sys.executable, *flags, *arguments], capture_output=True, text=True, env=environment, check=False, timeout=120
    )


def test_the_menu_lists_the_example_beside_a_broken_package_that_costs_one_line(tmp_path):
    broken = broken_site(tmp_path / "broken", "print('imported')\nraise RuntimeError('no')")
    places = copied_site(tmp_path / "example"), broken
    done = run("-m", "advisor", "list", "--format", "json", sites=places, strict=False)
    assert done.returncode == 0
    menu = json.loads(done.stdout)
    last = [menu[kind][-1] for kind in ("protocols", "methods", "metrics")]
    assert [member["name"] for member in last] == ["sampled_bit", "james_stein", "max_error"]
    assert last[0]["reference"] == "Warner, J. Amer. Statist. Assoc. 1965"
    assert last[2]["unit"] == "frequency"
    printed, line = done.stderr.splitlines()
    assert printed == "imported"  # which is not in the answer
    assert "broken-members 0.5: entry point 'broken' of ldp_advise.metrics is left out: RuntimeError: no" in line


@pytest.mark.slow
def test_the_example_is_ranked_beside_a_broken_package(tmp_path, site):
    place = broken_site(tmp_path, "raise RuntimeError('no')")
    ours = ["--metric", "max-error", "--protocol", "SampledBit", "--protocol", "grr", "--method", "James-Stein"]
    arguments = ["-e", "1", *ours, "--max-reps", "20", "--format", "json", "--quiet", str(STATES)]
    done = run("-m", "advisor", *arguments, sites=(place, site), strict=False)
    assert done.returncode == 0
    assert len(done.stderr.splitlines()) == 1
    answer = json.loads(done.stdout)
    assert answer["request"]["metric"] == "max_error"
    pairs = {(row["protocol"], row["method"]): row for row in answer["recommendations"]}
    assert set(pairs) == {("sampled_bit", "james_stein"), ("grr", "james_stein")}
    assert pairs["sampled_bit", "james_stein"]["report_bits"] == 7  # one of 51 states, and a bit
    assert all(0 < row["error"] < 1 for row in pairs.values())


def test_the_example_conforms(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLE)
    example = importlib.import_module("ldp_advise_example")
    check_protocol(example.SampledBit)
    check_postprocessor(example.JAMES_STEIN)
    check_metric(example.MAX_ERROR)


@pytest.mark.slow
def test_a_package_may_ask_for_the_tables_while_it_is_being_imported(tmp_path):
    code = (
        "from simulator import METRICS, Metric\n"
        "assert 'broken' not in METRICS\n"
        "MEMBER = Metric('broken', 'Twice the l1', lambda e, t: 2 * METRICS['l1'](e, t), unit='frequency')\n"
    )
    place = broken_site(tmp_path, code)
    for first in ("broken_members", "simulator"):
        script = f"import {first}\nimport simulator, broken_members\n"
        script += "assert simulator.METRICS['broken'] is broken_members.MEMBER\n"
        done = run("-c", script, sites=(place,))
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_without_other_packages_nothing_is_loaded_before_a_table_is_asked_for():
    script = (
        "import sys, simulator\n"
        "assert not {'simulator.plugins', 'importlib.metadata'} & set(sys.modules)\n"
        "before = set(sys.modules)\n"
        "from simulator import METRICS, POSTPROCESSORS, PROTOCOLS\n"
        "import simulator.metrics\n"
        "assert METRICS is simulator.metrics.METRICS is simulator.METRICS\n"
        "heavy = {'pandas', 'scipy', 'sklearn', 'rich', 'typer', 'setuptools', 'pkg_resources'}\n"
        "assert not heavy & {name.partition('.')[0] for name in set(sys.modules) - before}\n"
    )
    done = run("-c", script)
    assert (done.returncode, done.stderr) == (0, "")


BROKEN = {
    "raise RuntimeError('first line\\nsecond line')": "RuntimeError: first line second line",
    "import a_module_that_is_missing": "ModuleNotFoundError: No module named 'a_module_that_is_missing'",
    "raise SystemExit(3)": "SystemExit: 3",
    "def oops(:": "SyntaxError: ",
    "": "AttributeError: module 'broken_members' has no attribute 'MEMBER'",
    "MEMBER = 42": "broken_members:MEMBER is a int, not a Metric",
}


def refusal(place, monkeypatch):
    """The line that says why the member of a broken package is left out; no table is touched."""
    (entry,) = PathDistribution(place / "broken_members-0.5.dist-info").entry_points
    found = tables()
    with monkeypatch.context() as patch:
        patch.syspath_prepend(place)
        patch.delitem(sys.modules, "broken_members", raising=False)
        complete, (line,) = plugins.take_in([entry], found, set())
    assert complete
    assert found == tables()
    return line


@over(BROKEN)
def test_a_broken_package_costs_one_line_and_nothing_else(code, *, tmp_path, monkeypatch):
    line = refusal(broken_site(tmp_path / str(list(BROKEN).index(code)), code), monkeypatch)
    assert "\n" not in line
    assert "broken-members 0.5: entry point 'broken' of ldp_advise.metrics is left out: " in line
    assert BROKEN[code] in line


GROUP_OF = {table: group for group, table in plugins.GROUPS.items()}


class Unfinished(FrequencyOracle):
    key = "unfinished"
    title = reference = "an abstract class"


class Another(OUE):
    key = "another"


class WithoutFigures(OUE):
    key = "without_figures"

    @property
    def report_bits(self):
        return 1 / 0


class WithoutATitle(OUE):
    key = "without_a_title"
    title = None


@pytest.fixture
def members(monkeypatch):
    """A module whose attributes entry points can name."""
    module = ModuleType("members_of_a_test")
    for kind in (Another, Unfinished, WithoutATitle, WithoutFigures):
        setattr(module, kind.key, kind)
    module.instance = OUE(4, 1.0)
    module.coloured = Metric("coloured", "\x1b[31mred", mse, unit="frequency²")
    for name in ("new", "all", "Capital", "two__words", "_x", "x-y", "l1", "oue", "norm_sub", "normsub", "power"):
        setattr(module, "m_" + name.replace("-", "_"), Metric(name, "a metric", mse, unit="frequency²"))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def entry(name, attribute, table="METRICS"):
    return EntryPoint(name, f"members_of_a_test:{attribute}", GROUP_OF[table])


def tables():
    return {name: dict(table) for name, table in plugins.TABLES.items()}


NO_NAMES = ("all", "posterior_mean", "posterior_median", "Capital", "two__words", "_x", "x-y")
TAKEN = ("l1", "oue", "norm_sub", "normsub", "power")
REFUSED = [
    *((name, f"m_{name.replace('-', '_')}", "METRICS", "lower-case words joined by underscores") for name in NO_NAMES),
    *((name, f"m_{name}", "METRICS", f"the name {name} is taken by ") for name in TAKEN),
    ("new", "another", "METRICS", "is a class, not a Metric"),
    ("new", "m_new", "POSTPROCESSORS", "is a Metric, not a PostProcessor"),
    ("new", "m_new", "PROTOCOLS", "is a Metric, not a subclass of FrequencyOracle"),
    ("instance", "instance", "PROTOCOLS", "is a OUE, not a subclass of FrequencyOracle"),
    ("unfinished", "unfinished", "PROTOCOLS", "is an abstract class, not a subclass of FrequencyOracle that defines"),
    ("without_a_title", "without_a_title", "PROTOCOLS", "not one with the texts key, title and reference"),
    ("without_figures", "without_figures", "PROTOCOLS", "ZeroDivisionError: division by zero"),
    ("newer", "m_new", "METRICS", "calls itself 'new', and the entry point must be called the same"),
    ("other", "another", "PROTOCOLS", "calls itself 'another'"),
    ("coloured", "coloured", "METRICS", "its title has characters that cannot be printed"),
    ("new", "missing", "METRICS", "AttributeError: "),
]


@pytest.mark.usefixtures("members")
@over(REFUSED)
def test_names_that_are_none_or_taken_and_the_wrong_kind_are_refused(name, attribute, table, reason):
    found = tables()
    complete, (line,) = plugins.take_in([entry(name, attribute, table)], found, set())
    assert complete
    assert line.startswith(f"a package without a name: entry point {name!r} of {GROUP_OF[table]} is left out: ")
    assert reason in line
    assert found == tables()


def test_what_is_right_is_taken_once_and_of_two_with_one_name_the_first(members):
    found, settled = tables(), set()
    entries = [entry("new", "m_new"), entry("another", "another", "PROTOCOLS")]
    assert plugins.take_in(entries, found, settled) == (True, [])
    assert plugins.take_in(entries, found, settled) == (True, [])  # and does not clash with itself
    assert found["METRICS"]["new"] is members.m_new
    assert found["PROTOCOLS"]["another"] is Another
    assert [len(found[name]) - len(table) for name, table in plugins.TABLES.items()] == [1, 0, 1]
    members.other = Metric("new", "another", mse, unit="frequency²")
    _, (line,) = plugins.take_in([entry("new", "other")], found, set())
    assert found["METRICS"]["new"] is members.m_new
    assert "'new' of ldp_advise.metrics is left out: the name new is taken by 'new'" in line


def test_a_reason_is_one_line_of_bounded_length(tmp_path, monkeypatch):
    line = refusal(broken_site(tmp_path, "raise ValueError('long\\n' * 1000)"), monkeypatch)
    reason = "ValueError: long long"
    assert line.startswith(f"broken-members 0.5: entry point 'broken' of ldp_advise.metrics is left out: {reason}")
    assert line.endswith("…")
    assert len(line) < 400
    with pytest.warns(plugins.PluginWarning, match="broken-members 0.5") as caught:
        plugins.warn(line)
    assert (
        warnings.formatwarning(caught[0].message, caught[0].category, caught[0].filename, caught[0].lineno)
        == f"ldp_advise:0: PluginWarning: {line}\n"
    )


def test_the_built_in_tables_are_what_simulator_shows():
    assert plugins.TABLES == {"PROTOCOLS": PROTOCOLS, "POSTPROCESSORS": POSTPROCESSORS, "METRICS": METRICS}
    assert issubclass(plugins.PluginWarning, UserWarning)
