import ast
import csv
import io
import json
import math
import random
import shutil
import subprocess
import sys
from importlib.resources import files
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from advisor.errors import InputError
from advisor.extensions.code import reports
from advisor.extensions.code.answer import files_of
from advisor.extensions.code.collection import FOLDERS, HASHED, CodedCollection, client_file, rendered
from advisor.extensions.code.parameters import parameters
from advisor.extensions.code.reports import counted, module_of, vectors
from advisor.inputs.reports.settings import READABLE
from advisor.question.settings import Cells
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.audit import audit_client
from simulator.channels import PLANAR
from simulator.domain import ORDERED
from simulator.hashing import HASHES
from simulator.methods import observe
from simulator.protocols.local_hashing import LocalHashing
from tests.advisor.client_laws import law_of, surprise
from tests.advisor.inputs.reading import read_reports
from tests.cells import failures, over

FALSE_ALARM = 1e-6  # of each test of a law
DRAWS = 10_000
BROWSER_CHECK = rendered("check.mjs")
FILES = Path(str(files("advisor.extensions.code"))) / "templates"
NODE = shutil.which("node")
EVERY = [(key, hashing) for key in PROTOCOLS for hashing in (HASHES if key in HASHED else ["mix64"])]
# Small domains, so that all reports can be told apart; for pgr fields of a prime, and of 4 and 8 elements.
LAW_SETTINGS = [
    *((key, 4, 1.0) for key in PROTOCOLS if key not in ("tree", "tree_half", "she")),
    ("tree", 5, 1.0),
    ("tree_half", 5, 0.2),
    ("she", 2, 1.0),
    ("hr", 9, 2.0),
    ("ss", 6, 0.5),
    ("pgr", 10, 1.0),
    ("haar_hrr", 6, 1.0),
]
LARGER_SETTINGS = [("tree", 12, 0.1), ("pgr", 20, 1.3), ("pgr", 70, 2.0), ("sw", 9, 0.5)]


def any_method(key):
    return "em_stopped" if key == "sw" else "none"


def made(key, k, epsilon, hashing="mix64", labels=None):
    return CodedCollection(key, any_method(key), k, epsilon, labels, hashing)


def client_of(collection):
    return module_of(client_file(collection))


def seeded(seed):
    return random.Random(seed).randbytes  # noqa: S311 - tests have to be repeatable


def by_node(folder, script, **texts):
    folder.mkdir(exist_ok=True)
    for name, text in (texts | {"script": script}).items():
        (folder / f"{name}.mjs").write_text(text, encoding="utf-8")
    return subprocess.run([str(NODE), "script.mjs"], cwd=folder, capture_output=True, text=True, check=False)


def checked_by_node(folder, sources):
    """Let one process check clients in JavaScript, as ``node check.mjs`` does each: sources by their collections."""
    for number, (collection, source) in enumerate(sources.items()):
        place = folder / str(number)
        place.mkdir()
        for name, text in (
            ("test_vectors.json", vectors(collection)),
            ("check.mjs", BROWSER_CHECK),
            ("client.mjs", source),
        ):
            (place / name).write_text(text, encoding="utf-8")
    return by_node(folder, "".join(f'await import("./{number}/check.mjs");\n' for number in range(len(sources))))


def makes_the_same_lines(folder, collections):
    done = checked_by_node(folder, {one: client_file(one, "client.mjs") for one in collections})
    assert (done.returncode, done.stderr) == (0, "")
    known = [json.loads((folder / str(number) / "test_vectors.json").read_text()) for number in range(len(collections))]
    said = [f"client.mjs makes the {len(each['vectors'])} reports of test_vectors.json" for each in known]
    assert done.stdout.splitlines() == said


def draws(client, key, value, seed=1):
    entropy = seeded(seed)
    reports = [client.randomised(value, entropy) for _ in range(DRAWS)]
    return [tuple(report) if isinstance(report, list) else report for report in reports] if key != "olh" else reports


