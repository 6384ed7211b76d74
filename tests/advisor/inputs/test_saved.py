import json
import random
from itertools import islice
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from advisor.errors import InputError
from advisor.extensions.cite.command import citation_document, used_in
from advisor.extensions.code.command import saved_pair
from advisor.inputs.reports import merge_reports, with_categories
from advisor.inputs.reports.settings import readable_protocols
from advisor.inputs.reports.tallies import _check
from tests.advisor.inputs.reading import put
from tests.advisor.inputs.test_tallies import tallies
from tests.cells import failures

ODD = [
    *(None, True, False, -1, -5, 0, 1, 2, 3, 8.0, 0.5, 1.5, 10**30, 10**400, 1 << 53, float("nan"), float("inf")),
    *("", "x", "1_0", "5", " 5", "9" * 5000, "\ud800", "e\u0301", "\u200b", "grr", "olh", "she", "mix64"),
    *([], {}, [1], ["a", "a"], [["x"]], {"a": -1}, {"subset_size": 2}, {"hash_range": 1 << 50}, {"block_count": 3.5}),
    *({"own_rate": 0.7, "other_rate": 0.3}, {"own_rate": 2}, {"own_rate": "0.7"}, {"other_rate": float("nan")}),
    json.loads("[" * 400 + "]" * 400),
]
WHOLE = {"type": "integer", "minimum": 0, "maximum": 1 << 53}
REFERENCE = Draft202012Validator(
    {
        "type": "object",
        "required": ["protocol", "epsilon", "k", "domain", "domain_given", "hash", "steps", "parameters", "n", "files"],
        "properties": {
            "protocol": {"enum": readable_protocols()},
            "epsilon": {"type": "number", "minimum": 1e-6, "maximum": 32},
            "k": {"type": ["integer", "null"], "minimum": 2},
            "domain": {"type": ["array", "null"], "items": {"type": "string"}, "uniqueItems": True, "minItems": 2},
            "domain_given": {"type": "boolean"},
            "hash": {"enum": ["mix64", "xxh32", None]},
            "steps": {"type": ["integer", "null"], "minimum": 1},
            "parameters": {
                "additionalProperties": False,
                "properties": dict.fromkeys(("subset_size", "hash_range", "block_count"), WHOLE)
                | {name: {"type": "number", "minimum": 0, "maximum": 1} for name in ("own_rate", "other_rate")},
                "type": "object",
            },
            "n": WHOLE,
            "unit": {"enum": ["reports", "2^-64"]},
            "counts": {
                "type": ["array", "object"],
                "additionalProperties": WHOLE,
                "items": {"type": ["integer", "string"], "pattern": "^-?[1-9][0-9]+$"},
            },
            "files": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["name", "sha256", "reports"],
                    "properties": {
                        "name": {"type": "string"},
                        "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                        "reports": WHOLE,
                    },
                },
            },
        },
    }
)


def changed(content, dice):

    def places(part):
        for key in part if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ():
            yield part, key
            yield from places(part[key])

    while True:
        copy = json.loads(json.dumps(content))
        own = [(copy, key) for key in copy]
        part, key = dice.choice(own if dice.random() < 0.6 else list(places(copy)))
        if dice.random() < 0.2:
            del part[key]
        else:
            part["extra" if isinstance(part, dict) and dice.random() < 0.1 else key] = dice.choice(ODD)
        yield copy


def one_line(error, path):
    message = str(error)
    assert "\n" not in message
    assert len(message.removeprefix(path)) < 300
    return message.removeprefix(path)[:40]


@pytest.mark.parametrize("size", [3, pytest.param(30, marks=pytest.mark.slow)])
def test_a_tally_is_counted_as_it_stands_there_or_refused(size, tmp_path):
    messages = set()

    def check(content):
        content["check"] = _check(content)  # anyone can make the right one
        path = put(tmp_path, "changed.json", json.dumps(content))
        try:
            merged = merge_reports([path])
            read = with_categories(merged)
        except InputError as error:
            messages.add(one_line(error, path))
            return
        REFERENCE.validate(content)
        counts, part = content["counts"], merged.part
        assert (read.tally.n, part.settings.k, part.settings.steps) == tuple(
            content[key] for key in ("n", "k", "steps")
        )
        assert read.tally.n == sum(file["reports"] for file in content["files"])
        if isinstance(counts, dict):
            placed = dict(zip(read.labels, read.tally.counts.tolist(), strict=True))
            assert {label: count for label, count in placed.items() if count} == {
                label: count for label, count in counts.items() if count
            }
            members = getattr(part.settings.oracle(len(read.labels)), "omega", 1)
            assert sum(counts.values()) == members * content["n"]
        else:
            assert part.counted.counts.tolist() == list(map(int, counts))
            least = -content["n"] if content["protocol"] == "hr" else 0
            assert content["unit"] == "2^-64" or all(least <= int(count) <= content["n"] for count in counts)

    def cells():
        for protocol in readable_protocols() if size > 3 else ("grr", "ss", "oue", "olh", "she"):
            content = json.loads(Path(tallies(tmp_path, protocol)[0]).read_text())
            yield from islice(changed(content, random.Random(protocol)), 2 * size)  # noqa: S311

    assert failures(cells(), check) == {}
    assert len(messages) > 4


