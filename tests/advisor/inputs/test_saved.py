import json
import random
from itertools import islice
from pathlib import Path

import pytest

from advisor.errors import InputError
from advisor.extensions.cite.command import citation_document, used_in
from advisor.extensions.code.command import saved_pair
from advisor.inputs.reports import merge_reports
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


def test_a_tally_without_what_it_needs_is_refused(tmp_path):
    def check(cell):
        content, field, value = cell
        content = {name: old for name, old in {**content, field: value}.items() if old is not ...}
        path = put(tmp_path, "wrong.json", json.dumps({**content, "check": _check(content)}))
        with pytest.raises(InputError) as caught:
            merge_reports([path])
        assert one_line(caught.value, path).startswith(": is no tally that can be: ")

    cells = []
    for protocol in ("grr", "oue", "she"):
        content = json.loads(Path(tallies(tmp_path, protocol)[0]).read_text())
        wrong = [("protocol", "zzz"), ("epsilon", 99), ("domain", ["a", "a"]), ("counts", [1, 2]), ("counts", 5)]
        wrong += [
            (field, ...) for field in ("protocol", "epsilon", "k", "domain", "parameters", "n", "counts", "files")
        ]
        cells += [(content, *change) for change in wrong if protocol != "grr" or change != ("counts", [1, 2])]
    assert failures(cells, check) == {}


@pytest.mark.parametrize("size", [4, pytest.param(40, marks=pytest.mark.slow)])
def test_a_saved_answer_is_taken_as_it_stands_there_or_refused(size, run, tmp_path):
    path = str(tmp_path / "changed.json")
    few = ("--protocol", "grr,oue", "--method", "norm_sub,none", "--quiet", "--format", "json")
    asked = (
        "--eps 1 --k 4 --n 1000",
        "sweep --eps 1,2 --k 4 --n 1000 --reps 2",
        "shuffler --central-eps 0.5 --delta 1e-8 --n 100000 --k 64",
    )
    answers = [json.loads(run(*words.split(), *few)[1]) for words in asked]
    assert not any("error" in answer for answer in answers)

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