@pytest.mark.parametrize(
    ("key", "k", "epsilon"),
    [
        *(each for each in LAW_SETTINGS if each[0] not in ("blh", "olh", "she")),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in LARGER_SETTINGS),
    ],
)
def test_reports_have_the_law_of_the_protocol(key, k, epsilon):
    """False alarm: 1e-6 for each of 44 tests."""
    client = client_of(made(key, k, epsilon))
    for value in (k // 3, k - 1) if k < 6 else (k - 1,):
        assert surprise(draws(client, key, value), law_of(key, k, epsilon, value)) > FALSE_ALARM


@pytest.mark.parametrize(("key", "hashing"), [each for each in EVERY if each[0] in ("blh", "olh")])
def test_symbols_of_hashes_have_the_law_of_randomised_response(key, hashing):
    """Under each seed the symbol is that of the value with probability p; seeds are even in their highest bits."""
    k, epsilon, value = 9, 1.5, 8
    client, protocol = client_of(made(key, k, epsilon, hashing)), PROTOCOLS[key](k, epsilon)
    assert isinstance(protocol, LocalHashing)
    entropy = seeded(2)
    pairs = np.array([client.randomised(value, entropy) for _ in range(DRAWS)])
    own = HASHES[hashing](np.array([value]), pairs[:, 1:], protocol.g)[:, 0]
    turned = (pairs[:, 0] - own) % protocol.g
    rest = (1 - protocol.p) / (protocol.g - 1)
    law = {turn: protocol.p if turn == 0 else rest for turn in range(protocol.g)}
    assert surprise(turned.tolist(), law) > FALSE_ALARM
    assert surprise((pairs[:, 1] >> 28).tolist(), dict.fromkeys(range(16), 1 / 16)) > FALSE_ALARM


@pytest.mark.parametrize("epsilon", [0.002, 20.0, pytest.param(1.0, marks=pytest.mark.slow)])
def test_noise_of_cells_has_the_discrete_laplace_law(epsilon):
    client = client_of(made("she", 2, epsilon))
    entropy = seeded(3)
    noise = np.array([client.noise(entropy) for _ in range(DRAWS)])
    # In bins of 1/8 of the scale, by the sum of the geometric series: r^|z| (1 - r) / (1 + r).
    rate = client.RATE / client.UNIT
    width, reach = max(1, round(1 / (8 * rate))), 40
    bins = np.clip(np.floor_divide(noise, width), -reach, reach)

    def below(z):  # probability of less than z
        return (
            math.exp(rate * (z - 1)) / (1 + math.exp(-rate))
            if z <= 0
            else 1 - math.exp(-rate * z) / (1 + math.exp(-rate))
        )

    edges = [0.0, *(below(z * width) for z in range(-reach + 1, reach + 1)), 1.0]
    law = {at: edges[at + reach + 1] - edges[at + reach] for at in range(-reach, reach + 1)}
    assert surprise(bins.tolist(), law) > FALSE_ALARM
    own = np.array([client.randomised(1, entropy) for _ in range(DRAWS)])
    sd = math.sqrt(2) / rate
    # The mean of 20,000 cells is off by five standard errors once in 1.7 million.
    assert abs(own[:, 1].mean() - client.GRID) < 5 * sd / math.sqrt(DRAWS)
    assert abs(own[:, 0].mean()) < 5 * sd / math.sqrt(DRAWS)


FAULTS = {
    "grr": ("if chance(OWN, entropy):", "if chance(OWN + OWN // 10, entropy):"),
    "oue": (
        "chance(OWN if v == value else OTHER, entropy)",
        "chance(OWN if v == value else OTHER - OTHER // 8, entropy)",
    ),
    "ss": ("if chance(OWN, entropy):", "if chance(OWN + OWN // 10, entropy):"),
    "hr": ("column ^= row & -row", "column ^= 1"),
    "pgr": ("times(coordinate, factor)", "coordinate"),
    "sw": ("value + below(WIDTH, entropy)", "value + below(WIDTH - 1, entropy)"),
    "tree": ("below(len(NODES), entropy)", "below(len(NODES), entropy) // 2"),
    "haar_hrr": ("value >> at & 1", "value & 1"),
}


@pytest.mark.parametrize("key", FAULTS)
def test_a_client_with_a_fault_is_found(key):
    right, wrong = FAULTS[key]
    k, epsilon = (20, 1.3) if key == "pgr" else (9, 1.0)
    source = client_file(made(key, k, epsilon))
    assert source.count(right) == 1
    client = module_of(source.replace(right, wrong))
    law, value = law_of(key, k, epsilon, 7), 7
    seen = draws(client, key, value)
    assert not set(seen) <= law.keys() or surprise(seen, law) < FALSE_ALARM


@pytest.mark.parametrize(("key", "hashing"), EVERY)
def test_the_audit_takes_a_client_as_it_is_and_finds_no_more_than_is_promised(key, hashing):
    """False alarm: 1e-4 for each of 16 audits; the randomness is the system's, as on a device."""
    client = client_of(made(key, 9, 2.0, hashing))
    found = audit_client(client.audited, 9, 2.0, key, trials=1_200, alpha=1e-4, hash=hashing)
    assert 0 < found.epsilon_lower_bound <= 2.0


def test_the_audit_finds_a_client_that_spends_more():
    source = client_file(made("grr", 9, 2.0)).replace("if chance(OWN, entropy):", "if chance(2**64 - 2**58, entropy):")
    found = audit_client(module_of(source).audited, 9, 2.0, "grr", trials=1_000, alpha=1e-4)
    assert found.epsilon_lower_bound > 2.0


def test_a_client_is_for_one_setting():
    client = client_of(made("grr", 9, 0.1))
    assert client.audited(3, 9, 0.1) in range(9)
    for k, epsilon in ((9, 1.0), (8, 0.1)):
        with pytest.raises(ValueError, match=r"k = 9 and epsilon = 0\.1"):
            client.audited(3, k, epsilon)


@pytest.mark.parametrize(("key", "hashing"), [each for each in EVERY if PROTOCOLS[each[0]].report_kind in READABLE])
def test_lines_are_read_as_reports(key, hashing, tmp_path):
    k, epsilon = 40, 1.0
    client, protocol = client_of(made(key, k, epsilon, hashing)), PROTOCOLS[key](k, epsilon)
    entropy = seeded(4)
    native = [client.randomised(value % k, entropy) for value in range(200)]
    path = tmp_path / "reports.csv"
    path.write_text("".join(f"{client.line(report)}\n" for report in native))
    hashed = {"hash": hashing} if isinstance(protocol, LocalHashing) else {}
    steps = parameters(key, k, epsilon).whole("GRID") if key == "she" else None
    read = read_reports(str(path), key, epsilon, k=k, header=False, steps=steps, **hashed)
    rows = np.array(native) if steps is None else np.array(native) / steps
    if isinstance(protocol, LocalHashing):
        protocol, rows = type(protocol)(k, epsilon, hash=hashing), rows[:, ::-1]
    expected = protocol.tally(rows)
    assert read.tally.n == expected.n == 200
    np.testing.assert_allclose(read.tally.counts, expected.counts, rtol=0, atol=0 if steps is None else 1e-9)
    assert read.plausible


EXAMPLES = {
    "planar_geometric": Cells(grid="2x2", distance="manhattan", radius=1024.0),
    "planar_laplace": Cells(grid="2x2", distance="manhattan", radius=1.0),
}


@pytest.fixture
def templates(monkeypatch):
    """The clients of all protocols as they lie in this package; what they share is imported from beside them."""
    monkeypatch.syspath_prepend(str(FILES))
    before = set(sys.modules)
    yield sorted(FILES.glob("*/client.py"))
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_templates_run_as_they_are_and_are_clients_of_a_setting(templates):
    """Their own functions are what is written, and their constants those of the protocol and setting they name."""
    assert {path.parent.name for path in templates} == {FOLDERS.get(key, key) for key in (*PROTOCOLS, *PLANAR)}

    def check(path):
        source = path.read_text(encoding="utf-8")
        template = module_of(source)
        key = {"bits": "oue", "hashing": "olh"}.get(path.parent.name, path.parent.name)
        collection = CodedCollection(key, any_method(key), template.K, 1.0, cells=EXAMPLES.get(key, Cells()))
        written = client_of(collection)
        constants = {each.name: each.value for each in collection.parameters.constants}
        assert {name: getattr(template, name) for name in constants} == {
            name: list(value) if isinstance(value, tuple) else value for name, value in constants.items()
        }
        for seed in range(50):
            report = template.randomised(seed % template.K, seeded(seed))
            assert template.line(report) == written.report(seed % template.K, seeded(seed))

    assert failures(templates, check) == {}


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_templates_in_javascript_run_as_they_are_and_make_the_same_lines(tmp_path, templates):
    names = [path.parent.name for path in templates]
    known_bytes = BROWSER_CHECK[BROWSER_CHECK.index("const knownBytes") : BROWSER_CHECK.index("const known =")]
    imports = "".join(f'import * as {name} from "{(FILES / name / "client.mjs").as_uri()}";\n' for name in names)
    lines = "seeds.map((seed) => one.line(one.randomised(seed % 2, knownBytes(seed))))"
    shown = f"console.log(JSON.stringify([{', '.join(names)}].map((one) => {lines})));\n"
    done = by_node(tmp_path, f"{imports}{known_bytes}const seeds = [...Array(50).keys()];\n{shown}")
    assert done.stderr == ""
    check = module_of(rendered("check.py"))
    for path, of_browser in zip(templates, json.loads(done.stdout), strict=True):
        client = module_of(path.read_text(encoding="utf-8"))
        here = [client.line(client.randomised(seed % 2, check.known_bytes(seed))) for seed in range(50)]
        assert of_browser == here, path


def replies(*parts):
    """Return a source of these words; what is missing in front of 8 bytes are zeros."""
    words = iter(parts)
    return lambda count: next(words).rjust(count, b"\0")


def test_what_would_favour_small_numbers_is_drawn_again():
    client = client_of(made("grr", 4, 1.0))
    assert client.below(3, replies(b"\xff" * 8, b"\x05")) == 2  # 2^64 is 1 modulo 3: the last word is one too many
    assert client.below(3, replies(b"\xff" * 7 + b"\xfe")) == 2
    assert client.below(4, replies(b"\xff" * 8)) == 3
    assert client.chance(7, replies(b"\x06"))
    assert not client.chance(7, replies(b"\x07"))


@over(EVERY)
def test_python_clients_need_nothing_but_secrets_and_no_floating_point(key, hashing):
    for k in (5, 20, 40):
        tree = ast.parse(client_file(made(key, k, 1.3, hashing)))
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        assert [ast.unparse(node) for node in imports] == ["import secrets"]
        # The budget is a figure to compare with, and the audit looks at cells as numbers: no report depends on
        # these.
        body = [node for node in tree.body if "EPSILON" not in ast.unparse(node).partition("\n")[0]]
        body = [node for node in body if getattr(node, "name", "") != "audited"]
        for node in (each for statement in body for each in ast.walk(statement)):
            assert not (isinstance(node, ast.Constant) and isinstance(node.value, float))
            assert not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div))
            assert not (isinstance(node, ast.Name) and node.id in ("float", "round"))


