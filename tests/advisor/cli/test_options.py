"""Options: declared once, described, read from words and from the environment, and missing ones named at once."""

from __future__ import annotations

import inspect
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, make_dataclass
from pathlib import Path
from typing import TypeVar

import pytest

from advisor import advise
from advisor.checks import real, whole
from advisor.cli.groups import COMMANDS, MAIN, _function, commands_with
from advisor.cli.options import Bundle, flags_of, spread
from advisor.errors import InputError
from advisor.question.cleaning import Cleaning
from advisor.question.option import Option, Settings, option, options_of, refuse, require
from advisor.question.question import GROUPS
from advisor.question.settings import Categories, Grid, Limits, Menu, Plurality, Shape, Simulation, Terms
from tests.advisor.conftest import Run
from tests.cells import failures

# Declared more than once, with the reason: everything else has one declaration, and so one meaning and one default.
SEVERAL_DECLARATIONS = {
    **dict.fromkeys(
        ("--target", "--hash", "--all", "--rounds", "--attributes", "--solution"), "audits ask about other subjects"
    ),
    "--to": "code and builds have directories of their own",
}
MISSING = "/nowhere/at all.csv"


@dataclass(frozen=True, kw_only=True)
class Own(Settings):
    often: int | None = option("--often", help="how often", metavar="N", read=lambda _, value: int(str(value)))
    loud: bool = option("--loud", help="be loud")


T = TypeVar("T")


def below(base: type[T]) -> Iterator[type[T]]:
    for name in (MAIN, *COMMANDS):
        if name != "knowledge":
            _function(name)  # imports what declares its options
    waiting = [base]
    while waiting:
        group = waiting.pop()
        waiting += group.__subclasses__()
        if group.__module__.startswith("advisor."):
            yield group


def groups() -> Iterator[type[Settings]]:
    return below(Settings)


def declared() -> Iterator[tuple[type[Settings], Option]]:
    for group in groups():
        for item, spec in options_of(group):
            if item.name in group.__annotations__:  # not what it has of another group
                yield group, spec


def test_every_option_has_help_and_a_metavar_unless_it_is_a_flag() -> None:
    assert len(list(declared())) > 50
    for group, spec in declared():
        where = f"{group.__name__} {spec.flags[0]}"
        assert spec.help, where
        assert (
            spec.help[0].islower()
            or not spec.help[0].isalpha()
            or spec.help.split()[0].isupper()
            or (spec.help.startswith("Zipf"))
        ), where
        assert not spec.help.endswith("."), where
        assert (spec.metavar is None) == (spec.read is None), where
        assert group.panel != "Options", where


def test_no_flag_is_declared_with_two_meanings() -> None:
    seen: dict[str, list[str]] = defaultdict(list)
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


def test_a_command_is_made_of_its_groups_and_gets_them_checked() -> None:
    got = {}

    def greet_command(*, own: Own, domain: Categories) -> None:
        """Greet."""
        got.update(own=own, domain=domain)

    command = spread(greet_command)
    assert set(flags_of(command)) == {"--often", "--loud", "--k", "--ordered", "--unordered"}
    assert list(inspect.signature(command).parameters) == ["often", "loud", "k", "ordered"]
    command(often="3", loud=True, k="1e3", ordered=None)
    assert got == {"own": Own(often=3, loud=True), "domain": Categories(k=1000)}
    assert got["own"].given() == ("--often", "--loud")
    assert Categories(ordered=False).given() == ("--ordered",)


# --- numbers ---------------------------------------------------------------------------------------------------


USERS = [
    ("2M", 2_000_000),
    ("100k", 100_000),
    ("1.5m", 1_500_000),
    ("1e6", 10**6),
    ("1_000_000", 10**6),
    ("1,000,000", 10**6),
    (" 250 ", 250),
    (1e5, 100_000),
    ("1G", 10**9),
]


def test_numbers_of_users() -> None:
    def read(cell: tuple[object, int]) -> None:
        words, users = cell
        assert Terms(n=words).n == users  # type: ignore[arg-type]
        if "," not in str(words):  # which separates the numbers of a list
            assert Grid(users=words).users == (users,)  # type: ignore[arg-type]

    assert failures(USERS, read) == {}


