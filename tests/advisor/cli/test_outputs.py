"""Files that are written: refused early, never over what is there, whole or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from advisor.cli.outputs import Outputs, Target
from advisor.errors import InputError


def added(outputs: Outputs, option: str, path: Path | str, **options) -> Target:
    target = outputs.add(option, str(path), **options)
    assert target is not None
    return target


def test_what_is_written_is_whole_and_readable_by_all(tmp_path: Path) -> None:
    target = added(Outputs(force=False), "--output", tmp_path / "a.json")
    target.write_text("one\n")
    assert (tmp_path / "a.json").read_text() == "one\n"
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "a.json").stat().st_mode & 0o777 == 0o666 & ~umask
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]

    def broken(path: Path) -> None:
        path.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match="No space left"):
        added(Outputs(force=True), "--output", tmp_path / "a.json").write(broken)
    assert (tmp_path / "a.json").read_text() == "one\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_file_is_replaced_only_if_forced(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("mine")
    with pytest.raises(InputError, match=r"--output .*a\.json: the file exists; give --force"):
        Outputs(force=False).add("--output", str(path))
    added(Outputs(force=True), "--output", path).write_text("new")
    assert path.read_text() == "new"


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_meanwhile_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    if not links:

        def refused(*_args: object) -> None:
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


def test_no_input_is_ever_written(tmp_path: Path) -> None:
    sample, domain = tmp_path / "sample.csv", tmp_path / "domain.txt"
    for path in (sample, domain):
        path.write_text("a\n")
    (tmp_path / "link.csv").symlink_to(sample)
    os.link(domain, tmp_path / "hard.txt")
    outputs = Outputs(force=True, inputs=[str(sample), str(domain), "missing", "-"])
    for name in ("sample.csv", "domain.txt", "link.csv", "hard.txt"):
        with pytest.raises(InputError, match="is read in the same run, so it is never overwritten"):
            outputs.add("--runs", str(tmp_path / name))


def test_no_two_outputs_are_the_same_file(tmp_path: Path) -> None:
    outputs = Outputs(force=True)
    added(outputs, "--output", tmp_path / "a.csv")
    for path in (tmp_path / "a.csv", tmp_path / "x" / ".." / "a.csv"):
        with pytest.raises(InputError, match="--output writes the same file; give each its own name"):
            outputs.add("--resume", str(path), continues=True)
    for option in ("--runs", "--plot"):
        added(outputs, option, "/dev/null")


def test_names_that_cannot_be_written(tmp_path: Path) -> None:
    outputs = Outputs(force=False)
    assert outputs.add("--plot", None) is None
    for path, said in (
        (tmp_path, "this is a directory"),
        (tmp_path / "none" / "a.csv", "there is no directory"),
        (tmp_path / "a.doc", r"--output .*a\.doc: the suffix must be \.csv, \.json, got '\.doc'"),
        (tmp_path / "a", "got 'none'"),
    ):
        with pytest.raises(InputError, match=said):
            outputs.add("--output", str(path), suffixes=(".csv", ".json") if "suffix" in said or "got" in said else ())


def test_a_file_is_continued_without_force(tmp_path: Path) -> None:
    (tmp_path / "cells.jsonl").write_text("{}\n")
    assert added(Outputs(force=False), "--resume", tmp_path / "cells.jsonl", continues=True).path.name == "cells.jsonl"


def test_a_pipe_and_a_link_take_what_is_written(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[str] = []
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