@over(EVERY)
def test_browser_clients_need_nothing_and_no_other_randomness(key, hashing):
    source = client_file(made(key, 40, 1.3, hashing), "client.mjs")
    for word in ("import", "require", "Math.random", "Math.exp", "Math.log", "Date", "performance"):
        assert word not in source
    assert source.count("crypto.getRandomValues(") == 1


@pytest.mark.slow
@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_both_languages_make_the_same_lines_from_the_same_bytes(tmp_path):
    settings = product(EVERY, [(2, 1.0), (20, 1.3), (70, 0.5), (256, 5.5)])
    makes_the_same_lines(tmp_path, [made(key, k, epsilon, hashing) for (key, hashing), (k, epsilon) in settings])


JAVASCRIPT = """
import { below, chance, report } from "./client.mjs";
const replies = (...words) => (count) => {
  const bytes = new DataView(new ArrayBuffer(count));
  bytes.setBigUint64(0, words.shift());
  return new Uint8Array(bytes.buffer);
};
const refused = [4, -1, 1.5, "1", true, null, NaN].map((answer) => {
  try { report(answer); return "taken"; } catch (error) { return error.constructor.name; }
});
console.log(JSON.stringify([
  below(3, replies(2n ** 64n - 1n, 5n)), below(3, replies(2n ** 64n - 2n)), below(4, replies(2n ** 64n - 1n)),
  chance(7n, replies(6n)), chance(7n, replies(7n)), refused, typeof report(3),
]));
"""


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_browser_client_draws_again_too_and_refuses_what_is_no_answer(tmp_path):
    source = client_file(made("grr", 4, 1.0), "client.mjs")
    done = by_node(tmp_path, JAVASCRIPT, client=f"{source}\nexport {{ below, chance }};\n")
    assert json.loads(done.stdout) == [2, 2, 3, True, False, ["RangeError"] * 7, "string"]