NO_USERS = ["1.5", "k", "1,00", "1__0", "10kk", "ten", "", "1e40", "nan", "-5", True, "٣"]


def test_what_is_no_number_of_users() -> None:
    def refused(words: object) -> None:
        with pytest.raises(InputError, match="n must be a whole number of at least 1"):
            Terms(n=words)  # type: ignore[arg-type]

    assert failures(NO_USERS, refused) == {}


def test_lists_of_numbers() -> None:
    grid = Grid(epsilons="0.5, 1,2", users="1k,2k,1k", sizes="4,8")  # type: ignore[arg-type]
    assert (grid.epsilons, grid.users, grid.sizes) == ((0.5, 1.0, 2.0), (1000, 2000), (4, 8))
    with pytest.raises(InputError, match="n must be values with commas between them, got '1k,'"):
        Grid(users="1k,")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="eps takes one number here, got '1,5'"):
        Terms(epsilon="1,5")  # type: ignore[arg-type]


def test_names_of_papers_and_metrics() -> None:
    menu = Menu(protocol=("SUE", "k-RR", "rappor"), method="Norm-Sub")  # type: ignore[arg-type]
    assert (menu.protocol, menu.method) == (("rappor", "grr"), ("norm_sub",))
    assert Terms(metric=("EMD", "ALL")).every_metric
    spoken = ("average", "Deciles", "quantile", "median", "Kolmogorov-Smirnov", "Wasserstein")
    assert Terms(metric=spoken).metrics == ("mean", "quantiles", "ks", "emd")


# --- what does not go together ---------------------------------------------------------------------------------


WRONG = [
    (lambda: Shape(skew=1, shape="zipf"), "give either skew or shape"),
    (lambda: Cleaning(other=True), "give both, for example --keep-top 20 --other"),
    (lambda: Plurality(solution="smp"), "solution goes with attributes"),
    (lambda: Limits(max_attack=1), "max-attack must be a number above 0 and below 1, got 1"),
    (lambda: Limits(max_bits="1.5"), "max-bits must be a whole number"),  # type: ignore[arg-type]
    (lambda: Simulation(seed=-1), "seed must be a whole number of at least 0, got -1"),
    (lambda: Simulation(jobs=2000), "jobs must be a whole number of at least 1 and at most 1,024, got 2,000"),
    (lambda: Terms(epsilon=33), "eps must be between 1e-06 and 32, got 33: such reports protect nothing"),
    (lambda: Terms(metric=("l1", "l2")).one_metric("this"), "this answers for one metric at a time"),
    (lambda: refuse(("--a", "--b"), "is for X"), "--a, --b is for X"),
]


def test_wrong_values_get_one_line() -> None:
    def refused(cell: tuple[object, str]) -> None:
        make, words = cell
        with pytest.raises(InputError) as caught:
            make()  # type: ignore[operator]
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)

    assert failures(WRONG, refused) == {}


def test_a_refusal_carries_the_options_to_blame() -> None:
    def carries(cell: tuple[object, tuple[str, ...]]) -> None:
        make, flags = cell
        with pytest.raises(InputError) as caught:
            make()  # type: ignore[operator]
        assert caught.value.fields == flags

    cells = [
        (lambda: Simulation(repetitions=0), ("--reps",)),
        (lambda: Menu(method=("nothing",)), ("--method",)),
        (lambda: refuse(("--a", "--b"), "is for X"), ("--a", "--b")),
        (lambda: require(("--eps", None, "ε"), ("--k", 4, "k"), ("--n", None, "users")), ("--eps", "--n")),
    ]
    assert failures(cells, carries) == {}


