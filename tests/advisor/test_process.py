"""The command as a process of its own: terminals, pipes, imports, completion."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest

from advisor.cli.app import BLAS_THREADS, main
from tests.advisor.conftest import Run
from tests.cells import failures

COMMAND = [sys.executable, "-W", "error", "-m", "advisor"]
QUICK = ["--reps", "4", "--max-reps", "4", "-e", "1"]
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def slow(*cells: str) -> list[object]:
    """Return cells of a grid that the slow tests alone try: each is a process of its own."""
    return [pytest.param(cell, marks=pytest.mark.slow) for cell in cells]


def on_a_terminal(arguments: list[str], columns: int, **environment: str) -> str:
    """Run the command with standard output on a terminal of so many columns, and return what it drew."""
    control, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "TERM")}
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdout=terminal,
        stderr=subprocess.PIPE,
        env={**clean, "TERM": "xterm-256color", **environment},
    )
    os.close(terminal)
    drawn = b""
    while True:
        try:
            block = os.read(control, 65536)
        except OSError:  # Linux reports the closed terminal so
            break
        if not block:
            break
        drawn += block
    os.close(control)
    assert process.stderr is not None
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0, errors
    return drawn.decode()


@pytest.mark.slow
@pytest.mark.parametrize("columns", [45, 80, 200])
def test_no_line_is_wider_than_the_terminal_and_no_row_is_folded(states: str, columns: int) -> None:
    drawn = ESCAPE.sub("", on_a_terminal([*QUICK, "-q", states], columns))
    lines = [line.rstrip() for line in drawn.splitlines()]
    assert max(map(len, lines)) <= columns
    assert sum("◂ usual default" in line for line in lines) == (0 if columns < 60 else 1)
    assert any(re.search(r"oue +norm_sub +0\.\d+ ± 0\.\d+", line) for line in lines)


@pytest.mark.slow
def test_a_terminal_gets_colours() -> None:
    assert "\x1b[" in on_a_terminal(["--eps", "1", "--k", "16"], 120)


@pytest.mark.slow
def test_no_colours_where_they_are_not_wanted() -> None:
    asked = ["--eps", "1", "--k", "16"]
    without_colour = on_a_terminal(asked, 120, NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", without_colour)
    assert "\x1b" not in on_a_terminal(asked, 120, TERM="dumb")


@pytest.mark.slow
@pytest.mark.parametrize("size", ["0", "²"])
def test_a_terminal_is_as_wide_as_it_is_where_columns_is_no_width(size: str) -> None:
    drawn = on_a_terminal(["epsilon", "--eps", "1"], 70, COLUMNS=size, LINES=size)
    assert "From one report an attacker guesses" in drawn
    assert max(map(len, ESCAPE.sub("", drawn).splitlines())) <= 70


def test_output_that_is_no_terminal_is_plain_and_not_cut(run: Run, states: str) -> None:
    code, out, _ = run(*QUICK, "-p", "oue,grr", states)
    assert code == 0
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) > 100
    assert "◂ usual default" in out


def test_piped_output_is_as_wide_as_columns_says(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("--eps", "1", "--k", "16", "-p", "oue,grr", "--method", "norm_sub,none")
    for columns in (40, 80):
        monkeypatch.setenv("COLUMNS", str(columns))
        out = run(*asked)[1]
        assert max(map(len, out.splitlines())) <= columns
        assert "Not shown at this width: " in out
    for text in ("", "0", "wide", "-80", "²", "9" * 5000):
        monkeypatch.setenv("COLUMNS", text)
        assert "Not shown" not in run(*asked, "-q")[1]


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(states: str) -> None:
    process = subprocess.Popen(
        [*COMMAND, *QUICK, "-q", "--all", "--format", "csv", states], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    process.wait()
    assert errors == b""


@pytest.mark.slow
def test_standard_input_is_read_from_a_pipe() -> None:
    done = subprocess.run(
        [*COMMAND, *QUICK, "-q", "--format", "json", "-"],
        input="a\nb\na\nc\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["request"]["n"] == 4


@pytest.mark.slow
def test_a_terminal_that_cannot_show_greek_letters_gets_no_traceback(states: str) -> None:
    done = subprocess.run(
        [*COMMAND, *QUICK, states], capture_output=True, check=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert b"? = 1" in done.stdout


def test_a_process_imports_nothing_heavy_and_takes_one_thread_for_matrix_products(states: str) -> None:
    script = (
        "import os, sys; from advisor.cli.app import main; assert 'numpy' not in sys.modules\n"
        "names = {'pandas', 'scipy.stats', 'sklearn', 'pyarrow', 'joblib'}\n"
        "def heavy(*others): print(sorted({*names, *others} & set(sys.modules)))\n"
        "main(['--eps', '1', '--k', '64', '-q', '--why', '-p', 'oue,grr']); heavy('matplotlib')\n"
        f"main({[*QUICK, '-q', '-p', 'grr', '--method', 'norm_sub', '--format', 'value', states]!r}); heavy()\n"
        "print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    clean = {name: value for name, value in os.environ.items() if name not in BLAS_THREADS}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=clean)
    lines = done.stdout.splitlines()
    assert lines.count("[]") == 2, done.stdout
    assert lines[-1] == "1"


@pytest.mark.parametrize(
    ("arguments", "code"), [("--eps 0 --k 16", 2), pytest.param("--eps 1 --k 16 -q", 0, marks=pytest.mark.slow)]
)
def test_the_exit_code_and_both_streams_of_a_process(arguments: str, code: int) -> None:
    """That of an answer is looked at below too, where nobody reads it."""
    done = subprocess.run(
        [sys.executable, "-m", "advisor", *arguments.split()], capture_output=True, text=True, check=False
    )
    assert (done.returncode, bool(done.stdout), bool(done.stderr)) == (code, code == 0, code == 2)


def test_shell_completion(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def completed(cell: tuple[str, int, str]) -> None:
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


def test_a_broken_off_run_leaves_no_file(states: str, tmp_path: Path) -> None:
    target = tmp_path / "advice.json"
    process = subprocess.Popen(
        [*COMMAND, "-e", "1", "--reps", "100000", "--max-reps", "100000", "-o", str(target), states],
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
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
@pytest.mark.parametrize(
    "arguments", ["--eps 1 --k 16", "--eps 1 --k 16 --format json", "--help", "--eps 0 --format json"]
)
def test_a_full_disk_is_told_in_one_line(arguments: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no device that is always full")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, *arguments.split()], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
        assert done.stderr == "ldp-advise: error: cannot write the answer: No space left on device\n"
        assert done.returncode == 2
        both = subprocess.run([*COMMAND, *arguments.split()], stdout=full, stderr=full, check=False)
        assert both.returncode == 2


@pytest.mark.parametrize(
    "arguments", ["--eps 1 --k 16 --format csv -q", *slow("--eps 1 --k 16 --all", "knowledge rules")]
)
def test_a_reader_that_goes_away_leaves_success(arguments: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*COMMAND, *arguments.split()], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
def test_closed_standard_output_is_no_crash() -> None:
    command = f"{sys.executable} -m advisor --eps 1 --k 16 --format json >&-"
    done = subprocess.run(["bash", "-c", command], stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def typed(arguments: list[str], keys: bytes, **environment: str) -> tuple[int, bytes, bytes]:
    """Run the command with all streams on a terminal, type, and return its exit code, the screen and what is said."""
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
def test_what_is_typed_ends_with_one_end_of_file_and_no_spinner_hides_it() -> None:
    code, out, screen = typed([*QUICK, "--format", "json", "-"], b"a\nb\na\nc\n\x04", TERM="xterm")
    assert code == 0, screen
    assert json.loads(out)["request"]["n"] == 4
    assert b"reading the sample" not in screen
    assert b"\x1b" not in screen


@pytest.mark.slow
@pytest.mark.parametrize("module", ["typer", "numpy", "advisor.checks", "advisor.cli.rank", "knowledge.model"])
def test_an_interrupt_while_modules_are_imported_leaves_no_traceback(module: str) -> None:
    script = (
        "import os, signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from advisor.cli.app import main\n"
        "sys.exit(main(['--eps', '1', '--k', '16']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode in (130, -2)
    assert done.stdout == b""
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("closed", [">&- 2>&- <&-", "<&-", "2>&-"])
def test_closed_streams_are_no_crash(closed: str) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m advisor --eps 1 --k 16 {closed}"], capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
def test_closed_standard_input_is_said() -> None:
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m advisor --eps 1 - <&-"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("ldp-advise: error: standard input: is closed")


@pytest.mark.slow
def test_a_full_standard_error_keeps_no_answer_from_standard_output(states: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no device that is always full")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, *QUICK, states], stdout=subprocess.PIPE, stderr=full, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("Use ")


@pytest.mark.slow
def test_the_answer_goes_through_the_name_of_standard_output() -> None:
    for name in ("/dev/stdout", "/dev/fd/1", "-"):
        done = subprocess.run(
            [*COMMAND, "--eps", "1", "--k", "16", "-o", name], capture_output=True, text=True, check=True
        )
        assert done.stdout.startswith("Use ")


@pytest.mark.slow
def test_files_beside_an_answer_that_nobody_reads_are_written(states: str, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    runs = tmp_path / "runs.csv"
    command = [*COMMAND, *QUICK, "-q", "--runs", str(runs), states]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
    assert runs.read_text(encoding="utf-8").startswith(
        "eps,n,k,seed,version,protocol,method,metric,repetition,judged,error\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["table", "csv", "html"])
def test_a_file_name_that_is_no_utf_8_is_read_and_written(tmp_path: Path, name: str) -> None:
    source, target, runs = (os.fsencode(tmp_path) + b"/caf\xe9" + end for end in (b".csv", b".out", b".runs.csv"))
    Path(os.fsdecode(source)).write_text("a\nb\na\nc\n", encoding="utf-8")
    command = [*map(os.fsencode, COMMAND), *map(os.fsencode, QUICK), b"-p", b"grr", source]
    shown = subprocess.run([*command, b"--format", name.encode()], capture_output=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.decode()  # UTF-8, whatever the names
    done = subprocess.run([*command, b"-o", target, b"--format", name.encode(), b"--runs", runs], check=False)
    assert done.returncode == 0
    assert Path(os.fsdecode(target)).read_text(encoding="utf-8")
    assert Path(os.fsdecode(runs)).stat().st_size


@pytest.mark.slow
@pytest.mark.parametrize("content", ["text.usetex: True\nfont.size: 40\n", "no such key: \x1b[31m\n", "\x00\x00"])
def test_settings_of_pictures_in_the_folder_of_the_data_do_not_matter(tmp_path: Path, content: str) -> None:
    pytest.importorskip("matplotlib")
    pictures = []
    for name, settings, backend in (("plain", None, None), ("set", content, "no such backend")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "sample.csv").write_text("a\nb\na\nc\n", encoding="utf-8")
        if settings is not None:
            (folder / "matplotlibrc").write_text(settings, encoding="utf-8")
        command = [*COMMAND, *QUICK, "-q", "-p", "grr", "--plot-frequencies", "x.svg", "sample.csv"]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        environment |= {} if backend is None else {"MPLBACKEND": backend}
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False, env=environment)
        assert (done.returncode, done.stderr) == (0, b"")
        pictures.append((folder / "x.svg").read_bytes())
    assert pictures[0] == pictures[1]


@pytest.mark.slow
def test_nothing_of_ours_is_imported_before_interrupts_are_plain() -> None:
    code = "import advisor.cli.app, sys; print(sorted(name for name in sys.modules if name.startswith('advisor')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['advisor', 'advisor.cli', 'advisor.cli.app']\n"


@pytest.mark.slow
def test_matrix_products_take_the_threads_that_the_environment_says() -> None:
    program = "import sys; from advisor.cli.app import main; main(['--version'])"
    shown = f"{program}; import os; print(os.environ['OPENBLAS_NUM_THREADS'])"
    given = {**os.environ, "OPENBLAS_NUM_THREADS": "3"}
    result = subprocess.run([sys.executable, "-c", shown], env=given, capture_output=True, text=True, check=False)
    assert result.stdout.splitlines()[-1] == "3", result.stderr
