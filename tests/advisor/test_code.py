import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from advisor.errors import InputError
from advisor.extensions.code.answer import MEANINGS, files_of, written
from advisor.extensions.code.collection import CodedCollection
from tests.advisor.cli_answers import refused
from tests.cells import failures

PAIR = ("--protocol", "olh", "--method", "eb_ns", "--eps", "1", "--k", "32")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_pair_becomes_files_that_pass_their_own_check(run, folder):
    assert run("code", *PAIR, "--to", "new")[::2] == (0, "")
    assert {each.name for each in (folder / "new").iterdir()} == MEANINGS.keys()
    for name, text in files_of(CodedCollection("olh", "eb_ns", 32, 1.0)).items():
        assert (folder / "new" / name).read_text(encoding="utf-8") == text
    done = subprocess.run([sys.executable, "check.py"], cwd=folder / "new", capture_output=True, text=True, check=True)
    assert done.stdout == "client.py makes the 64 reports of test_vectors.json\n"


@pytest.mark.slow
def test_the_commands_of_the_page_run(run, folder, monkeypatch):
    run("code", *PAIR, "--to", "new")
    monkeypatch.chdir(folder / "new")
    lines = [each["report"] for each in json.loads(Path("test_vectors.json").read_text())["vectors"]]
    Path("reports.csv").write_text("".join(f"{line}\n" for line in lines))
    page = Path("README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^ldp-advise (.*?)(?:   #.*)?$", page, flags=re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["reports", "audit"]
    reports, audit = (shlex.split(command) for command in commands)
    few = ("--reps", "2", "--method", "norm_sub", "--surrogate", "norm_sub", "--next-protocol", "grr")
    assert run(*reports, *few)[0] == 0
    code, out, _ = run(*audit, "--trials", "100", "--quiet")
    assert code == 0
    assert "No leak is shown for client.py:audited at ε = 1" in out


def test_a_budget_that_rests_on_a_shuffler_is_never_without_it(run, folder):
    promise = "--central-eps 0.5 --delta 1e-8 --n 100000 --k 64 -p grr,oue --method norm_sub"
    run("shuffler", *promise.split(), "--format", "json", "--output", "answer.json")
    assert run("code", "answer.json", "--to", "new", "--quiet")[0] == 0
    done = subprocess.run([sys.executable, "check.py"], cwd=folder / "new", capture_output=True, check=False)
    assert done.returncode == 0
    _, out, _ = run("code", "answer.json", "--to", "other", "--format", "json")
    assert json.loads(out)["central"] == {"eps": 0.5, "delta": 1e-8, "n": 100_000}


def test_other_files_are_no_saved_answers(run, folder):
    texts = ["", "[]", "{}", "nonsense", '{"request": {"eps": 1, "k": 4}, "recommendations": []}', "[" * 9_999]

    def refused_as_one(text):
        (folder / "answer.json").write_text(text)
        assert "answer.json: is no saved ranking; save one with ldp-advise" in refused(
            run, "code", "answer.json", "--to", "new"
        )
        assert not (folder / "new").exists()

    assert failures(texts, refused_as_one) == {}
    plan = ("--attributes", "3", "--format", "json", "--output", "several.json")
    run("columns", "--eps", "2", "--k", "20", "--n", "10000", *plan)
    assert "is about several attributes or rounds" in refused(run, "code", "several.json", "--to", "new")
    (folder / "visits.csv").write_text("row,col\n1,2\n3,3\n0,0\n")
    near = "--grid 4x4 --columns row,col --privacy metric --radius 2 -p planar_geometric --method norm_sub --max-reps 2"
    run("places", "visits.csv", *near.split(), "--eps", "1", "--format", "json", "--output", "near.json")
    said = refused(run, "code", "near.json", "--to", "new")
    assert "does not say the cells: give all that counts, such as --protocol planar_geometric --method norm_sub" in said


def test_nothing_is_overwritten_unless_asked(run, folder):
    empty, there = folder / "empty", folder / "there"
    empty.mkdir()
    assert run("code", *PAIR, "--to", "empty")[0] == 0
    there.mkdir()
    (there / "notes.txt").write_text("mine")
    (there / "client.py").write_text("mine too")
    err = refused(run, "code", *PAIR, "--to", "there")
    assert "the folder holds other files (client.py, notes.txt)" in err
    assert "--force" in err
    assert (there / "client.py").read_text() == "mine too"
    assert run("code", *PAIR, "--to", "there", "--force")[0] == 0
    assert (there / "notes.txt").read_text() == "mine"
    assert (there / "client.py").read_text().startswith('"""Client')


def test_a_full_disk_leaves_the_directory_as_it_was(folder, monkeypatch):
    collection, write_text, left = CodedCollection("grr", "none", 4, 1.0), Path.write_text, [0]
    (folder / "used").mkdir()
    (folder / "used" / "client.py").write_text("mine")
    (folder / "far.md").write_text("far")
    (folder / "used" / "README.md").symlink_to(folder / "far.md")

    def limited(self, text, **options):
        left[0] -= 1
        if left[0] < 0:
            write_text(self, text[:5], **options)
            raise OSError(28, "No space left on device")
        return write_text(self, text, **options)

    def content():
        return {str(each.relative_to(folder)): each.is_file() and each.read_text() for each in folder.rglob("*")}

    before = content()
    monkeypatch.setattr(Path, "write_text", limited)
    for name in ("new", "used"):
        for writes in range(len(MEANINGS)):
            left[0] = writes
            with pytest.raises(InputError, match=rf"--to {name}: cannot be written \(No space left on device\)"):
                written(collection, name, force=True, inputs=())
            assert content() == before
    left[0] = len(MEANINGS)
    written(collection, "used", force=True, inputs=())
    files = files_of(collection)
    assert {each.name: each.read_text() for each in (folder / "used").iterdir()} == files
    assert (folder / "far.md").read_text() == files["README.md"]  # a link stays one, and its file is written


def test_a_file_that_is_read_is_never_written(run, folder):
    (folder / "there").mkdir()
    labels = folder / "there" / "client.py"
    labels.write_text("a\nb\n")
    words = ("--protocol", "grr", "--method", "none", "--eps", "1", "--labels", "there/client.py")
    assert "never overwritten" in refused(run, "code", *words, "--to", "there", "--force")
    assert labels.read_text() == "a\nb\n"
    assert [*labels.parent.iterdir()] == [labels]
