import dataclasses
import inspect
import json

import pytest

from advisor.extensions.code.collection import CodedCollection, client_file
from advisor.extensions.code.usage import usage
from knowledge.cards import cards
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, PostProcessor
from simulator.foreign import REGISTERED
from simulator.protocols.grr import GRR
from tests.advisor.cli_answers import refused
from tests.cells import failures

MEMBERS = [*PROTOCOLS, *POSTPROCESSORS, *METRICS]


def halves(estimate, noise):
    return estimate / 2


@dataclasses.dataclass(frozen=True)
class Copied(GRR):
    """Randomised response from elsewhere."""

    key = "copied"
    title = "Copied protocol"
    reference = "Nobody, Nowhere 1999"


@pytest.mark.parametrize(
    "members", [[*MEMBERS[::3], "sw"], pytest.param(MEMBERS, marks=pytest.mark.slow)], ids=["a third", "all"]
)
def test_explain_shows_cost_and_recipes_as_they_are(run, members):
    def shown(name):
        known = json.loads(run("explain", name, "--format", "json")[1])
        assert known["python"] == usage(known["kind"], name)
        if known["kind"] == "protocol":
            collection = CodedCollection(name, "em_stopped" if name == "sw" else "none", 16, 1.0)
            assert known["client"] == client_file(collection)
            assert known["source"] is None
        else:
            function = {"method": POSTPROCESSORS, "metric": METRICS}[known["kind"]][name].function
            assert known["source"] == f"# {function.__module__}\n{inspect.getsource(function)}"
            assert (known["client"], known["eps"], known["k"]) == (None, None, None)

    assert failures(members, shown) == {}


def test_a_protocol_without_client_code_is_explained_but_not_deployed_with_or_without_a_card(
    run, monkeypatch, tmp_path
):
    monkeypatch.setitem(PROTOCOLS, "copied", Copied)
    new = tmp_path / "new"
    for formula in ("", cards()["grr"].formula):
        assert "There is no client of copied without this package." in run("explain", "copied", "-v")[1]
        known = json.loads(run("explain", "copied", "--format", "json")[1])
        assert known["client"] is known["source"] is None
        assert known["formula"] == formula
        assert run("explain", "copied", "--bibtex")[0] == run("list")[0] == run("cite", "copied")[0] == 0
        words = ("code", "--protocol", "copied", "--method", "norm", "--eps", "1", "--k", "8", "--to", new)
        assert "there is no code of copied; ldp-advise explain copied shows" in refused(run, *words)
        assert not new.exists()
        monkeypatch.setitem(cards(), "copied", cards()["grr"])  # as a new protocol of ours has before its code


def test_methods_of_other_packages_are_deployed_where_a_server_can_have_them(run, monkeypatch, tmp_path):
    half = PostProcessor("halved", "Half", halves, nonnegative=False, sums_to_one=False, reference="Nobody 2000")
    monkeypatch.setitem(POSTPROCESSORS, "halved", half)
    settings = ("--protocol", "grr", "--method", "halved", "--eps", "1", "--k", "8", "--to", str(tmp_path / "new"))
    monkeypatch.setitem(REGISTERED, "halved", "mine.py:halves")  # known to this process alone
    assert "there is no code of halved" in refused(run, "code", *settings)
    monkeypatch.delitem(REGISTERED, "halved")
    assert run("code", *settings)[0] == 0
    assert '"grr", "halved"' in (tmp_path / "new" / "server.py").read_text()
