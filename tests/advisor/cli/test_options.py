from __future__ import annotations

import inspect
import json
from collections import defaultdict
from dataclasses import dataclass
from functools import partial

import pytest

from advisor.checks import real
from advisor.cli import options
from advisor.cli.dispatch import _in_our_words
from advisor.cli.groups import COMMANDS, MAIN, _function
from advisor.cli.options import command_line, flags_of, spread
from advisor.errors import InputError
from advisor.question.option import Settings, option, options_of, refuse, require
from advisor.question.settings import Categories, Grid, Limits, Menu, Shape, Simulation, Terms
from tests.cells import over

# Declared more than once, with the reason: everything else has one declaration, and so one meaning and one default.
SEVERAL_DECLARATIONS = {
    **dict.fromkeys(
        ("--target", "--hash", "--all", "--rounds", "--attributes", "--solution"), "audits ask about other subjects"
    ),
    "--runs": "a ranking writes its repetitions, and an audit is repeated: both are called runs",
    "--to": "code and builds have directories of their own",
}


@dataclass(frozen=True, kw_only=True)
class Own(Settings):
    often: int | None = option("--often", help="how often", metavar="N", read=lambda _, value: int(str(value)))
    loud: bool = option("--loud", help="be loud")


def groups():
    for name in (MAIN, *COMMANDS):
        if name != "knowledge":
            _function(name)  # imports what declares its options
    waiting = [Settings]
    while waiting:
        group = waiting.pop()
        waiting += group.__subclasses__()
        if group.__module__.startswith("advisor."):
            yield group


def declared():
    for group in groups():
        for item, spec in options_of(group):
            if item.name in group.__annotations__:  # not what it has of another group
                yield group, spec


def test_no_flag_is_declared_with_two_meanings():
    seen = defaultdict(list)
    for group, spec in declared():
        if spec.variant:
            continue
        for flag in (name for names in spec.flags for name in names.split("/")):
            seen[flag].append(f"{group.__module__}.{group.__qualname__}")
    several = {flag: places for flag, places in seen.items() if len(places) > 1}
    assert {flag: places for flag, places in several.items() if flag not in SEVERAL_DECLARATIONS} == {}
    for command in (spread(_function(name)) for name in (MAIN, *COMMANDS) if name != "knowledge"):
        flags = flags_of(command)
        assert len(flags) == len(set(flags)), command.__name__


def test_a_command_is_made_of_its_groups_and_gets_them_checked():
    got = {}

    def greet_command(*, own: Own, domain: Categories) -> None:
        got.update(own=own, domain=domain)

    command = spread(greet_command)
    assert set(flags_of(command)) == {"--often", "--loud", "--k", "--ordered", "--unordered"}
    assert list(inspect.signature(command).parameters) == ["often", "loud", "k", "ordered"]
    command(often="3", loud=True, k="1e3", ordered=None)
    assert got == {"own": Own(often=3, loud=True), "domain": Categories(k=1000)}
    assert got["own"].given() == ("--often", "--loud")
    assert Categories(ordered=False).given() == ("--ordered",)


USERS = [
    *(("2M", 2_000_000), ("100k", 100_000), ("1.5m", 1_500_000), ("1e6", 10**6), ("1_000_000", 10**6)),
    *(("1,000,000", 10**6), (" 250 ", 250), (1e5, 100_000), ("1G", 10**9)),
    *(("2,000", 2000), ("2.0", 2), ("1.500M", 1_500_000), ("2.5M", 2_500_000)),
]


@over(USERS)
def test_numbers_of_users(words, users):
    assert Terms(n=words).n == users
    if "," not in str(words):  # which separates the numbers of a list
        assert Grid(users=words).users == (users,)


def test_lists_of_numbers():
    grid = Grid(epsilons="0.5, 1,2", users="1k,2k,1k", sizes="4,8")
    assert (grid.epsilons, grid.users, grid.sizes) == ((0.5, 1.0, 2.0), (1000, 2000), (4, 8))


def test_names_of_papers_and_metrics():
    menu = Menu(protocol=("SUE", "k-RR", "rappor"), method="Norm-Sub")
    assert (menu.protocol, menu.method) == (("rappor", "grr"), ("norm_sub",))
    assert Terms(metric=("EMD", "ALL")).every_metric
    spoken = ("average", "Deciles", "quantile", "median", "Kolmogorov-Smirnov", "Wasserstein")
    assert Terms(metric=spoken).metrics == ("mean", "quantiles", "ks", "emd")
    with pytest.raises(InputError) as caught:
        Menu(method=("nothing",))
    assert caught.value.fields == ("--method",)


