import pytest

from simulator.progress import Steady

FEW = "-p oue,grr --method none,norm_sub --reps 4 --max-reps 16 --jobs 1"
COMMANDS = {  # and a stage of each
    f"--eps 1 {FEW} FRUIT": "leaders, round 1 of at most 2",
    f"--eps 1 --bias {FEW} FRUIT": "the named pair afresh",
    f"fakes --eps 1 --threat 0.05 {FEW} FRUIT": "nobody attacks",
    "estimate -p oue -e 1 --n 10000 --reps 4 --next-protocol grr,oue ESTIMATE": "all pairs",
    "sweep --eps 1,2 --n 1000 --k 4,8 -p oue,grr --method none --reps 4 --jobs 1": "cell 3 of 4",
    "plan --target 0.3 --n 1e6 --k 64 -p oue --method none,norm_sub": "oue with norm_sub: ε = ",
    "places FRUIT --privacy metric --radius 1 --eps 2 --reps 4 --max-reps 8 --ordered": "all pairs",
    "audit -p grr,oue --eps 1 --k 4 --trials 2000": "grr",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_progress_never_goes_back_and_ends_at_the_whole(run, monkeypatch, states, estimate, command):
    steps = []

    class Recorded(Steady):
        def __init__(self, *, enabled):
            super().__init__(lambda *step: None)
            assert enabled

        def __call__(self, stage, done, total):
            if total:
                steps.append((stage, done / total))  # before it is kept from going back

        __enter__ = lambda self: self  # noqa: E731
        __exit__ = lambda self, *error: None  # noqa: E731

    monkeypatch.setattr("advisor.cli.run.DelayedProgress", Recorded)
    assert run(*command.replace("FRUIT", states).replace("ESTIMATE", estimate).split())[0] == 0
    shares = [share for _, share in steps]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert any(COMMANDS[command] in stage for stage, share in steps if share < 1)
