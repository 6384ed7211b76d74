import json
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from advisor.cli.app import BLAS_THREADS, main
from tests.cells import failures

COMMAND = [sys.executable, "-W", "error", "-m", "advisor"]
QUICK = ["--reps", "4", "--max-reps", "4", "-e", "1"]


def done(*words, **more):
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
    return subprocess.run([*COMMAND, *words], text=True, check=False, **more)


def python(script, **more):
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, **more)


@pytest.mark.slow
def test_standard_input_is_read_from_a_pipe():
    assert json.loads(done(*QUICK, "-q", "--format", "json", "-", input="a\nb\na\nc\n").stdout)["request"]["n"] == 4


@pytest.mark.slow
def test_a_terminal_that_cannot_show_greek_letters_gets_no_traceback(states):
    shown = done(*QUICK, states, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert shown.returncode == 0
    assert "? = 1" in shown.stdout


def test_a_process_imports_nothing_heavy_takes_one_thread_and_ends_with_the_exit_code(states):
    script = (
        "import os, sys; from advisor.cli.app import main; assert 'numpy' not in sys.modules\n"
        "names = {'pandas', 'scipy.stats', 'sklearn', 'pyarrow', 'joblib'}\n"
        "def heavy(*others): print(sorted({*names, *others} & set(sys.modules)))\n"
        "main(['--eps', '1', '--k', '64', '-q', '--why', '-p', 'oue,grr']); heavy('matplotlib')\n"
        f"main({[*QUICK, '-q', '-p', 'grr', '--method', 'norm_sub', '--format', 'value', states]!r}); heavy()\n"
        "print(os.environ['OPENBLAS_NUM_THREADS'], flush=True)\n"
        "sys.argv[1:] = ['--eps', '0', '--k', '16']; import runpy; runpy.run_module('advisor', run_name='__main__')"
    )
    clean = {name: value for name, value in os.environ.items() if name not in BLAS_THREADS}
    process = python(script, env=clean)
    lines = process.stdout.splitlines()
    assert lines.count("[]") == 2, lines
    assert lines[-1] == "1"  # nothing of what is refused
    assert (process.returncode, "eps must be" in process.stderr) == (2, True)


def test_shell_completion(capsys, monkeypatch):
    def completed(cell):
        words, current, expected = cell
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(current))
        with pytest.raises(SystemExit, match=r"^0$"):
            main([])
        assert expected in capsys.readouterr().out.split()

    monkeypatch.setenv("_LDP_ADVISE_COMPLETE", "complete_bash")
    cells = [
        ("ldp-advise --met", 1, "--metric"),
        ("ldp-advise li", 1, "list"),
        ("ldp-advise explain --fo", 2, "--format"),
    ]
    assert failures(cells, completed) == {}


def test_a_broken_off_run_leaves_no_file(states, tmp_path):
    target = tmp_path / "advice.json"
    process = subprocess.Popen(
        [*COMMAND, "-e", "1", "--reps", "100000", "--max-reps", "100000", "-o", str(target), states],
        stderr=subprocess.PIPE,
    )
    process.stderr.readline()  # the notice: the simulation begins
    process.send_signal(2)
    errors = process.stderr.read()
    process.stderr.close()
    # A shell says 130 for both. Python 3.11 ends itself by the signal, even where the interrupt was handled, if it came
    # while a string was executed, as in the making of a data class when a module is imported.
    assert process.wait() in (130, -2)
    assert errors.endswith(b"ldp-advise: interrupted\n")
    # Python, told to make warnings errors, tells of the file it was reading a module from, if the interrupt came then.
    file = rb"<_io\.[^>]*\.pyc?'[^>]*>\n"
    own = re.sub(
        rb"Exception ignored in: " + file + rb"(?s:Traceback.*?)?ResourceWarning: unclosed file " + file, b"", errors
    )
    assert b"Traceback" not in own
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fruit.csv"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_told_in_one_line_and_a_full_standard_error_keeps_no_answer(states):
    with Path("/dev/full").open("w") as full:
        for line in ("--eps 1 --k 16", "--eps 1 --k 16 --format json", "--help", "--eps 0 --format json"):
            told = done(*line.split(), stdout=full)
            assert told.stderr == "ldp-advise: error: cannot write the answer: No space left on device\n"
            assert told.returncode == 2
        assert done("--eps", "1", "--k", "16", stdout=full, stderr=full).returncode == 2
        answered = done(*QUICK, states, stderr=full)
    assert answered.returncode == 0
    assert answered.stdout.startswith(("Use: ", "Tied: "))