def test_a_client_takes_labels_and_refuses_what_is_no_answer():
    labels = ("it's", 'a "quote"', "back\\slash", "ünïcödé ☃")
    collection = made("grr", 4, 8.0, labels=labels)
    client = client_of(collection)
    assert [client.number_of(label) for label in labels] == [0, 1, 2, 3]
    assert [each["answer"] for each in json.loads(vectors(collection))["vectors"][:4]] == list(labels)
    with pytest.raises(ValueError, match="one of the 4 labels"):
        client.report("it")
    for answer in (4, -1, 1.0, "1", True, None):
        with pytest.raises(ValueError, match="a whole number from 0 to 3"):
            client_of(made("grr", 4, 1.0)).report(answer)


def proper_method(key):
    return "em_stopped" if key == "sw" else "norm_sub"


SERVED = ((2, 1.0), (21, 1.3), (64, 0.5), (30, 4.0))


def reports_of(collection, users):
    client, rng = module_of(client_file(collection)), random.Random(0)  # noqa: S311 - tests have to be repeatable
    values = [int(collection.k * rng.random() ** 3) for _ in range(users)]
    return client, [client.randomised(value, rng.randbytes) for value in values]


def expected(collection, native):
    rows = np.array(native)
    if collection.protocol == "she":
        rows = rows / collection.parameters.whole("GRID")
    rows = rows[:, ::-1] if collection.protocol in HASHED else rows
    protocol = collection.parameters.protocol
    return POSTPROCESSORS[collection.method].apply(observe(protocol, protocol.tally(rows), ORDERED))


