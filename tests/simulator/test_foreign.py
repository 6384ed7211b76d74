# What is tested here prints, and ignores what it is given.
# ruff: noqa: T201

import os
import random
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from simulator import foreign
from simulator.benchmark import Experiment, judged, simulate
from simulator.foreign import ForeignError, PluginWarning, blame, containment, guard, short
from simulator.methods import POSTPROCESSORS, PostProcessor, observe
from simulator.metrics import METRICS, Metric
from simulator.protocols.unary import OUE
from simulator.race import race
from tests.cells import over

COUNTS = np.array([50, 30, 15, 5])


class Hostile(Exception):  # noqa: N818 - it is what it is
    def __str__(self):
        raise ZeroDivisionError


def leave(*_):
    raise SystemExit(0)


def fail(*_):
    raise Hostile


def overwrite(estimate, _noise):
    estimate[...] = 0.25
    return estimate


METHODS = {
    "raises": lambda estimate, noise: 1 / 0,
    "leaves": leave,
    "hostile": fail,
    "overwrites": overwrite,
    "nan": lambda estimate, noise: estimate * np.nan,
    "one_nan": lambda estimate, noise: np.where(np.arange(4) == 2, np.nan, estimate),
    "infinite": lambda estimate, noise: estimate + np.inf,
    "huge": lambda estimate, noise: np.where(estimate > 0.2, 1.5e308, estimate),
    "short": lambda estimate, noise: estimate[..., :-1],
    "scalar": lambda estimate, noise: 0.5,
    "list": lambda estimate, noise: estimate.tolist(),
    "nothing": lambda estimate, noise: None,
    "complex": lambda estimate, noise: estimate + 1j,
    "text": lambda estimate, noise: np.full(estimate.shape, "x"),
}
ERRORS = {
    "raises": lambda estimate, truth: 1 / 0,
    "nan": lambda estimate, truth: np.full(estimate.shape[:-1], np.nan),
    "below_zero": lambda estimate, truth: -np.abs(estimate - truth).sum(axis=-1),
    "scalar": lambda estimate, truth: 0.5,
    "of_three": lambda estimate, truth: np.zeros(3),
    "nothing": lambda estimate, truth: None,
}


def drawn(result):
    """A protocol whose support counts are something else."""
    return type("Faulty", (OUE,), {"key": "faulty", "sample_support": lambda self, counts, rng: result(counts)})(4, 1.0)


PROTOCOLS_AT_FAULT = {
    "raises": lambda counts: 1 / 0,
    "nan": lambda counts: counts * np.nan,
    "negative": lambda counts: -counts,
    "short": lambda counts: counts[..., :-1],
    "nothing": lambda counts: None,
}


@pytest.fixture(autouse=True)
def faulty(monkeypatch):
    """Let what is called "faulty" come from another package."""
    monkeypatch.setitem(foreign.SOURCES, "faulty", "evil 1.0: entry point 'faulty'")
    monkeypatch.setitem(foreign.FAILURES, "faulty", "")


def experiment(method=None, metric=None, protocol=None):
    """Two methods of ours, and what is given beside them, under the name "faulty"."""
    claims = {"nonnegative": False, "sums_to_one": False, "reference": "nobody"}
    mine = {} if method is None else {"faulty": PostProcessor("faulty", "F", method, **claims)}
    methods = mine | {name: POSTPROCESSORS[name] for name in ("none", "norm_sub")}
    metrics = ({} if metric is None else {"faulty": Metric("faulty", "F", metric, unit="unit")}) | {"l1": METRICS["l1"]}
    oracles = {"oue": OUE(4, 1.0)} | ({} if protocol is None else {"faulty": protocol})
    pairs = tuple((oracle, name) for oracle in oracles for name in methods)
    return Experiment(COUNTS, oracles, methods, metrics, pairs, seed=3)


@contextmanager
def left_out():
    """Expect one warning, of one line."""
    foreign.FAILURES["faulty"] = ""
    with containment(), pytest.warns(PluginWarning, match="evil 1.0: entry point 'faulty' is left out: ") as caught:
        yield
    assert len(caught) == 1
    assert "\n" not in str(caught[0].message)


def raced(whole):
    runs = race(whole, ["l1"], repetitions=3, max_repetitions=12).of("l1")
    return {pair: list(errors) for pair, errors in runs.items()}