NO_USERS = ["1.5", "k", "1,00", "1__0", "10kk", "ten", "", "1e40", "nan", "-5", True, "٣"]
ENDLESS = [10**5000, -(10**5000), 10**30, "1e99999999999", "9" * 5000]
# How it is made, words of the refusal, and the options that it blames.
WRONG = [
    *((partial(Terms, n=words), "n must be a whole number of at least 1", ("--n",)) for words in NO_USERS + ENDLESS),
    *((partial(real(0, 32), "eps", words), "eps must be a number", None) for words in ENDLESS),
    (partial(Terms, n="2.000"), "n: 2.000 is 2; write 2000 (a point is for decimals)", ("--n",)),
    (partial(Terms, n="12.500"), "n: 12.500 is no whole number; write 12500 (a point is for decimals)", ("--n",)),
    (partial(Grid, users="1k,"), "n must be values with commas between them, got '1k,'", ("--n",)),
    (partial(Terms, epsilon="1,5"), "eps takes one number here, got '1,5'", None),
    (partial(Shape, skew=1, shape="zipf"), "give either skew or shape", None),
    (partial(Limits, max_attack=1), "max-attack must be a number above 0 and below 1, got 1", ("--max-attack",)),
    (partial(Simulation, seed=-1), "seed must be a whole number of at least 0, got -1", ("--seed",)),
    (partial(Simulation, jobs=2000), "jobs must be a whole number of at least 1 and at most 1,024", ("--jobs",)),
    (partial(Terms(metric=("l1", "l2")).one_metric, "this"), "this answers for one metric at a time", None),
    (partial(refuse, ("--a", "--b"), "is for X"), "--a, --b are for X", ("--a", "--b")),
    (partial(require, ("--eps", None, "ε"), ("--k", 4, "k")), "--eps is missing: give ε", ("--eps",)),
    (
        partial(require, ("--eps", None, "ε"), ("--n", (), "users"), ("--k", None, "k")),
        "--eps, --n and --k are missing: give ε; users; k",
        ("--eps", "--n", "--k"),
    ),
]


@over(WRONG)
def test_a_refusal_is_one_short_line_and_carries_the_options_to_blame(make, words, flags):
    with pytest.raises(InputError) as caught:
        make()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200
    assert flags is None or caught.value.fields == flags


def test_words_that_can_mean_one_thing_are_done():
    for words, ours in (
        ("epsilon 1 --k 4", "epsilon --eps 1 --k 4"),
        ("generate zipf:1.2 --k 4", "generate --shape zipf:1.2 --k 4"),
        ("audit k-RR --eps 1", "audit --protocol k-RR --eps 1"),
        ("code answer.json", "code answer.json"),
        ("--estimate e.csv --budget=1 --json", "estimate e.csv --eps=1 --format=json"),
        ("--users 2M --epsilon 1 -k 4 -- -n", "--n 2M --epsilon 1 --k 4 -- -n"),
        ("--epsilon 1", "--epsilon 1"),  # and not the command
        ("knowledge", "knowledge info"),
    ):
        assert _in_our_words(words.split()) == ours.split()
    assert _in_our_words(["--column", "a b"]) == ["--column", "a b"]


LOOK_UP = ("--eps", "4", "--k", "16", "-p", "grr", "--format", "json")  # worth it: no search for what would be
YES, NO = ("1", "true", "Yes", "on"), ("0", "false", "FALSE", "no", "off", " off ")


@over(YES + NO)
def test_a_flag_of_the_environment_says_yes_or_no(word, *, run, monkeypatch):
    monkeypatch.setenv("LDP_ADVISE_ORDERED", word)
    flags = {"--ordered": True, "--unordered": False} if word in ("on", "off") else {}  # which go first
    for flag, ordered in ((), word in YES), *(((flag,), said) for flag, said in flags.items()):
        assert json.loads(run(*LOOK_UP, *flag)[1])["request"]["ordered"] is ordered


@over((*YES, *NO, ""))
def test_a_file_is_replaced_only_where_the_environment_or_the_command_line_says_so(word, *, run, monkeypatch, tmp_path):
    mine = tmp_path / "mine.json"
    mine.write_text("mine", encoding="utf-8")
    monkeypatch.setenv("LDP_ADVISE_FORCE", word)
    assert run(*LOOK_UP, "-o", mine)[0] == (0 if word in YES else 2)
    assert (mine.read_text(encoding="utf-8") == "mine") is (word not in YES)
    assert run(*LOOK_UP, "-o", mine, "--force")[0] == 0  # the command line goes first
    assert json.loads(mine.read_text(encoding="utf-8"))["recommendations"]


def test_the_environment_sets_numbers_and_lists_and_the_long_name_of_the_budget_works(run, monkeypatch):
    monkeypatch.setenv("LDP_ADVISE_N", "2M")
    monkeypatch.setenv("LDP_ADVISE_METRIC", "l1 l2")
    request = json.loads(run("--epsilon", "1", "--k", "16", "--format", "json")[1])["request"]
    assert (request["eps"], request["n"], request["metrics"]) == (1, 2_000_000, ["l1", "l2"])
    assert json.loads(run(*LOOK_UP, "--n", "5k")[1])["request"]["n"] == 5000  # the command line goes first
    monkeypatch.setenv("LDP_ADVISE_N", "many")
    assert "n must be a whole number" in run("--epsilon", "1", "--k", "16")[2]


def test_a_command_to_paste_has_the_environment_and_no_options_that_are_left_out(monkeypatch):
    monkeypatch.setenv("LDP_ADVISE_N", "5 M")
    typed = ("--eps", "1", "--report", "a b.html", "--report=c", "--k", "4", "--force", "d e", "--", "--report", "f")
    token = options.words.set(typed)
    pasted = command_line(without={"--report": True, "--force": False})
    options.words.reset(token)
    assert pasted == "LDP_ADVISE_N='5 M' ldp-advise --eps 1 --k 4 'd e' -- --report f"
