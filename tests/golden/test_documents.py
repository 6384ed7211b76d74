"""One answer of each command as it is shown: at a terminal of 100 columns, and on its page.

``python -m tests.golden documents [NAME...]`` writes them anew; look at the difference.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.extensions.audit.answer import answer
from tests.golden.corpus import in_a_folder, shown
from tests.golden.words import assert_same, page_text

FOLDER = Path(__file__).parent / "documents"
PAGE = "--report OUT/page.html"  # one page a command: their pictures take most of the time
COMMANDS = {
    "rank": "ldp-advise --eps 1 --n 100k colours.csv --reps 4 --max-reps 8 -p oue,olh,grr --method norm_sub,eb_ns,none",
    "rank_verbose": f"ldp-advise --eps 1 --max-bits 40 --proper colours.csv --reps 4 --max-reps 4 -p oue,grr -v {PAGE}",
    "rank_ordered": "ldp-advise --eps 1 -m emd bands.csv --reps 4 --max-reps 4 -p oue,tree --method norm_sub,tree_eb",
    "rank_matrix": "ldp-advise --eps 1 -m l1,kl --matrix colours.csv --reps 4 --max-reps 4 -p oue",
    "rank_threat": f"ldp-advise fakes --eps 1 --threat 0.05 colours.csv --reps 4 --max-reps 4 -p oue {PAGE}",
    "rank_useless": "ldp-advise --eps 0.01 --n 100 colours.csv --reps 4 --max-reps 4 -p oue --method norm_sub,none",
    "rank_nothing": "ldp-advise --eps 1 --proper --unbiased colours.csv",
    "rank_bins": "ldp-advise --eps 1 -m emd --bin-width 10 --edges 0,80 --unit years numbers.txt --instant -p oue,tree",
    "look_up": "ldp-advise --eps 1 --k 300 --n 2M --top 3",
    "look_up_why": "ldp-advise --eps 1 --k 32 --metric emd --top 2 --why -p sw,tree,oue",
    "budgets": "ldp-advise --eps 0.5,1,2 --k 300 --n 2M",
    "budgets_some": "ldp-advise --eps 0.2,0.5,1,2 --k 18 --n 4000 -p grr,oue --method norm_sub",
    "budgets_none": "ldp-advise --eps 0.1,0.2 --k 500 --n 1000 -p grr,oue --method norm_sub",
    "rounds": "ldp-advise rounds --eps 1 --rounds 4 --k 64 --n 1M --top 2",
    "memoise": "ldp-advise rounds --eps 1 --eps-forever 2 --rounds 30 --changes 0.05 --k 64 --n 1M",
    "attributes": "ldp-advise columns --eps 1 --attributes 4 --k 64 --n 1M --top 2",
    "columns": "ldp-advise columns --eps 1 --n 100k ages_and_towns.csv --column age --column town --instant",
    "shuffler": "ldp-advise shuffler --central-eps 0.5 --delta 1e-8 --n 1M --k 64 --top 2",
    "estimate": f"ldp-advise estimate estimate.csv --protocol oue --eps 1 --n 20000 --reps 4 --top 3 {PAGE}",
    "reports": f"ldp-advise reports grr.txt --protocol grr --eps 1 --k 8 --reps 4 --method norm_sub,eb_ns,none {PAGE}",
    "places": "ldp-advise places grid.csv --grid 4x5 --columns row,col --eps 1 --n 20k --reps 4 --max-reps 4 "
    f"-p oue {PAGE}",
    "places_metric": "ldp-advise places grid.csv --grid 4x5 --columns row,col --eps 1 --n 20k --reps 4 --max-reps 4 "
    "--privacy metric --radius 2 --method norm_sub,none --curve 1,2",
    "plan": f"ldp-advise plan --target 0.1 --eps 1 --k 300 --instant --top 3 {PAGE}",
    "plan_budget": "ldp-advise plan --target 0.05 --n 2M --k 64 -m emd --ordered --instant --top 3",
    "plan_detect": "ldp-advise plan --detect 0.01 --eps 2 --k 32 -p oue",
    "plan_none": "ldp-advise plan --target 1e-9 --eps 1 --k 16 --instant --top 3",
    "sweep": f"ldp-advise sweep --eps 0.5,2 --n 10k,1M --k 16 -p grr,oue --method norm_sub,eb_ns --reps 4 {PAGE}",
    "pareto": f"ldp-advise pareto --eps 1 --k 256 --top 4 {PAGE}",
    "choose": f"ldp-advise choose --n 100k --k 18 --within 1 --sensitive high --times 2 {PAGE}",
    "choose_no": "ldp-advise choose --n 2000 --k 18 --within 1 --sensitive medium --times 1",
    "choose_unknown": "ldp-advise choose --n 500 --k 3 --within 5 --sensitive medium --times 1",
    "audit": f"ldp-advise audit --protocol grr --protocol olh --eps 1 --k 10 --trials 20k {PAGE}",
    "audit_grid": "ldp-advise audit -p grr -p oue --eps 1,2,4 --k 5,25 --trials 20k",
    "audit_attributes": "ldp-advise audit -p sue -p grr -p olh --eps 1 --k 10 --attributes 2 --trials 3k",
    "audit_hashes": "ldp-advise audit --lho 2,4 --k 10 --trials 20k",
    "audit_hashes_beside": "ldp-advise audit --lho 2,4 -p grr -p oue --eps 1 --k 10 --trials 20k",
    "audit_memoised": "ldp-advise audit -p olh --eps 1 --eps-forever 2 --memoize --k 10 --rounds 1,4 --trials 5k",
    "audit_leak": "ldp-advise audit --target client.py:honest --reports grr --eps 1 --k 5 --trials 2000",
    "epsilon": f"ldp-advise epsilon --eps 4 --k 100 {PAGE}",
    "epsilon_convert": "ldp-advise epsilon --flip-prob 0.25 -p rappor",
    "epsilon_shuffle": "ldp-advise epsilon --eps 4 --shuffle --n 1e4 --delta 1e-6 -p grr --k 100",
    "list": f"ldp-advise list {PAGE}",
    "explain_protocol": f"ldp-advise explain pgr --eps 1 --k 20 {PAGE}",
    "explain_method": "ldp-advise explain eb_ns",
    "explain_metric": "ldp-advise explain emd",
    "code": f"ldp-advise code -p grr --method norm_sub --eps 1 --k 4 --to OUT/client {PAGE}",
    "cite": f"ldp-advise cite pgr eb_ns {PAGE}",
    "knowledge": f"ldp-advise knowledge cells --eps 1 --k 256 --metric emd --top 4 {PAGE}",
}
HELP = (
    "",
    "estimate",
    "reports",
    "places",
    "plan",
    "sweep",
    "pareto",
    "columns",
    "rounds",
    "shuffler",
    "fakes",
    "choose",
    "audit",
    "epsilon",
    "code",
    "generate",
)


def document(name: str) -> dict[str, str]:
    """What a command shows, by the suffix of the file that keeps it."""
    with in_a_folder():
        found = {".txt": shown(COMMANDS[name])}
        if PAGE in COMMANDS[name]:
            found[".page.txt"] = page_text(Path("OUT/page.html").read_text(encoding="utf-8"))
        return found


def help_text(command: str) -> str:
    with in_a_folder():  # typer before 0.29 writes no dots behind an argument of several values
        return shown(f"ldp-advise {command} --help").replace("]...", "]")


MORE = ("budgets_", "choose_", "plan_")  # like which one is shown by default
ALIKE = {"rank": "rank_verbose", "rank_matrix": "rank_ordered", "reports": "estimate", "audit_grid": "audit"}
SHOWN = [pytest.param(name, marks=[pytest.mark.slow] * (name.startswith(MORE) or name in ALIKE)) for name in COMMANDS]


@pytest.mark.parametrize("name", SHOWN)
def test_answers_are_shown_as_they_are_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are composed, but not rendered: the text that is kept of a page has nothing of them.

    A client is audited in this process: nothing is shown of the other one that it has to itself.
    """
    monkeypatch.setattr("advisor.show.pictures._svg", lambda figure, salt: "<svg></svg>")
    monkeypatch.setattr("advisor.extensions.audit.command.answer_apart", answer)
    for suffix, text in document(name).items():
        assert_same(text, (FOLDER / f"{name}{suffix}").read_text(encoding="utf-8"))


@pytest.mark.parametrize("command", HELP)
def test_help_is_shown_as_it_is_kept(command: str) -> None:
    assert_same(help_text(command), (FOLDER / f"help_{command or 'main'}.txt").read_text(encoding="utf-8"))


def test_a_text_that_differs_is_told_apart() -> None:
    assert page_text("<p>2 <b>of</b> 3</p><style>p</style><tr><td>a</td><td>0.5</td></tr>") == "2 of 3\n| a | 0.5\n"
    for other in ("error 0.52 of 1", "error 0.50 of 2", "an error 0.50 of 1"):
        with pytest.raises(AssertionError):
            assert_same("error 0.50 of 1", other)