def judged_once(whole):
    """Errors of one collection over what may be the truth: nothing is simulated."""
    observed = observe(OUE(4, 1.0), OUE(4, 1.0).sample_tally(COUNTS, np.random.default_rng(0)))
    return {pair: list(errors) for pair, errors in judged(whole, "oue", observed, whole.methods).of("l1").items()}


@over(
    [
        *((raced, {"method": method}) for method in METHODS.values()),
        *((raced, {"metric": metric}) for metric in ERRORS.values()),
        *((raced, {"protocol": drawn(result)}) for result in PROTOCOLS_AT_FAULT.values()),
        *((judged_once, {"method": METHODS[name]}) for name in ("raises", "short", "nan", "overwrites")),
        (judged_once, {"metric": ERRORS["raises"]}),
    ]
)
def test_a_member_that_fails_costs_itself_only(way, member):
    alone = way(experiment())
    with left_out():
        found = way(experiment(**member))
    assert found == alone


def test_whole_numbers_are_figures_and_where_nothing_is_left_there_is_one_error():
    whole = experiment(method=lambda estimate, noise: np.round(estimate).astype(int))
    assert ("oue", "faulty") in raced(whole)  # and warnings are errors
    said = r"all that was asked for has failed; .* NaN"
    for whole, metric in ((experiment(method=METHODS["nan"]), "l1"), (experiment(metric=ERRORS["nan"]), "faulty")):
        with pytest.warns(PluginWarning), pytest.raises(ForeignError, match=said):
            race(whole, [metric], menu=[("oue", "faulty")], repetitions=3, max_repetitions=3)


def test_a_member_of_ours_keeps_raising(monkeypatch):
    monkeypatch.delitem(foreign.SOURCES, "faulty")
    members = ({"method": METHODS["raises"]}, {"metric": ERRORS["raises"]}, {"protocol": drawn(lambda counts: 1 / 0)})
    for way, member in [*((raced, member) for member in members), (judged_once, members[0])]:
        with pytest.raises(ZeroDivisionError):
            way(experiment(**member))


def test_what_foreign_code_prints_goes_to_standard_error(capsys):
    def talk(estimate, _noise):
        print("one")
        return estimate

    with containment():
        simulate(experiment(method=talk), 0, 2)
    assert capsys.readouterr() == ("", "one\n")
    print("two")
    assert capsys.readouterr().out == "two\n"


def test_what_foreign_code_changes_for_the_whole_process_is_put_back():
    def state():
        legacy = np.random.get_state(legacy=False)  # noqa: NPY002 - foreign code draws from it
        return Path.cwd(), np.geterr(), random.getstate(), legacy["state"]["key"].tolist(), legacy["state"]["pos"]

    def meddle():
        with containment():
            np.seterr(all="raise")
            os.chdir("/")
            random.seed(1)
            np.random.seed(1)  # noqa: NPY002
            assert all(now != then for now, then in zip(state()[:4], before, strict=False))
            fail()

    before = state()
    with pytest.raises(Hostile):
        meddle()
    assert state() == before


def test_an_exit_of_foreign_code_is_its_error_in_one_short_line_and_an_interrupt_is_the_users():
    with pytest.raises(ForeignError, match=r"^SystemExit: 0$"):
        guard(leave)
    with pytest.raises(ForeignError, match=r"^Hostile$"):
        guard(fail)

    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), containment():
        guard(interrupt)
    assert short("a\n\x1b[31m b") == "a ?[31m b"
    assert short(Hostile()) == ""
    assert len(short("long " * 1000)) == foreign.LONGEST


def test_an_error_is_blamed_on_the_package_it_comes_out_of(monkeypatch):
    monkeypatch.setattr(foreign, "_packages", {"evil": "evil 1.0: entry point 'faulty'"})
    space = {"__name__": "evil.inner"}
    exec("def fail(): raise RuntimeError('no')", space)  # noqa: S102 - code of another package
    with pytest.raises(RuntimeError) as theirs:
        space["fail"]()
    assert blame(theirs.value) == "evil 1.0: entry point 'faulty' fails: RuntimeError: no"
    with pytest.raises(ZeroDivisionError) as ours:
        METHODS["raises"](0, 0)
    assert blame(ours.value) == "there is no answer without what was left out:  (ZeroDivisionError: division by zero)"
    monkeypatch.delitem(foreign.FAILURES, "faulty")
    assert blame(ours.value) is None
