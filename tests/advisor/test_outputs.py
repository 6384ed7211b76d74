import csv
import io
import os
import socket
import threading
from pathlib import Path

import pytest

from advisor.errors import InputError
from advisor.figures import csv_of
from advisor.show.outputs import Outputs
from tests.cells import failures


def added(outputs, option, path, **options):
    target = outputs.add(option, str(path), **options)
    assert target is not None
    return target


def test_cells_that_a_spreadsheet_would_run_have_an_apostrophe_on_request_and_numbers_never(run, tmp_path):
    run_cells = ["=1+1", "=2", "=", "+x", "-x", "@a", "--1", "+-1", "-1+2", "-1e", "=-5", "-.", "-inf"]
    run_cells.append('=HYPERLINK("x")')
    plain = ["-0.5", "+1", "-1e-05", "-.5", "-5.", "a=1", "'=1", "", "a@b", "5-3", -1.5, None, 3, float("nan")]
    for safe, mark in ((True, "'"), (False, "")):
        text = csv_of([["=head"], *([cell] for cell in (*run_cells, *plain))], safe_cells=safe)
        cells = [row[0] if row else "" for row in csv.reader(io.StringIO(text))]
        assert cells[0] == f"{mark}=head"
        assert cells[1 : len(run_cells) + 1] == [mark + cell for cell in run_cells]
        assert cells[len(run_cells) + 1 :] == ["" if cell is None else str(cell) for cell in plain]
    file = tmp_path / "a.csv"
    file.write_text("town,=cmd\n-1,x\n=2,y\n-1,y\n=2,x\n")
    few = ("--eps", "1", "--method", "none,norm_sub", "--protocol", "grr", "--reps", "2", "--quiet")
    code, out, _ = run(
        "columns", str(file), "--column", "town", "--column", "=cmd", *few, "--safe-cells", "--format", "csv"
    )
    assert (code, [line.split(",")[0] for line in out.splitlines()[1:]]) == (0, ["town", "'=cmd"])


