import json
import re
from dataclasses import replace
from html import unescape

import pytest

from advisor.cli.app import main
from advisor.cli.run import FORMATS, write
from advisor.extensions.audit.answer import answer
from advisor.show.model import Badge, Tone
from tests.advisor.conftest import BANDS
from tests.cells import over

FILES = {
    "fruit.csv": "fruit,count\napple,500\nbanana,300\ncherry,150\ndate,50\n",
    "rare.csv": "v,count\nbig,9000\n" + "".join(f"v{at},{10 + at}\n" for at in range(12)),
    "bands.csv": "band,count\n" + "".join(f"band{at:02},{count}\n" for at, count in enumerate(BANDS)),
    "people.csv": "age,colour\n" + "".join(f"{at % (1 + at % 40)},{at % (1 + at % 8)}\n" for at in range(3000)),
    "town.csv": "row,col,count\n" + "".join(f"{r},{c},{4000 >> (r + c)}\n" for r in range(3) for c in range(3)),
    "noise.csv": "v,estimate\n" + "".join(f"v{at},{1 / 12 + (-1) ** at / 7}\n" for at in range(12)),
    "leaky.py": "def client(value, k, epsilon):\n    return value\n",
}
LONGEST = 20  # words of a verdict; a refusal names all that was removed
UNDECIDED = "no_leak_shown"  # kind of the verdicts that are no decision
NOISY = "--method norm_sub,none --reps 8"
FEW = "-p grr --method norm_sub,none --reps 2 --max-reps 2"
PEOPLE = "people.csv --column age --column colour"
TOWN = "--columns row,col --grid 3x3 town.csv -p krr --method none,ibu --reps 2 --max-reps 2"
ANSWERS = (  # kind, reasons, command line
    ("worth_it", "", "--eps 2 --k 5"),
    ("worth_it", "most_undetectable", "--eps 1 rare.csv --instant"),
    ("marginal", "more_than_half", "--eps 1 --k 18 --n 1000 -p grr,oue"),
    ("marginal", "not_certain", f"--eps 1 fruit.csv {FEW}"),
    ("no_better_than_no_data", "more_than_half not_certain", "--eps 1 --k 64 --n 2000 --metric l1,l2 -p oue"),
    ("nothing_left", "", "--eps 1 --k 64 --max-bits 1"),
    ("worth_it", "", "--eps 1 --k 64 --matrix --metric l1,l2"),
    ("collect", "", "choose --n 150k --k 18 --within 1 --sensitive high --times 2"),
    ("do_not_collect", "just_enough", "choose --n 100k --k 18 --within 1 --sensitive high --times 2"),
    ("do_not_collect", "just_short", "choose --n 2000 --k 18 --within 1 --sensitive medium --times 1"),
    ("do_not_collect", "out_of_reach", "choose --n 2000 --k 18 --within 1 --sensitive high --times 12"),
    ("do_not_collect", "nothing_asked", "choose --n 2000 --k 18 --within 10 --sensitive high --times 1"),
    ("simulate_first", "not_covered", "choose --n 500 --k 3 --within 5 --sensitive medium --times 1"),
    ("do_not_collect", "unsure", "choose bands.csv --instant --n 5000 --within 0.92 --sensitive medium --times 1"),
    ("reached", "", "plan --eps 1 --k 8 --target 0.1 --instant -p grr,oue"),
    ("met_at_once", "", "plan --eps 8 --k 8 --target 0.5 --instant -p grr,oue"),
    ("no_data_needed", "", "plan --eps 1 --k 8 --target 0.9 --instant -p grr,oue"),
    ("out_of_reach", "", "plan --eps 1 --k 8 --target 0.00001 --instant -p grr,oue"),
    ("worth_it", "", "--eps 0.1,1,4 --k 18 --n 2000 -p grr,oue"),
    ("marginal", "more_than_half", "--eps 0.1,1 --k 18 --n 1000 -p grr,oue"),
    ("no_better_than_no_data", "more_than_half not_certain", "--eps 0.1,0.2 --k 18 --n 2000 -p grr,oue"),
    ("winners", "", f"sweep --eps 1,2 --n 500 --k 4 {FEW.partition(' --max')[0]}"),
    ("worth_considering", "", "pareto --eps 1 --k 8"),
    ("nothing_left", "", "pareto --eps 1 --k 50 --max-bits 1"),
    ("no_leak_shown", "", "audit --protocol grr --eps 1 --k 4 --trials 100"),
    ("leaks", "", "audit --target leaky.py:client --reports grr --eps 1 --k 4 --trials 500"),
    ("memoise", "", "rounds --eps 1 --eps-forever 2 --rounds 30 --k 16"),
    ("fresh_noise", "", "rounds --eps 1 --eps-forever 2 --rounds 2 --k 100"),
    ("worth_it", "", f"fakes --threat 0.05 --eps 4 people.csv --column colour {FEW}"),
    ("worth_it", "", "shuffler --central-eps 0.5 --delta 1e-8 --n 1M --k 64"),
    ("no_better_than_no_data", "more_than_half not_certain", f"estimate noise.csv -p oue --eps 0.3 --n 1000 {NOISY}"),
    ("spl", "", f"columns --eps 8 {PEOPLE} --instant"),
    ("no_better_than_no_data", "useless_columns", f"columns --eps .1 {PEOPLE} -p grr,oue --instant"),
    ("worth_it", "", f"places --eps 4 {TOWN}"),
    ("no_better_than_no_data", "more_than_half not_certain", f"places --eps 0.001 --n 100 {TOWN}"),
)
# Of commands that others show.
OTHERS = re.compile(
    r"--matrix|choose --n (2000|100k)|0.1,(1|0.2) --k 18|columns --eps 8|shuffler|noise|fakes|places --eps 4"
)
ALIKE = [one for one in ANSWERS if OTHERS.search(one[2])]