@pytest.mark.parametrize(("key", "hashing"), EVERY)
def test_frequencies_are_those_of_this_package(key, hashing, tmp_path, monkeypatch, capsys):
    path = tmp_path / "reports.csv"
    monkeypatch.setattr(sys, "argv", ["server.py", str(path)])

    def check(setting):
        k, epsilon = setting
        collection = CodedCollection(key, proper_method(key), k, epsilon, hash=hashing)
        client, native = reports_of(collection, 5 if k == 2 else 60)
        path.write_text("".join(f"{client.line(report)}\n" for report in native))
        module_of(files_of(collection)["server.py"])  # a script: it runs when it is read
        head, *rows = csv.reader(io.StringIO(capsys.readouterr().out))
        assert head == ["answer", "frequency"]
        assert [row[0] for row in rows] == [str(value) for value in range(k)]
        found = [float(row[1]) for row in rows]
        np.testing.assert_allclose(found, expected(collection, native), rtol=1e-12, atol=1e-12)

    assert failures(SERVED, check) == {}


# Nothing of these is a report of k = 16 values at epsilon = 1; for every protocol, nothing of STRANGE.
OF_KINDS = {PROTOCOLS[key](16, 1.0).report_kind: key for key in PROTOCOLS}.values()  # one of each kind of report
STRANGE = ["", "x", "-", "1e3", "٣", "0x1", ",", "9" * 400, "9" * 5_000, "nan", "\0", '"', "\x1f\x8b", "# 1", "1.5"]
WRONG = {
    "value": ["16", "-1", "1 2"],
    "bits": ["0" * 15, "0" * 17, "2" * 16],
    "subset": ["1,1,1,1", "1,2,3", "1,2,3,16"],
    "hash": ["0,4", "4294967296,0", "-1,0", "1"],
    "symbol": ["1000000", "-1", "1 2"],
    "cells": [",".join(["1"] * 15), ",".join(["99999999"] * 16), ",".join(["9" * 5_000] * 16), ",".join(["1.5"] * 16)],
    "node": ["0,1", "4,0", "3,2", "0," + "0" * 15, "9,0", "3"],
}


