from __future__ import annotations

import csv
import dataclasses
import functools
import inspect
import io
import json
from collections.abc import Mapping
from io import StringIO
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console

from advisor.answers.catalog import explanation
from advisor.answers.clients.collection import CodedCollection, client_file
from advisor.answers.usage import usage
from advisor.show.catalog import explain_document
from advisor.show.model import View
from advisor.show.terminal import show
from knowledge.cards import cards
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, Metric, Noise, PostProcessor
from simulator.foreign import REGISTERED
from simulator.methods.ordered import ORDERED_METHODS
from simulator.protocols import ORDERED_PROTOCOLS
from simulator.protocols.grr import GRR
from tests.advisor.conftest import Run
from tests.cells import failures

TABLES: dict[str, Mapping[str, object]] = {"protocols": PROTOCOLS, "methods": POSTPROCESSORS, "metrics": METRICS}
MEMBERS = [*PROTOCOLS, *POSTPROCESSORS, *METRICS]


def halves(estimate: NDArray[np.float64], noise: Noise, factor: float = 0.5) -> NDArray[np.float64]:
    """Halve every estimate.

    Nobody should want [this].
    """
    return estimate * factor


@dataclasses.dataclass(frozen=True)
class Copied(GRR):
    """Randomised response from elsewhere."""

    key = "copied"
    title = "Copied protocol"
    reference = "Nobody, Nowhere 1999"


@dataclasses.dataclass(frozen=True)
class Silent(GRR):
    key = "silent"