def test_all_that_is_missing_is_named_in_one_message(run: Run) -> None:
    require(("--eps", 1.0, "x"))
    with pytest.raises(InputError, match=r"^--eps is missing: give ε$"):
        require(("--eps", None, "ε"), ("--k", 4, "k"))
    with pytest.raises(InputError, match=r"^--eps, --n and --k are missing: give ε; users; categories$"):
        require(("--eps", None, "ε"), ("--n", (), "users"), ("--k", None, "categories"))
    assert "--eps and SAMPLE are missing: give" in run()[2]
    assert "SAMPLE, --protocol, --eps and --n are missing: give" in run("estimate")[2]
    assert "FILES, --protocol and --eps are missing: give" in run("reports")[2]


FORBIDDEN = [
    (("-m", "emd", "--unordered"), "metric emd needs an ordered domain"),
    (("--method", "post_pos"), "changes only the answers of queries"),
    (("columns", "--n", "5", "--attributes", "10"), "attributes must be at most the number of users"),
    (("columns", "--solution", "spl"), "solution goes with attributes"),
    (("fakes", "--threat", "0.1", "--metric", "emd", "--unordered"), "metric emd needs an ordered domain"),
    (("--instant", "--reps", "5"), "--reps is for a simulation"),
    (("--skew", "1"), "--skew is for a question without a sample"),
    (("--why",), "--why explains a predicted answer"),
    (("--reps", "9", "--max-reps", "5"), "max-reps must be at least reps"),
    (("--k", "4", "--top-values", "9", "-m", "topk"), "top-values must be at most k=4"),
    (("--other",), "--keep-top"),
]


def test_what_options_alone_forbid_is_refused_before_the_file_is_read(run: Run) -> None:
    def refused(cell: tuple[tuple[str, ...], str]) -> None:
        arguments, words = cell
        code, out, err = run(*arguments, "--eps", "1", MISSING)
        assert (code, out) == (2, "")
        assert words in err
        assert "no such file" not in err

    assert failures(FORBIDDEN, refused) == {}


def test_an_unknown_option_is_looked_for_in_other_commands(run: Run) -> None:
    assert commands_with("--apply") == ["estimate", "reports"]
    assert commands_with("--eps")[0] == "rank"
    assert set(commands_with("--format")) >= {"rank", *COMMANDS} - {"knowledge", "app"}
    assert (
        "--apply is no option of ldp-advise, but of ldp-advise estimate, ldp-advise reports" in run("--apply", "x")[2]
    )
    assert "--counts is no option of ldp-advise reports, but of ldp-advise" in run("reports", "--counts", "x")[2]
    assert "there is no option --epz; did you mean --eps?" in run("--epz", "1")[2]


# --- the environment -------------------------------------------------------------------------------------------

LOOK_UP = ("--eps", "1", "--k", "16", "-p", "grr", "--format", "json")


@pytest.mark.parametrize(("value", "expected"), [("false", False), ("0", False), ("true", True), ("1", True)])
def test_the_environment_says_whether_there_is_an_order(
    run: Run, monkeypatch: pytest.MonkeyPatch, value: str, expected: bool
) -> None:
    monkeypatch.setenv("LDP_ADVISE_ORDERED", value)
    assert json.loads(run(*LOOK_UP)[1])["request"]["ordered"] is expected
    assert json.loads(run(*LOOK_UP, "--ordered")[1])["request"]["ordered"] is True


@pytest.mark.parametrize(("value", "code"), [("0", 2), ("false", 2), ("", 2), ("1", 0), ("true", 0)])
def test_the_environment_says_whether_files_are_replaced(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: object, value: str, code: int
) -> None:
    target = f"{tmp_path}/x.json"
    assert run(*LOOK_UP, "-o", target)[0] == 0
    monkeypatch.setenv("LDP_ADVISE_FORCE", value)
    assert run(*LOOK_UP, "-o", target)[0] == code


