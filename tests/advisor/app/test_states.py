import io
import json
import re
import shlex
import zipfile
from dataclasses import replace
from html import escape, unescape
from importlib.resources import files
from itertools import product

import pytest

from advisor.errors import InputError
from advisor.extensions.app.files import safe_name
from advisor.extensions.app.goals import PLAN, goals
from advisor.extensions.app.pieces import PageAnswer, faults, first_paint, page_answer, refusal
from advisor.extensions.app.state import Data, Inquiry, decision, ranking, result_of, state_of
from advisor.inputs.held import HeldFile, held_files, holding
from advisor.question.question import Question
from advisor.question.sample import simulated_frequencies
from advisor.question.settings import Instant, Menu, Simulation, Terms
from advisor.show.rank.data import rank_data
from tests.advisor.app.conftest import OWN_METHOD
from tests.cells import over

FRUIT = b"fruit,count\napple,500\nbanana,300\ncherry,150\ndate,50\n"
ESTIMATES = b"age,share\n" + b"".join(b"%d,0.%02d\n" % (20 + place, 28 - 4 * place) for place in range(7))
ADDRESSES = (
    "goal=plan",
    "goal=plan&n=100000&sensitive=high&times=2&ordered=no",
    "goal=plan&shape=uniform&eps=0.5&deployable=yes",
    "goal=compare&k=300&n=2M&metric=topk",
    "goal=compare&method=norm_sub,eb_ns&protocol=oue,olh&bits=64",
    "goal=estimate&file=example",
    "goal=places&file=example&counts=people",
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_first_paint_has_every_control_as_it_is_set(address):
    state = state_of(address, {})
    html = first_paint(state)
    for control in state.goal.controls:
        value = state.values[control.name]
        assert html.count(f'id="{control.name}"') == html.count(f'id="{control.name}-error"') == 1
        assert f'for="{control.name}">{escape(control.label)}<' in html or control.several
        if control.several:
            chosen = re.findall(rf'name="{control.name}" value="(\w+)" checked', html)
            assert chosen == [*filter(None, value.split(","))]
        elif control.choices:
            assert f'<option value="{value}" selected>{escape(control.choices[value])}</option>' in html
        else:
            assert f'id="{control.name}" value="{value}"' in html
    script = (files("advisor.extensions.app") / "static" / "app.js").read_text("utf-8")
    for name in {"verdict", "details", *re.findall(r"[\"']#([a-z-]+)[\"'], row", script)}:
        assert f'id="{name}"' in html


def test_what_a_list_does_not_have_is_shown_and_refused_and_not_its_first_choice():
    state = state_of('goal=plan&sensitive=HIGH"><b>', {})
    assert '<option value="HIGH&#34;&gt;&lt;b&gt;" selected>HIGH&#34;&gt;&lt;b&gt;</option>' in first_paint(state)
    assert state.wrong()["sensitive"].startswith("How sensitive are the answers?: must be one of low, medium, high")


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_is_restored(address):
    state = state_of(address, {})
    assert state.wrong() == {}
    again = state_of(state.query, {})
    assert again == state
    assert again.query == state.query


REPEATED = [
    "goal=plan&n=20000&k=5",
    "goal=plan&k=5&n=20000&eps=1",
    "goal=compare&k=12&n=5000&method=norm_sub,eb_ns&protocol=oue,grr&shape=gaussian&simulated=yes",
    "goal=compare&file=abc&name=fruit.csv&eps=2&method=norm_sub",
    "goal=estimate&file=raw&name=a.csv&n=5000&metric=emd&used=oue&method=none,iso_cdf",
]


@pytest.mark.parametrize("address", REPEATED)
def test_command_lines_and_python_that_are_shown_give_the_same(address, run, tmp_path, monkeypatch, capsys):
    state = state_of(address, {"abc": HeldFile(FRUIT), "raw": HeldFile(ESTIMATES)})
    assert state.wrong() == {}
    answer = page_answer(state)
    first = answer.ranking.document.data["recommendations"]
    assert answer.ranking.python.startswith("from ldp_advise import")
    assert ("= estimate(" in answer.python) == ("goal=estimate" in address)
    # Beside what is dropped, files are offered.
    for name, content in ({"fruit.csv": FRUIT, "a.csv": ESTIMATES} | answer.made_up()).items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(answer.python, names)  # noqa: S102 - what people copy
    assert rank_data((names["advice"],))["recommendations"] == first
    printed = " ".join(capsys.readouterr().out.split())
    there = []
    for one in answer.answers:
        code, out, err = run(*shlex.split(one.line)[1:], "--format", "json", "--quiet")
        assert code == 0, err
        there.append(json.loads(out))
    assert there[-1]["recommendations"] == first
    if answer.decision is not None:
        assert there[0]["eps"] == answer.decision.document.data["eps"]
        assert answer.decision.document.verdict.text in printed


HELD = {"fruit": HeldFile(FRUIT), "shares": HeldFile(b"answer;share\nyes;45,5\nno;44,5\nother;10,0\n")}
VERDICTS = [  # a page, how its verdict begins, and what its buttons set
    ("goal=plan&n=20000", "Collect with ε = 1.2", []),
    ("goal=plan", "Almost just short at ε = 2", ["n", "within", "k"]),
    ("goal=plan&eps=0.01", "Do not collect even GRR", ["n", "eps"]),
    ("goal=plan&n=2000&within=3&sensitive=low&file=shares&name=shares.csv", "Collect with ε = ", []),
    ("goal=compare", "Tied PGR", ["deployable"]),
    ("goal=compare&bits=1&protocol=oue", "Nothing is left “Largest report, in bits” = 1", []),
    ("goal=compare&n=many&eps=", "No answer “Number of users”, “ε of one report” need another value.", []),
    ("goal=compare&file=fruit&name=fruit.csv&column=zzz", "No answer fruit.csv: no column 'zzz'", []),
    ("goal=estimate", "Example: Tied the posterior", []),
]


@pytest.mark.parametrize(("address", "begin", "settings"), VERDICTS)
def test_every_state_has_a_verdict_and_buttons_that_can_be_pressed(address, begin, settings):
    state = state_of(address, HELD)
    try:
        stands_in = state.data == Data()
        answer = page_answer(state.example if stands_in else state)
        verdict, changes = answer.verdict(stands_in=stands_in), answer.pieces["changes"]
    except InputError as error:
        verdict, changes = refusal(state, state.wrong() or faults(state, error)), ""
    words = unescape(re.sub("<[^>]*>", "", verdict)).strip()
    assert words.startswith(begin)
    assert verdict.count('class="badge') == 1
    assert "--" not in words + changes
    pressed = [json.loads(unescape(text)) for text in re.findall("data-set='(.*?)'", changes)]
    assert [name for one in pressed for name in one] == settings
    for one in pressed:
        after = replace(state, values=state.values | one)
        assert after.wrong() == {}
        assert after != state
        if not after.values.get("eps") and begin != "Do not collect guessing that all answers":
            assert page_answer(after).verdict().count(">Collect<") == 1  # as the button says


def test_only_what_is_held_can_be_opened(tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("a\nb\n" * 9, encoding="utf-8")
    question = Question(sample=str(secret), terms=Terms(epsilon=1.0), instant=Instant(instant=True))
    with pytest.raises(InputError, match="not held in memory"):
        result_of(Inquiry("", question, files={"other.csv": HeldFile(FRUIT)}))
    assert held_files.get() is None


def test_an_address_names_no_code_and_no_option():
    wrong = state_of("goal=compare&method=mine.py:soft&column=--runs&protocol=oue", {}).wrong()
    assert set(wrong) == {"method", "column"}
    assert safe_name("/etc/passwd") == "passwd"
    assert safe_name("plan") == "./plan"
    assert safe_name("-") == "./-"
    assert safe_name("") == "file"


def test_what_nobody_touched_is_open_where_another_choice_leaves_it_no_place():
    for choice, other, name, start in (
        ("holds=reports", "holds=estimate", "n", "100000"),
        ("privacy=ldp", "", "radius", "2"),
    ):
        goal = f"goal={'estimate' if name == 'n' else 'places'}"
        assert state_of(f"{goal}&{choice}&{name}={start}", {}).values[name] == ""
        assert state_of(f"{goal}&{choice}&{name}=7", {}).values[name] == "7"
        assert state_of(f"{goal}&{other}", {}).values[name] == start


def test_everything_that_is_wrong_is_said_at_once():
    wrong = state_of("goal=plan&n=many&k=&within=200&sensitive=very&times=", {}).wrong()
    assert set(wrong) == {"n", "k", "within", "sensitive", "times"}
    state = state_of("goal=places&file=example&counts=people&radius=", {})
    with pytest.raises(InputError) as refusal:
        page_answer(state)
    assert "needs “How near?”" in faults(state, refusal.value)["privacy"]
    assert "drop the file again" in state_of("goal=compare&file=gone&name=a.csv", {}).wrong()["data"]


def test_a_simulated_value_is_shown_as_the_look_up_is():
    state = state_of("goal=compare&k=8&n=2000&method=norm_sub&protocol=oue,grr&simulated=yes", {})
    whole = page_answer(state)
    again = page_answer(state, whole.ranking.value)
    assert again.pieces == whole.pieces
    assert again.verdict() == whole.verdict()
    assert again.made_up().keys() == {"assumed.csv"}


def test_the_code_is_that_of_its_command(run, tmp_path):
    answer = page_answer(state_of("goal=compare&k=16&n=20000&method=norm_sub&protocol=olh", {}))
    words = [str(tmp_path) if word == "collection" else word for word in shlex.split(answer.code_line())[1:]]
    assert run(*words)[0] == 0
    with zipfile.ZipFile(io.BytesIO(answer.code())) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert files == {f"collection/{file.name}": file.read_bytes() for file in tmp_path.iterdir()}


@pytest.mark.usefixtures("own_members")
def test_no_code_is_offered_of_a_method_of_ones_own():
    state = state_of("goal=compare&k=4&n=500&simulated=yes", {})
    asked, few = ranking(state), Simulation(repetitions=4, max_repetitions=4)
    menu = Menu(method=f"{OWN_METHOD}:soft", protocol="grr")
    own = result_of(replace(asked, question=replace(asked.question, menu=menu, simulation=few)))
    answer = PageAnswer(state, None, own)
    assert "take_csv" in answer.pieces["reproduce"]
    assert "take_code" not in answer.pieces["reproduce"]
    assert "ldp-advise code" not in answer.pieces["reproduce"]


@over(product(["plan", "compare"], ["zipf", "uniform", "gaussian", "spike"]))
def test_the_first_sight_of_a_shape_simulates_nothing(goal, shape):
    first = state_of(f"goal={goal}&shape={shape}", {})
    for command in filter(None, (decision(first), ranking(first))):
        assert "--instant" in command.words or not command.files  # without a file all is predicted
    whole = replace(first, simulated=True)
    for command in filter(None, (decision(whole), ranking(whole))):
        assert "--instant" not in command.words
        with holding(command.files):
            assert simulated_frequencies(command.question).k == int(first.values["k"])  # no row is taken for a total
    assert first.question == whole.question


def test_as_many_people_are_simulated_and_as_often_as_the_page_says():
    command = ranking(replace(state_of("goal=plan&n=5000&times=5&eps=1", {}), simulated=True))
    with holding(command.files):
        assert simulated_frequencies(command.question).weights.sum() == 5000
    assert command.question.plurality.rounds == 5


@pytest.mark.parametrize("address", ["goal=estimate&file=example", "goal=places&file=example&counts=people"])
def test_the_first_sight_without_predictions_is_the_same_command_with_few_repetitions(address):
    first = state_of(address, {})
    few, whole = ranking(first).words, ranking(replace(first, simulated=True)).words
    assert "--reps" not in whole
    typed, at = Simulation(**first.goal.few).typed(), few.index("--reps")
    assert few[at : at + len(typed)] == typed
    assert few[:at] + few[at + len(typed) :] == whole


def test_a_file_is_parsed_once():
    held = HeldFile(FRUIT)
    for epsilon in ("1", "2"):
        page_answer(state_of(f"goal=compare&file=a&name=fruit.csv&eps={epsilon}", {"a": held}))
    assert len(held.made) == 1


def test_the_verdict_of_a_survey_hears_every_control_of_its_page():
    """Those of a file aside; with an ε there is nothing to advise."""
    changed = {"n": "5000", "k": "7", "within": "2", "sensitive": "high", "times": "3", "ordered": "yes"}
    assert {control.name for control in goals()[PLAN].controls} == {*changed, "eps", "column", "counts"}
    before = decision(state_of("goal=plan", {}))
    for name, value in changed.items():
        after = decision(state_of(f"goal=plan&{name}={value}", {}))
        assert before is not None
        assert after is not None
        assert after.words != before.words, name