def test_what_is_written_is_whole_and_readable_by_all(tmp_path):
    target = added(Outputs(force=False), "--output", tmp_path / "a.json")
    target.write_text("one\n")
    assert (tmp_path / "a.json").read_text() == "one\n"
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "a.json").stat().st_mode & 0o777 == 0o666 & ~umask
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]

    def broken(path):
        path.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match="No space left"):
        added(Outputs(force=True), "--output", tmp_path / "a.json").write(broken)
    assert (tmp_path / "a.json").read_text() == "one\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_file_is_replaced_only_if_forced_and_keeps_its_permissions(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("mine")
    path.chmod(0o640)
    with pytest.raises(InputError, match=r"--output .*a\.json: the file exists; give --force"):
        Outputs(force=False).add("--output", str(path))
    assert added(Outputs(force=False), "--resume", path, continues=True).path == path  # which goes on behind it
    added(Outputs(force=True), "--output", path).write_text("new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640  # and not those of a temporary file


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_meanwhile_is_not_replaced(tmp_path, monkeypatch, links):
    if not links:

        def refused(*_args):
            raise OSError(95, "Operation not supported")

        monkeypatch.setattr(os, "link", refused)
    target = added(Outputs(force=False), "--output", tmp_path / "a.json")
    (tmp_path / "a.json").write_text("mine")
    with pytest.raises(InputError, match="has appeared since this run began"):
        target.write_text("new")
    assert (tmp_path / "a.json").read_text() == "mine"
    (tmp_path / "a.json").unlink()
    target.write_text("new")
    assert (tmp_path / "a.json").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    forced = added(Outputs(force=True), "--output", tmp_path / "b.json")
    (tmp_path / "b.json").write_text("mine")
    forced.write_text("new")
    assert (tmp_path / "b.json").read_text() == "new"


def test_no_input_is_ever_written(tmp_path):
    sample, domain = tmp_path / "sample.csv", tmp_path / "domain.txt"
    for path in (sample, domain):
        path.write_text("a\n")
    (tmp_path / "link.csv").symlink_to(sample)
    os.link(domain, tmp_path / "hard.txt")
    os.mkfifo(tmp_path / "pipe")
    outputs = Outputs(force=True, inputs=[str(sample), str(domain), str(tmp_path / "pipe"), "missing", "-"])
    for name in ("sample.csv", "domain.txt", "link.csv", "hard.txt", "pipe"):
        with pytest.raises(InputError, match="is read in the same run, so it is never overwritten"):
            outputs.add("--runs", str(tmp_path / name))


def test_no_two_outputs_are_the_same_file_or_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    outputs = Outputs(force=True)
    (tmp_path / "b.csv").touch()
    os.link(tmp_path / "b.csv", tmp_path / "hard.csv")
    (tmp_path / "link.csv").symlink_to("a.csv")
    same = {"a.csv": ("a.csv", "x/../a.csv", "link.csv"), "b.csv": ("hard.csv",), "pipe": ("pipe",)}
    for name, others in same.items():
        added(outputs, "--output", tmp_path / name)
        for other in others:
            with pytest.raises(InputError, match="--output writes the same file; give each its own name"):
                outputs.add("--resume", f"{tmp_path}/{other}", continues=True)
    for option in ("--runs", "--plot"):
        added(outputs, option, "/dev/null")


def test_names_that_cannot_be_written_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the name of a socket is short
    assert Outputs(force=True).add("--plot", None) is None
    longest = tmp_path / ("x" * 251 + ".csv")  # of 255 bytes
    added(Outputs(force=False), "--output", longest).write_text("new")
    assert longest.read_text() == "new"
    Path("file").touch()
    Path("circle").symlink_to("round")
    Path("round").symlink_to("circle")
    cells = [
        (".", "this is a directory"),
        ("new/", "this is a directory, a file name is needed"),
        ("none/a.csv", "there is no directory"),
        ("a.doc", r"--output a\.doc: the suffix must be \.csv, \.json, got '\.doc'"),
        ("x" * 252 + ".csv", r"--output .*: cannot be written "),
        ("circle", "cannot be written"),
        ("socket", "neither a file nor a pipe"),
        ("/dev/fd/987", "/dev/fd/987: is closed"),
    ]

    def refused(cell):
        name, said = cell
        suffixes = (".csv", ".json") if name in ("a.doc", "a") else ()
        with pytest.raises(InputError, match=said):
            Outputs(force=True).add("--output", name, suffixes=suffixes)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        assert failures(cells, refused) == {}


def test_a_pipe_and_a_link_take_what_is_written(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    added(Outputs(force=False), "--output", tmp_path / "pipe").write_text("through\n")
    reader.join()
    assert read == ["through\n"]
    (tmp_path / "far.txt").write_text("old")
    (tmp_path / "near.txt").symlink_to(tmp_path / "far.txt")
    added(Outputs(force=True), "--output", tmp_path / "near.txt").write_text("new")
    assert (tmp_path / "near.txt").is_symlink()
    assert (tmp_path / "far.txt").read_text() == "new"


def test_standard_input_from_a_file_is_never_written(tmp_path):
    sample = tmp_path / "sample.csv"
    sample.write_text("a\n")
    saved, opened = os.dup(0), os.open(sample, os.O_RDONLY)
    os.dup2(opened, 0)
    try:
        for name in ("-", "/dev/stdin", "/dev/fd/0"):
            with pytest.raises(InputError, match="is read in the same run"):
                Outputs(force=True, inputs=[name]).add("--output", str(sample))
    finally:
        os.dup2(saved, 0)
        os.close(saved)
        os.close(opened)


def test_a_folder_that_cannot_be_entered_or_written_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    path.write_text("old")
    real = os.access
    monkeypatch.setattr(os, "access", lambda one, mode: Path(one) != tmp_path and real(one, mode))
    with pytest.raises(InputError, match="no permission to write there"):  # a file is made beside it first
        Outputs(force=True).add("--output", str(path))

    def denied(*_args, **_more):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "stat", denied)
    with pytest.raises(InputError, match=r"--output .*: cannot be written \(Permission denied\)"):
        Outputs(force=True).add("--output", str(path))