WRONG_COUNTS = [
    ("grr", "k", 8.5, "k must be a whole number from 2 to 2,000,000, got 8.5"),
    ("grr", "n", "80", "n must be a whole number from 1 to 9,007,199,254,740,992, got '80'"),
    ("grr", "counts", {"0": 79}, "counts of n=80 reports are from 0 to 80, and add up to 80"),
    ("grr", "counts", {"0": 80.5}, "counts.0 must be a whole number from 0"),
    ("ss", "counts", {"0": 80}, "counts of n=80 reports are from 0 to 80, and add up to 160"),
    ("oue", "counts", [True] * 9, "counts[0] must be a whole number from"),
    ("oue", "counts", ["1_0"] * 9, "counts[0] must be a whole number from"),
    ("oue", "counts", [81] * 9, "a count of n=80 reports is from 0 to 80"),
    ("oue", "domain", [1] * 9, "domain[0] must be text, got 1"),
    ("oue", "domain", ["a", "b"], "k is 9, but its domain has 2 categories"),
    ("oue", "parameters", [], "parameters must be an object, got a list"),
    ("oue", "parameters", {"rate": 1}, "parameters.rate is no field that is known here"),
    ("oue", "parameters", {"own_rate": 1.5}, "parameters.own_rate must be a number from 0 to 1, got 1.5"),
    ("oue", "unit", "2^-64", "unit must be reports for oue, got '2^-64'"),
    ("oue", "files", [{"name": "x", "sha256": "0" * 64, "reports": -5}], "files[0].reports must be a whole number"),
    ("oue", "files", [{"name": "x", "sha256": "", "reports": 80}], "files[0].sha256 must be a SHA-256 digest"),
    ("she", "steps", 1.5, "steps must be a whole number from 1 to"),
    ("she", "counts", [10**400] * 9, "a count of n=80 reports is from"),
    ("she", "counts", ["1" * 400] * 9, "counts[0] must be a whole number from"),
    ("grr", "counts", {"\ud800": 80}, "counts must be text, got '\\ud800'"),
    ("grr", "counts", {"0": 85, "1": -5}, "counts of n=80 reports are from 0 to 80"),
    ("grr", "counts", {}, "counts of n=80 reports are from 0 to 80"),
    ("she", "counts", [str(80 << 105)] * 9, "a count of n=80 reports is from"),
]


def test_a_tally_that_no_reports_have_says_what_is_wrong(tmp_path):
    protocols = {protocol for protocol, *_ in WRONG_COUNTS}
    contents = {protocol: json.loads(Path(tallies(tmp_path, protocol)[0]).read_text()) for protocol in protocols}

    def check(cell):
        protocol, field, value, message = cell
        content = {**contents[protocol], field: value}
        path = put(tmp_path, "wrong.json", json.dumps({**content, "check": _check(content)}))
        with pytest.raises(InputError) as caught:
            merge_reports([path])
        assert str(caught.value).startswith(f"{path}: is no tally that can be: {message}")

    assert failures(WRONG_COUNTS, check) == {}


@pytest.mark.parametrize("size", [4, pytest.param(40, marks=pytest.mark.slow)])
def test_a_saved_answer_is_taken_as_it_stands_there_or_refused(size, run, tmp_path):
    path = str(tmp_path / "changed.json")
    few = ("--reps", "2", "--protocol", "grr,oue", "--method", "norm_sub,none", "--quiet", "--format", "json")
    answers = [
        json.loads(run(*words, "--k", "4", "--n", "1000", *few)[1])
        for words in (("--eps", "1", "--max-reps", "2"), ("sweep", "--eps", "1,2"))
    ]
    shuffled = run("shuffler", "--central-eps", "0.5", "--delta", "1e-8", "--n", "100000", "--k", "64", *few[-2:])
    answers.append(json.loads(shuffled[1]))

    def check(content):
        Path(path).write_text(json.dumps(content))
        try:
            protocol, method, epsilon, k, promise = saved_pair(path)
            request, best = content["request"], content["recommendations"][0]
            assert (k, epsilon) == (request["k"], best.get("epsilon") or request["eps"])
            assert type(k) is int
            assert (protocol, method) == (best["protocol"], best["method"])
            central = request.get("central")
            assert promise is None or (promise.delta, promise.n) == (central["delta"], request["n"])
        except InputError as error:
            one_line(error, path)
        try:
            assert citation_document(used_in([path])).data["paragraph"]
        except InputError as error:
            one_line(error, path)

    dice = random.Random(7)  # noqa: S311
    assert failures((one for answer in answers for one in islice(changed(answer, dice), size)), check) == {}