@over(OF_KINDS, slow=[key for key in PROTOCOLS if key not in OF_KINDS])
def test_lines_that_are_no_reports_are_left_out_and_counted(key, *, monkeypatch):
    collection = CodedCollection(key, proper_method(key), 16, 1.0)
    client, native = reports_of(collection, 20)
    lines = list(map(client.line, native))
    strangers = [*STRANGE, *WRONG[collection.parameters.protocol.report_kind]]
    mixed = [*strangers, *(f" {line}\r\n" for line in lines), *strangers]
    random.Random(1).shuffle(mixed)  # noqa: S311
    right = counted(collection, lines)[0].counts
    for some, size in ((mixed, 7), (sorted(mixed), 100_000)):
        monkeypatch.setattr(reports, "BLOCK", size)
        tally, wrong = counted(collection, some)
        assert (tally.n, wrong) == (20, 2 * len(strangers))
        np.testing.assert_array_equal(tally.counts, right)
    with pytest.raises(InputError, match="there are no reports"):
        counted(collection, strangers)


@pytest.mark.slow
def test_a_server_runs_as_a_program_and_names_the_answers(tmp_path):
    labels = ("Zürich, CH", 'a "quote"', "ok")
    collection = CodedCollection("grr", "norm_sub", 3, 2.0, labels)
    client, native = reports_of(collection, 200)
    (tmp_path / "server.py").write_text(files_of(collection)["server.py"], encoding="utf-8")
    (tmp_path / "reports.csv").write_text("".join(f"{client.line(each)}\n" for each in native) + "nonsense\n")
    command = [sys.executable, "server.py", "reports.csv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert done.stderr.decode() == "1 of 201 lines are no reports, and were left out\n"
    head, *rows = csv.reader(io.StringIO(done.stdout.decode()))
    assert head == ["answer", "frequency"]
    assert [row[0] for row in rows] == list(labels)
    np.testing.assert_allclose([float(row[1]) for row in rows], expected(collection, native), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [True, False])
def test_the_check_finds_another_client(fault, tmp_path):
    for name, text in files_of(CodedCollection("oue", "norm_sub", 8, 1.0)).items():
        wrong = fault and name == "client.py"
        (tmp_path / name).write_text(text.replace("OWN if v == value else OTHER", "OTHER") if wrong else text)
    done = subprocess.run([sys.executable, "check.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (not fault)
    assert "client.py: seed" in done.stderr if fault else "64 reports" in done.stdout