@pytest.fixture
def strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Members without a card, as entry points of other packages bring them in."""
    monkeypatch.setitem(PROTOCOLS, "copied", Copied)
    monkeypatch.setitem(PROTOCOLS, "silent", Silent)
    half = PostProcessor(
        "halved", "Half [bold]of it", halves, nonnegative=False, sums_to_one=False, reference="Nobody 2000"
    )
    third = dataclasses.replace(half, name="thirds", function=functools.partial(halves, factor=1 / 3))
    picky = dataclasses.replace(half, name="picky", fits=lambda noise, k: False)
    for method in (half, third, picky):
        monkeypatch.setitem(POSTPROCESSORS, method.name, method)

    def worst(estimate: NDArray[np.float64], truth: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.abs(estimate - truth).max(axis=-1)

    monkeypatch.setitem(METRICS, "worst", Metric("worst", "largest error", worst, unit="frequency"))


@pytest.mark.parametrize(
    "members", [[*MEMBERS[::3], "sw"], pytest.param(MEMBERS, marks=pytest.mark.slow)], ids=["a third", "all"]
)
def test_explain_shows_cost_and_recipes_as_they_are(run: Run, members: list[str]) -> None:
    def shown(name: str) -> None:
        out = run("explain", name, "--format", "plain")[1]
        known = json.loads(run("explain", name, "--format", "json")[1])
        assert known["python"] == usage(known["kind"], name)
        assert known["python"] in out
        if known["kind"] == "protocol":
            collection = CodedCollection(name, "em_stopped" if name == "sw" else "none", 16, 1.0)
            assert known["client"] == client_file(collection)
            assert known["client"] in out
            assert known["source"] is None
        else:
            function = {"method": POSTPROCESSORS, "metric": METRICS}[known["kind"]][name].function
            assert known["source"] == f"# {function.__module__}\n{inspect.getsource(function)}"
            assert known["source"] in out
            assert (known["client"], known["eps"], known["k"]) == (None, None, None)
        if name in cards():
            assert known["cost"] == cards()[name].cost
            assert f"Cost: {known['cost']}\n" in out
            assert known["description"] == ""

    assert failures(members, shown) == {}


def test_code_is_neither_folded_nor_taken_for_markup() -> None:
    def whole(cell: tuple[bool, str]) -> None:
        terminal, name = cell
        file = StringIO()
        console = Console(file=file, width=30, force_terminal=terminal, highlight=False, legacy_windows=False)
        member = explanation(name)
        show(explain_document(member), View(), console)
        assert member.python in file.getvalue()
        assert (member.source or "") in file.getvalue()

    assert failures(product([True, False], ["wavelet_eb", "post_pos", "grr", "norm_cut", "l1"]), whole) == {}


def test_list_names_promises_cost_and_source(run: Run) -> None:
    out = run("list")[1]
    for heading in ("promises", "cost", "reference"):
        assert heading in out
    data = json.loads(run("list", "--format", "json")[1])
    for kind, table in TABLES.items():
        for member in data[kind]:
            assert member["name"] in table
            assert member["cost"] == (cards()[member["name"]].cost if member["name"] in cards() else "")
    promises = {member["name"]: member["promises"] for kind in TABLES for member in data[kind]}
    assert promises["norm_sub"] == ["≥ 0", "sums to 1", "any order"]
    assert promises["wavelet_eb"] == ["≥ 0", "sums to 1", "ordered only"]
    assert promises["post_pos"] == ["queries only", "any order"]
    assert promises["ibu"] == ["≥ 0", "sums to 1", "any order", "some protocols"]
    assert promises["emd"] == ["ordered only"]
    assert promises["grr"] == ["raw sums to 1"]
    assert promises["oue"] == []
    assert promises["tree"] == ["raw sums to 1", "ordered only"]
    assert promises["sw"] == ["no raw estimate", "ordered only"]
    assert promises["em_stopped"] == ["≥ 0", "sums to 1", "ordered only", "some protocols"]
    assert promises["tree_eb"] == promises["iso_cdf"] == ["≥ 0", "sums to 1", "ordered only"]
    ordered = [member["name"] for kind in TABLES for member in data[kind] if member["ordered_only"]]
    assert {*ORDERED_PROTOCOLS, *ORDERED_METHODS, "wavelet_eb", "emd", "range"} <= {*ordered}
    assert not {"oue", "norm_sub", "l1"} & {*ordered}


def test_promises_say_order_and_protocols() -> None:
    assert "ordered domains only" in explanation("wavelet_eb").promises
    kept = "a larger estimate never becomes the smaller one"
    assert kept not in explanation("wavelet_eb").promises
    assert kept in explanation("norm_sub").promises
    assert "for some protocols only" in explanation("ibu").promises
    assert explanation("sw").promises == ("no raw estimate, but a likelihood", "ordered domains only")
    assert "ordered domains only" in explanation("tree").promises
    assert "ordered domains only" not in explanation("oue").promises


def test_list_has_every_format(run: Run, tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run("list", "--format", "csv")[1])))
    assert [row["name"] for row in rows] == MEMBERS
    assert {row["kind"] for row in rows} == {"protocol", "method", "metric"}
    assert run("list", "--format", "value")[1].split() == MEMBERS
    assert run("list", "--format", "markdown")[1].count("| name |") == 3
    page = tmp_path / "list.html"
    assert run("list", "--report", page)[0] == 0
    assert "Optimised local hashing" in page.read_text(encoding="utf-8")


def test_explain_has_every_format(run: Run) -> None:
    for name in ("OLH", "norm_sub", "l1"):
        data = json.loads(run("explain", name, "--format", "json")[1])
        (row,) = csv.DictReader(io.StringIO(run("explain", name, "--format", "csv")[1]))
        words = {field: "; ".join(cell) if isinstance(cell, list) else cell for field, cell in data.items()}
        fields = [field for field in data if field not in ("schema_version", "tool_version", "versions")]
        assert row == {field: "" if words[field] is None else str(words[field]) for field in fields}
    sources = csv.DictReader(io.StringIO(run("explain", "pgr", "--bibtex", "--format", "csv")[1]))
    assert [source["key"] for source in sources] == ["feldman2022private"]
    data = json.loads(run("explain", "OLH", "--format", "json")[1])
    assert (data["name"], data["kind"], data["python"]) == ("olh", "protocol", usage("protocol", "olh"))
    assert run("explain", "Norm-Sub", "--format", "value")[1] == "norm_sub\n"
    out = run("explain", "norm_sub", "--format", "markdown")[1]
    assert out.count("```") == 4
    assert "def norm_sub(estimate: FloatArray, noise: Noise) -> FloatArray:" in out


def test_an_unknown_name_gets_the_nearest_one(run: Run) -> None:
    code, out, err = run("explain", "nrm_sub")
    assert (code, out) == (2, "")
    assert "did you mean 'norm_sub'?" in err
    assert err.count("\n") == 1


@pytest.mark.usefixtures("strangers")
@pytest.mark.parametrize(
    ("name", "title", "said"),
    [
        ("copied", "Copied protocol", "Randomised response from elsewhere."),
        ("silent", "Generalised randomised response (k-RR)", ""),
        ("halved", "Half [bold]of it", "Halve every estimate.\n\nNobody should want [this]."),
        ("thirds", "Half [bold]of it", "Halve every estimate.\n\nNobody should want [this]."),
        ("picky", "Half [bold]of it", "Halve every estimate.\n\nNobody should want [this]."),
        ("worst", "largest error", ""),
    ],
)
def test_members_of_other_packages_are_explained_from_what_they_say(run: Run, name: str, title: str, said: str) -> None:
    code, out, _ = run("explain", name)
    assert code == 0
    known = json.loads(run("explain", name, "--format", "json")[1])
    assert known["title"] == title
    assert title in out
    assert known["description"] == said
    assert said in out
    assert known["formula"] == known["cost"] == ""
    assert "Formula" not in out
    assert known["python"] in out
    assert ("def " in (known["source"] or "")) == (known["kind"] != "protocol")
    if name != "picky":  # which is for the noise of no protocol at all
        exec(compile(known["python"], "recipe", "exec"), {})  # noqa: S102


@pytest.mark.usefixtures("strangers")
@pytest.mark.parametrize("has_card", [False, True])
def test_a_protocol_without_client_code_is_explained_and_says_so(
    run: Run, monkeypatch: pytest.MonkeyPatch, *, has_card: bool
) -> None:
    if has_card:  # as a new protocol of ours has before its code is written
        monkeypatch.setitem(cards(), "copied", cards()["grr"])
    code, out, _ = run("explain", "copied")
    assert code == 0
    assert "There is no client of copied without this package." in out
    known = json.loads(run("explain", "copied", "--format", "json")[1])
    assert known["client"] is known["source"] is None
    assert known["formula"] == (cards()["grr"].formula if has_card else "")
    assert run("explain", "copied", "--bibtex")[0] == run("list")[0] == run("cite", "copied")[0] == 0


@pytest.mark.usefixtures("strangers")
def test_members_without_a_client_are_not_deployed_even_with_a_card(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(cards(), "copied", cards()["grr"])
    settings = ("--method", "norm", "--eps", "1", "--k", "8", "--to", str(tmp_path / "new"))
    code, _, err = run("code", "--protocol", "copied", *settings)
    assert code == 2
    assert "there is no code of copied; ldp-advise explain copied shows" in err
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("strangers")
def test_methods_of_other_packages_are_deployed_where_a_server_can_have_them(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = ("--protocol", "grr", "--method", "halved", "--eps", "1", "--k", "8", "--to", str(tmp_path / "new"))
    monkeypatch.setitem(REGISTERED, "halved", "mine.py:halves")  # known to this process alone
    code, _, err = run("code", *settings)
    assert (code, "there is no code of halved" in err) == (2, True)
    monkeypatch.delitem(REGISTERED, "halved")
    assert run("code", *settings)[0] == 0
    assert '"grr", "halved"' in (tmp_path / "new" / "server.py").read_text()


@pytest.mark.usefixtures("strangers")
def test_members_of_other_packages_are_listed(run: Run) -> None:
    out = run("list", "--verbose")[1]
    for name in ("copied", "silent", "halved", "thirds", "picky", "worst"):
        assert name in out
    assert "Half [bold]of it" in out


def test_the_code_of_a_protocol_has_the_settings_filled_in(run: Run) -> None:
    known = json.loads(run("explain", "pgr", "--eps", "1", "--k", "300", "--format", "json")[1])
    collection = CodedCollection("pgr", "none", 300, 1.0)
    assert known["client"] == client_file(collection)
    assert "K = 300 " in known["client"]
    assert 'PROTOCOLS["pgr"](k=300, epsilon=1.0)' in known["python"]
    out = run("explain", "pgr", "--eps", "1", "--k", "300")[1]
    assert "client.py (ε = 1, k = 300):" in out


def test_a_budget_is_for_protocols_alone(run: Run) -> None:
    code, _, err = run("explain", "norm_sub", "--eps", "1", "--k", "4")
    assert code == 2
    assert err.endswith(
        "error: --eps, --k does not go with norm_sub, a method: only the code of protocols is written for a setting\n"
    )