@pytest.fixture
def written(tmp_path, monkeypatch, capsys):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    texts = {}

    def write_all(document, output, target, view):
        for name in (*FORMATS, "quiet value", "quiet csv"):
            capsys.readouterr()
            # Pictures take time, and stand behind what is read first.
            shown, in_format = replace(document, sections=tuple), replace(output, format=name.split()[-1])
            write(shown, in_format, target, replace(view, quiet=name not in FORMATS))
            texts[name] = tuple(capsys.readouterr())

    monkeypatch.setattr("advisor.cli.run.write", write_all)
    monkeypatch.setattr("advisor.extensions.audit.command.answer_apart", answer)  # and not in another process

    def call(line):
        texts.clear()
        assert main(line.split()) == 0
        return texts

    return call


@pytest.mark.usefixtures("choose_once")
@over([one for one in ANSWERS if one not in ALIKE], slow=ALIKE)
def test_a_verdict_is_a_badge_and_a_short_sentence_first_in_every_format(kind, reasons, line, *, written):
    texts = {name: [" ".join(text.split()) for text in both] for name, both in written(line).items()}
    headline = json.loads(texts["json"][0])["headline"]
    assert (headline["kind"], headline["reasons"]) == (kind, reasons.split())
    badge, text, numbers = (headline[name] for name in ("badge", "text", "numbers"))
    assert bool(badge) == (kind != UNDECIDED)
    assert len(text.split()) <= LONGEST
    assert text.endswith(".")
    assert [mark for mark in (text, numbers) if re.search(r"[.!?] |\de[+-]\d", mark)] == []  # a sentence each
    words = f"{badge}: {text}" if badge else text
    assert {*texts} > {*FORMATS}
    for name in ("table", "plain"):
        assert texts[name][0].startswith(f"{words} {numbers}".strip())
    assert texts["markdown"][0].replace("\\", "").startswith(f"**{badge}:** {text}" if badge else text)
    shown = re.search(r'<section class="verdict"> ?<p class="answer[^>]*>(.*?)</p>', texts["html"][0])
    assert unescape(re.sub("<.*?>", "", shown[1])) == f"{badge} {text}".strip()
    said = f"verdict: {words} {numbers}".strip()
    assert [texts[name][1].startswith(said) for name in ("csv", "value")] == [True, True]
    assert (said in texts["quiet value"][1]) == (Badge(badge).tone != Tone.GOOD)


def test_rows_of_several_metrics_come_with_the_verdict_on_each(written):
    for epsilon in ("0.7", "0.1,0.7"):
        texts = written(f"--eps {epsilon} --k 64 --n 5000 -p oue -m topk,l1")
        for form in ("csv", "value"):
            said = [texts[name][1] for name in (form, f"quiet {form}")]
            badges = [re.findall(r"^verdict: ([\w ]+): for (\w+),", text, re.MULTILINE) for text in said]
            assert [metric for _, metric in badges[0]] == ["topk", "l1"]
            assert badges[1] == badges[0][-1:] == [("Almost", "l1")]


def test_an_interval_that_reaches_no_data_is_never_called_almost(written):
    for budgets in ("1", "0.5,1"):
        assert written(f"--eps {budgets} fruit.csv {FEW}")["table"][0].startswith("Nothing is sure: ")
