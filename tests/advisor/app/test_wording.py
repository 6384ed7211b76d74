import pickle
import re

import pytest

from advisor.errors import InputError
from advisor.extensions.app.goals import blamed, goals, worded
from advisor.extensions.app.pieces import faults, page_answer
from advisor.extensions.app.state import state_of
from advisor.inputs.held import HeldFile
from advisor.question.settings import Limits
from tests.cells import over

FILES = {"f": HeldFile(b"fruit,count\napple,500\nbanana,300\ncherry,150\ndate,50\n")}
STATES = ("goal=compare&file=f&name=fruit.csv&protocol=oue,grr",)
MORE_STATES = (
    "goal=plan&n=20000&deployable=yes&k=8",
    "goal=plan&eps=1&n=20000&deployable=yes&bits=4",
    "goal=compare&metric=kl",
    "goal=plan",
    "goal=compare&metric=emd",
    "goal=estimate&file=example",
    "goal=places&file=example&counts=people&radius=0.5",
)
WRONG = (
    ("goal=compare&metric=emd&file=f&name=fruit.csv", "metric", "“Do the categories have an order?” = yes"),
    ("goal=compare&k=2&file=f&name=fruit.csv", "k", "“Number of categories”: got 2"),
    ("goal=compare&column=zzz&file=f&name=fruit.csv", "column", "for “Column of the values”"),
    ("goal=places&file=example&counts=people&grid=4x4", "data", "give “Side of a cell in km”"),
    ("goal=compare&method=wavelet_eb&ordered=no", "method", "“Do the categories have an order?” = yes"),
)
MARKUP = re.compile(r"<(pre|script|style|code)\b.*?</\1>|<[^>]*>", re.DOTALL)
FLAG = re.compile(r"(--[a-z][a-z-]*)(?: [\w.]+(?= on the command line))?( on the command line)?")


def sentences(answer):
    for html in (answer.verdict(), *answer.pieces.values(), answer.rest(0), answer.why()):
        for text in MARKUP.sub("\n", html).split("\n"):
            yield text.partition("ldp-advise ")[0]


@pytest.mark.parametrize("address", [*STATES, *(pytest.param(one, marks=pytest.mark.slow) for one in MORE_STATES)])
def test_no_sentence_of_a_page_names_an_option_that_is_not_there(address):
    for sentence in sentences(page_answer(state_of(address, FILES))):
        assert [flag for flag, elsewhere in FLAG.findall(sentence) if not elsewhere] == []


@pytest.mark.parametrize(("address", "control", "words"), WRONG)
def test_a_message_stands_beside_its_control_and_names_others_as_the_page_does(address, control, words):
    state = state_of(address, FILES)
    with pytest.raises(InputError) as refusal:
        page_answer(state)
    messages = faults(state, refusal.value)
    assert list(messages) == [control]
    assert words in messages[control]
    assert [flag for flag, elsewhere in FLAG.findall(messages[control]) if not elsewhere] == []


def test_a_refusal_marks_the_control_of_its_field_whatever_it_names_first():
    goal = goals()["compare"]
    assert blamed(InputError("--n 5 is too few", ("--eps",)), goal) == "eps"
    assert blamed(InputError("--n 5 is too few", ("--unknown",)), goal) == "n"
    assert blamed(InputError("too few"), goal) == ""
    with pytest.raises(InputError) as refusal:
        Limits(max_bits="many")
    assert blamed(pickle.loads(pickle.dumps(refusal.value)), goal) == "bits"  # noqa: S301 - as it leaves its process


@over([(goal, control) for goal in goals().values() for control in goal.controls])
def test_every_option_of_a_control_is_called_by_its_label(goal, control):
    for flag in () if control.spec is None else control.spec.flags:
        yes, _, no = flag.partition("/")
        if yes.startswith("--"):  # else a letter, or what no command line has: no sentence uses it
            assert worded(f"leave {yes} out", goal) == f"leave “{control.label}”{' = yes' if no else ''} out"
            assert not no or worded(f"leave {no} out", goal) == f"leave “{control.label}” = no out"