def test_the_environment_sets_numbers_and_lists_and_the_long_name_of_the_budget_works(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LDP_ADVISE_N", "2M")
    monkeypatch.setenv("LDP_ADVISE_METRIC", "l1 l2")
    request = json.loads(run("--epsilon", "1", "--k", "16", "--format", "json")[1])["request"]
    assert (request["eps"], request["n"], request["metrics"]) == (1, 2_000_000, ["l1", "l2"])
    monkeypatch.setenv("LDP_ADVISE_N", "many")
    assert "n must be a whole number" in run("--epsilon", "1", "--k", "16")[2]


def test_a_flag_that_the_environment_denies_is_off(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def off(word: str) -> None:
        mine = tmp_path / "mine.json"
        mine.write_text("mine", encoding="utf-8")
        monkeypatch.setenv("LDP_ADVISE_FORCE", word)
        assert run("--eps", "1", "--k", "8", "-o", str(mine))[0] == 2
        assert mine.read_text(encoding="utf-8") == "mine"
        assert run("--eps", "1", "--k", "8", "-o", str(mine), "--force")[0] == 0  # the command line goes first

    assert failures(["0", "false", "FALSE", "no", "off", " off ", ""], off) == {}


@pytest.mark.parametrize("word", ["1", "true", "Yes", "on"])
def test_a_flag_that_the_environment_sets_is_on(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, word: str
) -> None:
    mine = tmp_path / "mine.json"
    mine.write_text("mine", encoding="utf-8")
    monkeypatch.setenv("LDP_ADVISE_FORCE", word)
    assert run("--eps", "1", "--k", "8", "-o", str(mine))[0] == 0
    assert json.loads(mine.read_text(encoding="utf-8"))["recommendations"]


def test_a_negatable_flag_of_the_environment_says_yes_or_no(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--eps", "1", "--k", "8", "--format", "json")
    for word, ordered in (("no", False), ("off", False), ("1", True)):
        monkeypatch.setenv("LDP_ADVISE_ORDERED", word)
        assert json.loads(run(*words)[1])["request"]["ordered"] is ordered
        assert json.loads(run(*words, "--unordered")[1])["request"]["ordered"] is False


@pytest.mark.parametrize("name", ["FORCE", "ORDERED", "QUIET", "HEADER"])
def test_a_flag_of_the_environment_that_says_neither_is_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(f"LDP_ADVISE_{name}", "maybe")
    code, _, err = run("--eps", "1", "--k", "8")
    assert code == 2
    assert f"LDP_ADVISE_{name} must be 1, on, true, yes, or 0, false, no, off, got 'maybe'" in err


@pytest.mark.parametrize("number", [10**5000, -(10**5000), 10**30, "1e99999999999", "9" * 5000], ids=range(5))
def test_numbers_beyond_all_bounds_are_refused_in_a_short_line(number: object) -> None:
    with pytest.raises(InputError, match="n must be a whole number of at least 1") as refusal:
        whole(1)("n", number)
    assert len(str(refusal.value)) < 200
    with pytest.raises(InputError, match="eps must be a number"):
        real(0, 32)("eps", number)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2.000", "n: 2.000 is 2; write 2000 (a point is for decimals)"),
        ("12.500", "n: 12.500 is no whole number; write 12500 (a point is for decimals)"),
    ],
)
def test_a_point_between_thousands_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        whole(1)("n", text)
    assert [whole(1)("n", fine) for fine in ("2,000", "2.0", "1.500M", "2.5M")] == [2000, 2, 1_500_000, 2_500_000]


def test_groups_and_bundles_are_made_with_keywords_alone() -> None:
    every = [*groups(), *below(Bundle)]
    positional = {
        f"{group.__name__}.{one.name}"
        for group in every
        for one in inspect.signature(group).parameters.values()
        if one.kind is not inspect.Parameter.KEYWORD_ONLY
    }
    assert len(every) > 50
    assert positional == set()


def test_an_option_above_the_others_of_its_group_shifts_none(monkeypatch: pytest.MonkeyPatch) -> None:
    every = [("min_bits", int | None, option("--min-bits", read=whole(1), metavar="N", help="at least N bits"))]
    every += [(one.name, one.type, field(default=one.default, metadata=one.metadata)) for one in fields(Limits)]
    usual = advise(eps=1, k=8, n=1000, max_bits=3, max_attack=0.5)
    group = make_dataclass("Limits", every, bases=(Settings,), frozen=True)
    monkeypatch.setitem(GROUPS, "limits", group)
    assert advise(eps=1, k=8, n=1000, max_bits=3, max_attack=0.5).recommendations == usual.recommendations
