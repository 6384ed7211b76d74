import csv
import json
from dataclasses import replace

import pytest

from advisor.cli.app import main
from advisor.cli.run import FORMATS, NOTICE, Job, Output, SideFile, run
from advisor.errors import InputError
from advisor.question.question import Question
from advisor.show.model import Column, Document, Records, Role, Row, Sentence, Table, Verdict

DOCUMENT = Document(
    title="Numbers",
    verdict=Verdict("seven", "The answer is 7."),
    parts=(Sentence("This is odd.", Role.WARNING), Sentence("A detail."), Table((Column("x"),), (Row(("7",)),))),
    data={"x": 7},
    records=Records(("x",), ((7,),)),
    value="7",
)


class Steps(list[str]):
    """What a job did, in its order."""

    def job(self, *, files=(), inputs=()):
        def read():
            self.append("read")
            return 7

        def answer(question, _):
            self.append("answer")
            return question

        warnings, data = (lambda _: ["The file is small."]), Question(sample="data.csv")
        return Job(read, answer, lambda _: DOCUMENT, data, inputs, files, warnings=warnings)


def side(path, option="--side", **more):
    def write(answer, target):
        target.write_text(str(answer), encoding="utf-8")

    return SideFile(option, str(path), (".txt",), write, **more)


def full(_answer, _target):
    raise OSError(28, "No space left on device")


def test_outputs_that_cannot_be_written_are_refused_before_anything_is_read(tmp_path):
    def not_installed(option, path):
        raise InputError(f"{option} {path.name} needs more")

    taken, source = tmp_path / "taken.txt", tmp_path / "source.txt"
    taken.write_text("mine", encoding="utf-8")
    source.write_text("mine too", encoding="utf-8")
    same = tmp_path / "same.txt"
    refused = [
        (Output(output=str(tmp_path)), [], "this is a directory"),
        (Output(output=str(taken)), [], "the file exists; give --force"),
        (Output(output=str(source), force=True), [], "this file is read in the same run, so it is never overwritten"),
        (Output(report="-"), [], "the answer goes to standard output"),
        (Output(), [side(same), side(same, "--other")], "--other"),
        (Output(output=str(same)), [side(same)], "writes the same file; give each its own name"),
        (Output(output="x.docx"), [], "x.docx: .docx stands for no format: give --format, or one of .txt, .md"),
        (Output(), [side(same, check=not_installed)], "--side same.txt needs more"),
    ]
    for output, files, words in refused:
        steps = Steps()
        with pytest.raises(InputError) as caught:
            run(steps.job(files=files, inputs=[str(source)]), output)
        assert words in str(caught.value)
        assert steps == []
    assert taken.read_text(encoding="utf-8") == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source.txt", "taken.txt"]


def test_the_notice_goes_with_quiet_and_warnings_stay(capsys):
    run(Steps().job(), Output())
    loud = capsys.readouterr()
    assert loud.err.splitlines() == ["warning: The file is small.", "warning: This is odd.", NOTICE]
    assert "A detail." in loud.out
    run(Steps().job(), Output(quiet=True))
    quiet = capsys.readouterr()
    assert quiet.err.splitlines() == ["warning: The file is small.", "warning: This is odd."]
    assert "The answer is 7." in quiet.out
    assert "A detail." not in quiet.out


def test_a_warning_that_was_given_early_is_not_repeated(capsys):
    run(replace(Steps().job(), warnings=lambda _: ["This is odd."]), Output())
    assert capsys.readouterr().err.count("This is odd.") == 1


def test_a_look_up_gives_no_notice(run):
    assert run("--eps", "1", "--k", "16", "--format", "plain")[2] == ""


def test_as_many_rows_of_each_ranking_are_written_as_are_asked_for(run):
    lines = run("--eps", "1", "--k", "16", "-m", "l1,mse", "--top", "2", "--format", "csv")[1].splitlines()
    assert sorted(row["metric"] for row in csv.DictReader(lines)) == ["l1", "l1", "mse", "mse"]


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("x.json", "{"),
        ("x.csv", "x\n7"),
        ("x.md", "The answer"),
        ("x.txt", "The answer"),
        ("x", "The answer"),
        ("x.html", "<!DOCTYPE html>"),
        ("x.docx", ""),
    ],
)
def test_the_suffix_of_a_file_says_its_format_unless_one_is_named(tmp_path, name, start):
    if start:
        run(Steps().job(), Output(output=str(tmp_path / name)))
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
    run(Steps().job(), Output(output=str(tmp_path / name), force=True, format="value"))
    assert (tmp_path / name).read_text(encoding="utf-8") == "7\n"


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_the_answer_and_a_hyphen_is_standard_output(capsys, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    run(Steps().job(), Output(format=name))
    shown = capsys.readouterr().out
    assert "7" in shown
    run(Steps().job(), Output(format=name, output="-"))
    assert capsys.readouterr().out == shown
    assert list(tmp_path.iterdir()) == []


def test_an_answer_whose_file_fails_is_printed(monkeypatch, capsys, tmp_path):
    def appears(question, _):
        (tmp_path / "x.json").write_text("mine", encoding="utf-8")
        return question

    job = replace(Steps().job(files=[side(tmp_path / "x.txt")]), answer=appears)
    monkeypatch.setattr("advisor.cli.commands.run", lambda _, output: run(job, output))
    assert main(["epsilon", "--eps", "1", "-o", str(tmp_path / "x.json")]) == 2
    shown = capsys.readouterr()
    assert json.loads(shown.out)["x"] == 7  # and no second object, which would be about the error
    assert "x.json: the file has appeared since this run began" in shown.err
    assert (tmp_path / "x.json").read_text(encoding="utf-8") == "mine"
    assert (tmp_path / "x.txt").read_text(encoding="utf-8") == "7"


def test_files_are_written_though_one_of_them_fails_and_nobody_reads_the_answer(monkeypatch, tmp_path):
    def gone(_text):
        raise BrokenPipeError(32, "Broken pipe")

    files = [SideFile[int]("--bad", str(tmp_path / "a.txt"), (".txt",), full), side(tmp_path / "b.txt")]
    with pytest.raises(InputError, match=r"--bad .*a.txt: cannot be written \(No space left"):
        run(Steps().job(files=files), Output())
    assert (tmp_path / "b.txt").read_text(encoding="utf-8") == "7"
    monkeypatch.setattr("sys.stdout.write", gone)
    for name in ("table", "json"):
        with pytest.raises(BrokenPipeError):
            run(Steps().job(files=[side(tmp_path / f"{name}.txt")]), Output(format=name))
        assert (tmp_path / f"{name}.txt").read_text(encoding="utf-8") == "7"