def unread(*words):
    """Run the command for a reader that has gone away, and return its exit code and standard error."""
    reading, writing = os.pipe()
    os.close(reading)
    process = done(*words, stdout=writing)
    os.close(writing)
    return process.returncode, process.stderr


def test_a_reader_that_goes_away_leaves_success():
    assert unread("epsilon", "--eps", "1", "--format", "csv", "-q") == (0, "")


def typed(arguments, keys, **environment):
    control, terminal = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=terminal,
        env={**os.environ, **environment},
    )
    os.close(terminal)
    screen = b""
    while b"Ctrl-D" not in screen:  # it reads now
        screen += os.read(control, 65536)
    os.write(control, keys)
    out, _ = process.communicate(timeout=60)
    with suppress(OSError):
        while block := os.read(control, 65536):
            screen += block
    os.close(control)
    return process.returncode, out, screen


@pytest.mark.slow
def test_what_is_typed_ends_with_one_end_of_file_and_no_spinner_hides_it():
    code, out, screen = typed([*QUICK, "--format", "json", "-"], b"a\nb\na\nc\n\x04", TERM="xterm")
    assert code == 0, screen
    assert json.loads(out)["request"]["n"] == 4
    assert b"reading the sample" not in screen
    assert b"\x1b" not in screen.rpartition(b"c\r\n")[0]


@pytest.mark.slow
@pytest.mark.parametrize("module", ["typer", "numpy", "advisor.cli.ranking", "knowledge.model"])
def test_an_interrupt_while_modules_are_imported_leaves_no_traceback(module):
    interrupted = python(
        "import os, signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from advisor.cli.app import main\n"
        "sys.exit(main(['--eps', '1', '--k', '16']))"
    )
    assert interrupted.returncode in (130, -2)
    assert interrupted.stdout == ""
    assert "Traceback" not in interrupted.stderr


@pytest.mark.slow
def test_closed_streams_are_no_crash_and_closed_standard_input_is_said():
    for words in ("--k 16 >&- 2>&- <&-", "--k 16 <&-", "--k 16 2>&-", "--k 16 --format json >&-", "- <&-"):
        line = f"{sys.executable} -m advisor --eps 1 {words}"
        closed = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
        said = "ldp-advise: error: standard input: is closed" if words == "- <&-" else ""
        assert closed.returncode == (2 if said else 0), words
        assert closed.stderr[: len(said) or None] == said, words
    assert closed.stdout == ""


@pytest.mark.slow
def test_a_file_name_that_is_no_utf_8_is_read_and_written(tmp_path):
    source, target, runs = (tmp_path / os.fsdecode(b"caf\xe9" + end) for end in (b".csv", b".out", b".runs.csv"))
    source.write_text("a\nb\na\nc\n", encoding="utf-8")
    words = (*QUICK, "-p", "grr", "--method", "norm_sub", str(source), "--format")
    for form in ("table", "csv", "html"):
        shown = done(*words, form)
        assert shown.returncode == 0, shown.stderr
        assert shown.stdout  # UTF-8, whatever the names
    assert done(*words, "csv", "-o", str(target), "--runs", str(runs)).returncode == 0
    assert target.read_text(encoding="utf-8")
    assert runs.stat().st_size
