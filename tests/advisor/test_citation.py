import json
import re
from pathlib import Path

from knowledge.sources import OWN, sources, sources_of
from simulator import POSTPROCESSORS, PROTOCOLS, __version__
from simulator.channels import PLANAR
from simulator.methods.processor import SUMMARIES
from simulator.places import Places
from tests.cells import over

ROOT = Path(__file__).parents[2]
ENTRY = re.compile(r"@(\w+)\{(\w+),\n((?:  \w+ = \{.*\},?\n)+)\}\n")


def entries(text):
    found = {}
    for kind, key, fields in ENTRY.findall(text if text.endswith("\n") else text + "\n"):
        found[key] = {"type": kind, **dict(re.findall(r"  (\w+) = \{(.*)\},?\n", fields))}
    assert len(found) == text.count("@")
    return found


@over([*PROTOCOLS, *POSTPROCESSORS, *SUMMARIES])
def test_every_source_that_a_member_names_has_an_entry(name):
    reference = (PROTOCOLS.get(name) or POSTPROCESSORS[name]).reference
    for part in (part.strip() for part in reference.split(";")):
        assert part in sources()
        source = sources()[part]
        if part != OWN:
            assert str(source.year) in part
            first = part.split(" et al")[0].split(",")[0]
            assert first.split()[-1] in source.authors[0].replace(r"{\'o}", "o")


def test_entries_are_well_formed_and_used():
    planar = [mechanism(Places(1, 2), 1.0) for mechanism in PLANAR.values()]
    members = (*PROTOCOLS.values(), *POSTPROCESSORS.values(), *planar)
    used = {source for one in members for source in sources_of(one.reference)}
    assert used == set(sources().values())
    for source in used:
        (entry,) = entries(source.bibtex).values()
        assert {"author", "title", "year"} <= entry.keys()
        assert source.bibtex.isascii()
        assert source.bibtex.count("{") == source.bibtex.count("}")
    assert len({source.key for source in used}) == len(used)


def cited_in(paragraph):
    return {key for group in re.findall(r"\\cite\{(.*?)\}", paragraph) for key in group.split(",")}


def test_cite_takes_the_figures_of_a_saved_answer(run, states, tmp_path):
    saved = str(tmp_path / "answer.json")
    words = "--eps 2 --n 5000 --seed 3 --reps 4 --max-reps 4 -p grr,oue,olh --quiet --output"
    run(*words.split(), saved, states)
    answer = json.loads(Path(saved).read_text(encoding="utf-8"))
    data = json.loads(run("cite", saved, "--format", "json")[1])
    rows, text = answer["recommendations"], data["paragraph"]
    assert set(data["protocols"]) == {row["protocol"] for row in rows}
    assert set(data["methods"]) == {row["method"] for row in rows}
    assert cited_in(text) == set(entries(data["bibtex"]))
    assert run("cite", saved, "--output", saved, "--force")[0] == 2
    assert json.loads(Path(saved).read_text(encoding="utf-8")) == answer


def test_cite_of_an_answer_tells_its_promise_its_attack_and_all_that_was_compared(run, states, tmp_path):
    def paragraph(*words):
        saved = str(tmp_path / "saved.json")
        assert run(*words, "--quiet", "--force", "--output", saved)[0] == 0
        code, out, err = run("cite", saved, "--format", "json")
        return json.loads(out)["paragraph"] if code == 0 else err

    two = ("-p", "grr,oue", "--method", "none,norm_sub")
    shuffled = paragraph("shuffler", "--central-eps", "1", "--delta", "1e-6", "--k", "20", "--n", "100k", *two)
    assert r"with which shuffled reports keep $\varepsilon = 1$ and $\delta = 1e-06$ together" in shuffled
    few = ("--reps", "4", "--max-reps", "4", *two, states)
    feared = paragraph("fakes", "--eps", "1", "--threat", "0.05", *few)
    assert r"under a maximal gain attack by 5\,\% of the users" in feared
    whole, cut = (paragraph("--eps", "1", "--n", "1e5", *more, *few) for more in ((), ("--top", "1")))
    assert re.sub(": 4 pairs", "", whole.partition(" simulated")[0]).split() == cut.partition(" simulated")[0].split()
    for words in ("plan --target 0.1 --eps 1 --k 16 --instant", "--eps 1,2 --k 16"):
        assert "holds no ranking and no sweep" in paragraph(*words.split(), *two)


def test_mechanisms_for_places_are_cited(run, tmp_path):
    places, saved = ROOT / "examples" / "visits.csv", str(tmp_path / "places.json")
    words = "--eps 1 --privacy metric --radius 9 --grid 4x4 -m l1 --method none --reps 4 --max-reps 4"
    run("places", str(places), *words.split(), "-o", saved)
    assert r"planar\_laplace (truncated planar Laplace) \cite{andres" in run("cite", saved)[1]


def test_the_citation_file_says_what_the_package_is():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    fields = dict(re.findall(r"^([a-z-]+): (.+)$", text, flags=re.MULTILINE))
    assert fields["version"] == __version__
    assert fields["license"] in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert sources()[OWN].title in text
    assert sources()[OWN].authors[0].strip("{}") in text
