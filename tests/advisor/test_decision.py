import csv
import math
import re
from fractions import Fraction
from html.parser import HTMLParser
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from advisor.answers.dice import device_for
from advisor.show.decision import Decision
from advisor.show.model import Badge
from simulator import POSTPROCESSORS, PROTOCOLS
from tests.cells import over
from tests.golden.words import page_text

BUILD = "For the people who build it"
ORDER = (
    "What is asked",
    "What will be known",
    "What will not be known",
    "The promise to those who answer",
    "What must not be claimed",
    "What it costs in people",
)
PAPER = "On paper, without a computer"
VOID = {"meta", "link", "wbr", "input"}
ROOT = Path(__file__).parents[2]
STATES = ROOT / "examples/us_states_2020.csv"
SAMPLE = f"--eps 1 --n 100k {STATES} --reps 4 --max-reps 4 -p grr,oue --method norm_sub"


class Balanced(HTMLParser):
    """Raises for an element that is not closed where it should be, and an id that is there twice."""

    def __init__(self, page):
        super().__init__()
        self.stack = []
        self.ids = set()
        self.feed(page)
        assert self.stack == []

    def handle_starttag(self, tag, attrs):
        self.stack += [] if tag in VOID else [tag]
        mine = {value or "" for name, value in attrs if name == "id" and "svg" not in self.stack}
        assert not mine & (self.ids | {""}), attrs
        self.ids |= mine

    def handle_startendtag(self, tag, attrs):
        """Those of a picture close themselves."""

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag, self.getpos()


def decision(run, folder, words):
    page = folder / "page.html"
    code, _, err = run(*words.split(), "-q", "--for", "decision", "--report", str(page), "--force")
    assert code == 0, err
    Balanced(page.read_text(encoding="utf-8"))
    return page_text(page.read_text(encoding="utf-8"))


@over(
    (
        ("choose --n 2000 --k 2 --within 3 --sensitive high --times 1", (*ORDER, PAPER, BUILD)),
        (SAMPLE, (*ORDER, BUILD)),
        ("plan --target 0.1 --eps 1 --k 8 --instant", (*ORDER, PAPER, BUILD)),
    )
)
def test_no_budget_and_no_protocol_stand_above_the_last_section(words, headings, *, run, tmp_path):
    text = decision(run, tmp_path, words)
    above, below = text.split(f"{BUILD}\n")
    assert [line for line in text.splitlines() if line in (*ORDER, PAPER, BUILD)] == list(headings)
    assert not re.search(r"ε|epsilon|budget|--|protocol|attack", above)
    named = {key.lower() for key in (*PROTOCOLS, *POSTPROCESSORS)} - {"none", "the", "power", "norm", "em", "ms"}
    assert not named & set(re.findall(r"\w+", above.lower()))
    command = below.splitlines()[-1]
    assert command.startswith("ldp-advise ")
    assert not re.search("--for|--report", command)
    assert len(headings) < len(ORDER) or "ε = " in below


def test_the_figures_of_a_decision_are_those_of_the_answer(run, tmp_path):
    text = decision(run, tmp_path, SAMPLE)
    (people,) = re.findall(r"people give it \(([\d,]+) people\)", text)
    with STATES.open(encoding="utf-8") as file:
        counts = {row["state"]: int(row["count"]) for row in csv.DictReader(file)}
    least = int(people.replace(",", "")) * sum(counts.values()) / 100_000
    common = sorted((state for state in counts if counts[state] >= least), key=lambda state: -counts[state])
    assert f"{len(common)} of the answers are so common: {', '.join(common[:12])}" in text
    assert f"{len(counts) - len(common)} are so rare: " in text
    guess = math.ceil(100 * math.e / (1 + math.e))
    assert f"a guess between your answer and any other is right in at most {guess} of 100 cases" in text
    assert "Simulated, seed 0" in text


def test_the_docs_quote_the_page_of_their_command(run, tmp_path):
    docs = (ROOT / "docs/page.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"```sh\nldp-advise (choose .*?) --report office.html --for decision\n", docs)
    text = decision(run, tmp_path, command)
    quotes = re.findall(r"```text\n(.*?)\n```", docs)
    assert len(quotes) == 2
    assert all(quote in text for quote in quotes)


def test_where_predictions_end_nothing_is_said_of_what_would_be_known_and_of_other_people(run, tmp_path):
    text = decision(run, tmp_path, "choose --n 50 --k 2 --within 5 --sensitive medium --times 1")
    assert "from 50 people" in text
    assert not re.search(r"1,000 people|off by about|What will be known|On paper", text)
    ages = ROOT / "examples/age_bands.csv"
    text = decision(run, tmp_path, f"choose {ages} --n 2000 --within 1 --sensitive medium --times 1 --instant")
    assert "enough to make it worth it" not in text  # more people for half of a guess's error, not for what was asked


def test_several_reports_of_one_person_are_one_promise(run, tmp_path):
    text = decision(run, tmp_path, "choose --n 100k --k 4 --within 1 --sensitive high --times 2")  # twice ε = 0.44
    assert f"at most {math.ceil(100 / (1 + math.exp(-0.88)))} of 100 cases" in text


def test_so_many_open_answers_are_as_exact():
    shares = np.array([0.5, 0.2, 0.1, 0.1, 0.05, 0.05])
    one = Decision(Badge.COLLECT, "", people=2000, shares=shares, labels=(), basis="", error=0.02)
    assert one.openly is not None
    counts = (2000 * shares).astype(int)
    drawn = np.random.default_rng(1).multivariate_hypergeometric(counts, one.openly, 4000) / one.openly
    errors = np.abs(drawn - shares).mean(axis=1)
    assert errors.mean() == pytest.approx(0.02, rel=0.05)  # half a step of its two digits, and the noise


def test_dice_keep_the_budget_as_far_as_they_can():
    some = 0
    for k, epsilon in product(range(2, 13), np.geomspace(0.1, 8, 13).tolist()):
        device = device_for(k, epsilon, 1000)
        if device is None:
            assert k * math.ceil(360 / (math.expm1(epsilon) + k)) >= 360  # not even the spinner has an outcome left
            continue
        outcomes = range(1, device.outcomes + 1)
        answers = [[device.answer(outcome, own) for outcome in outcomes] for own in range(k)]
        chances = [[Fraction(row.count(answer), device.outcomes) for answer in range(k)] for row in answers]
        assert all(sum(row) == 1 for row in chances)
        loss = max(max(column) / min(column) for column in zip(*chances, strict=True))
        assert math.log(loss) == pytest.approx(device.epsilon, rel=1e-12)
        assert device.epsilon <= epsilon * (1 + 1e-12)
        if device.each > 1:  # with one outcome fewer for each answer it would break the promise
            assert math.log1p((device.truth + k) / (device.each - 1)) > epsilon
        some += 1
    assert some > 100
    assert device_for(13, 1.0, 1000) is None


def test_the_error_on_paper_is_that_of_the_raw_estimate():
    device, rng, n = device_for(3, 1.0, 900), np.random.default_rng(0), 900
    own = np.repeat(np.arange(3), n // 3)
    table = np.array([[device.answer(outcome, one) for outcome in range(1, device.outcomes + 1)] for one in range(3)])
    reports = table[own, rng.integers(device.outcomes, size=(4000, n))]
    shares = np.stack([(reports == one).mean(axis=1) for one in range(3)], axis=1)
    estimates = (shares - device.each / device.outcomes) / (device.truth / device.outcomes)
    assert np.abs(estimates - 1 / 3).mean() == pytest.approx(device.error(n), rel=0.03)
