"""Hostile command lines: nothing is lost, nothing gets in, and whatever is wrong is one line.

Each line is run in this process, in a folder with files that were made to break readers and writers. Whatever it is
about, it must keep the promises that `behaves` checks.
"""

import inspect
import os
import re
import sys
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import get_args

import pytest

from advisor.cli.groups import COMMANDS, MAIN, _function
from advisor.cli.options import spread
from tests.cells import failures

QUICK = ("--reps", "2", "--max-reps", "2", "-p", "grr", "--method", "norm_sub")
MAP = ("--eps", "1", "--grid", "4x4", "--columns", "row,col")
SWEEP = ("sweep", "--eps", "1", "--n", "100", "--k", "4", "-p", "grr", "--method", "none", "--reps", "2", "--jobs", "1")
STEERING = "\x1b]0;title\x07\x1b[2J\x9b31m\u202e"
STEERED, NO_UTF8 = f"st{STEERING}eer.csv", os.fsdecode(b"caf\xe9.csv")
PROGRAMMERS = re.compile(r"(Runtime|Deprecation|Future|User|Resource)Warning|Traceback|warnings\.warn")

FILES = {
    "good.csv": b"value,count\n" + b"".join(b"c%d,%d\n" % (at, 1000 // at) for at in range(1, 11)),
    "steering.csv": f"value,count\n{STEERING}a,50\nb{STEERING},30\nc,20\n".encode(),
    "steering_header.csv": f"{STEERING}value,count{STEERING}\na,50\nb,30\n".encode(),
    "markup.csv": b'value,count\n<script>alert(1)</script>,50\n$x^2$ & [bold]y[/],30\n"a,""b""|c",20\n',
    "empty.csv": b"",
    "blank.csv": b"\n\n\n",
    "header.csv": b"value,count\n",
    "one.csv": b"value\na\n",
    "quoted_blank.csv": b'" "\n',
    "quoted_nothing.csv": b'""\n""\n',
    "open_quote.csv": b'value,count\n"a,5\nb,6\n',
    "ragged.csv": b"value,count\na,5\nb,6,7\nc\n",
    "nul.csv": b"value,count\na\x00b,5\nc,6\n",
    "latin.csv": "value,count\ncafé,5\nthé,6\n".encode("latin-1"),
    "utf16.csv": "value,count\na,5\n".encode("utf-16"),
    "negative.csv": b"value,count\na,-5\nb,6\n",
    "percent.csv": b"value,count\na,50%\nb,50%\n",
    "huge.csv": b"value,count\na," + b"9" * 400 + b"\nb,6\n",
    "infinite.csv": b"value,count\na,inf\nb,1e999\n",
    "long.csv": b"value,count\n" + b"x" * 200_000 + b",5\nb,6\n",
    "deep.jsonl": b"[" * 5000,
    "uniq.txt": b"   1000 c1\n    500 c2\n    333 c3\n",
    "domain.txt": b"".join(b"c%d\n" % at for at in range(1, 13)),
    "estimate.csv": f"value,estimate\n{STEERING},0.5\nb,0.3\nc,0.25\n".encode(),
    "estimate_bad.csv": b"value,estimate\na,nan\nb,1e400\nc,x\n",
    "reports.csv": b"".join(b"%d\n" % (at % 4) for at in range(400)),
    "map.csv": b"row,col\n" + b"".join(b"%d,%d\n" % (at % 4, at % 3) for at in range(200)),
    "damaged.npy": b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (4",
    "client.py": b"def f(value, k, epsilon):\n    return value\n",
    "notes.txt": b"my notes, one line without a line end",
    "matplotlibrc": b"text.usetex: True\nno such key: \x1b[31m\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        Path(name).write_bytes(content)
    Path(STEERED).write_bytes(FILES["steering.csv"] + b'<script>alert(1)</script>,5\n"a,""b""|c $x^2$",20\n')
    Path(NO_UTF8).write_bytes(FILES["good.csv"])
    return tmp_path


def written(path):
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


@pytest.fixture
def behaves(run, folder):
    """Run a command line, check what all of them promise, and return exit code and both streams."""

    def check(*words, code=None, changes=()):
        before = {path: written(path) for path in folder.iterdir() if path.is_file()}
        result, out, err = run(*words)
        assert result in ((0, 2) if code is None else (code,)), err
        assert not PROGRAMMERS.search(out + err)
        assert all(mark.isprintable() or mark == "\n" for mark in err)
        assert all(mark.isprintable() or mark in "\n\t" for mark in out)
        errors = [line for line in err.splitlines() if line.startswith("ldp-advise: error:")]
        assert len(errors) == (1 if result == 2 else 0)
        if result == 2 and not any("json" in word for word in words):
            assert out == ""
        for path, state in before.items():
            assert path.name in changes or written(path) == state, f"{path.name} was written"
        assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]
        return result, out, err

    return check


@contextmanager
def clean(folder):
    before = set(folder.iterdir())
    yield
    for path in set(folder.iterdir()) - before:
        rmtree(path) if path.is_dir() else path.unlink()


ODDEST = ("blank.csv", "nul.csv", "utf16.csv", "infinite.csv", "long.csv", "deep.jsonl", "damaged.npy", STEERED)


NO_TABLES = ("ragged.csv", "open_quote.csv", "quoted_blank.csv", "negative.csv", "percent.csv")
EVERY = pytest.param((*FILES, STEERED, NO_UTF8), marks=pytest.mark.slow)


@pytest.mark.parametrize("everywhere", [ODDEST, EVERY], ids=["the oddest by all readers", "all by all"])
def test_whatever_is_in_a_file_it_is_answered_or_refused_in_a_line(behaves, everywhere):
    few = ("--reps", "2", "--method", "norm_sub")

    def read(name):
        code, _, err = behaves("--eps", "1", name, *QUICK, "-v")
        assert code == 2 or name not in NO_TABLES
        assert code == 2 or "warning:" in err or name != "uniq.txt"  # counts that stand in front are no labels
        if name not in everywhere:
            return
        behaves("--eps", "1", "good.csv", *QUICK, "--domain", name)
        behaves("estimate", name, "-p", "grr", "--eps", "1", "--n", "1000", *few)
        behaves("reports", name, "-p", "grr", "--eps", "1", "--k", "4", *few)
        behaves("places", name, *QUICK, *MAP)
        behaves("places", "map.csv", *QUICK, *MAP, "--privacy", "metric", "--radius", "1", "--channel", name)

    assert failures({*FILES, *everywhere} - {"matplotlibrc"}, read) == {}


def test_standard_input_is_read_like_a_file(behaves, monkeypatch):
    def read(content):
        Path("typed").write_text(content, encoding="utf-8")
        with Path("typed").open(encoding="utf-8") as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            behaves("--eps", "1", "-", *QUICK)

    assert failures(("a\nb\na\n", "", '" "\n', STEERING, "a\x00b\n"), read) == {}
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input: is closed" in behaves("--eps", "1", "-", *QUICK, code=2)[2]


STEERING_WORDS = [
    ("explain", STEERING),
    ("knowledge", STEERING),
    (STEERING,),
    ("--eps", "1", STEERING),
    (f"--{STEERING}", "1"),
    ("--eps", "1", "--k", "8", "-p", STEERING),
    ("--eps", "1", "good.csv", "--column", STEERING),
    ("audit", "--target", f"{STEERING}:f", "--reports", "grr", "--k", "4", "--eps", "1"),
    ("--eps", "1", "steering_header.csv", "--counts", "no such column"),
    ("--eps", "1", "steering_header.csv", *QUICK),
    ("--eps", "1", "--k", "8", "-o", f"{STEERING}/x.csv"),
    (*SWEEP, "--resume", f"{STEERING}/x"),
]


def test_what_was_typed_or_read_is_quoted_without_its_escapes(behaves):
    assert failures(STEERING_WORDS, lambda words: behaves(*words)) == {}


COMMAND_LINES = {
    MAIN: ("--eps", "1", "--k", "8"),
    "estimate": ("estimate", "estimate.csv", "-p", "grr", "--eps", "1", "--n", "100", "--reps", "2"),
    "reports": ("reports", "reports.csv", "-p", "grr", "--eps", "1", "--k", "4", "--reps", "2"),
    "columns": ("columns", "--eps", "1", "--k", "8", "--attributes", "2"),
    "rounds": ("rounds", "--eps", "1", "--k", "8", "--rounds", "2"),
    "shuffler": ("shuffler", "--central-eps", "1", "--delta", "1e-8", "--k", "8"),
    "fakes": ("fakes", "good.csv", *QUICK, "--eps", "1", "--threat", "0.1"),
    "places": ("places", "map.csv", *QUICK, *MAP),
    "plan": ("plan", "--target", "0.5", "--eps", "1", "--k", "8", "--instant"),
    "sweep": SWEEP,
    "pareto": ("pareto", "--eps", "1", "--k", "8"),
    "audit": ("audit", "--eps", "1", "-p", "grr", "--k", "4", "--trials", "100"),
    "choose": ("choose", "--n", "2000", "--k", "4", "--within", "1", "--sensitive", "low", "--times", "1"),
    "epsilon": ("epsilon", "--eps", "1", "--k", "8"),
    "list": ("list",),
    "explain": ("explain", "oue"),
    "code": ("code", "-p", "grr", "--method", "none", "--eps", "1", "--k", "4", "--to", "new"),
    "generate": ("generate", "--shape", "zipf", "--k", "8", "--n", "20"),
    "cite": ("cite", "oue"),
    "app": ("app", "--no-browser", "--port", "70000"),  # refused, as nothing here waits for a page to be closed
}


VALUES = ("", "9" * 400, "nan", f"-1{STEERING}½")


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["of each kind", "of all"])
def test_no_value_of_an_option_breaks_a_command(behaves, folder, every):
    assert set(COMMAND_LINES) == {MAIN, *COMMANDS} - {"knowledge"}
    # Every command with every option of it that takes a value, and its kind: the panel, and what a value is.
    options = {
        (command, str(note.default)): (note.rich_help_panel, note.metavar)
        for command in COMMAND_LINES
        for parameter in inspect.signature(spread(_function(command))).parameters.values()
        for note in get_args(parameter.annotation)[1:]
        if note.metavar is not None and str(note.default).startswith("-")
    }
    first = {kind: option for option, kind in reversed(options.items())}
    of_commands = {command: (command, flag) for command, flag in options}  # none is left out
    assert len(first) > 50
    assert len(options) > 100

    def check(cell):
        command, flag = cell
        words = COMMAND_LINES[command]
        if flag in words:  # given twice it would be refused for that
            at = words.index(flag)
            words = (*words[:at], *words[at + 2 :])
        with clean(folder):
            for value in VALUES if every else VALUES[1::2]:
                behaves(*words, f"{flag}={value}")

    assert failures(options if every else {*first.values(), *of_commands.values()}, check) == {}
