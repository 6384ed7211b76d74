"""Clients that are not ours: a known fault is found, right ones are left in peace, wrong ones are told."""

from __future__ import annotations

import itertools
import math
import os
import random
from functools import cache

import numpy as np
import pytest
from scipy import stats

from simulator.audit import REPORTS, ClientError, audit_client
from simulator.audit.client_reports import reader_by_type
from simulator.hashing import DEFAULT_HASH, HASHES
from simulator.protocols import PROTOCOLS
from tests.cells import failures


def symmetric(epsilon):
    return 1 / (1 + math.exp(-epsilon / 2)), 1 / (1 + math.exp(epsilon / 2))


def optimised(epsilon):
    return 0.5, 1 / (math.exp(epsilon) + 1)


def unary_client(probabilities, *, faulty):
    """A unary-encoding client; the faulty one sets the true bit when either draw says so, and so too often."""

    def perturb(value, k, epsilon, rng):
        p, q = probabilities(epsilon)
        bits = (rng.random(k) < q).astype(int)
        true = rng.random() < p
        bits[value] = (bits[value] or true) if faulty else true
        return bits

    return perturb


def test_the_known_fault_is_found_below_one():
    def check(cell):
        probabilities, epsilon, k = cell
        found = audit_client(unary_client(probabilities, faulty=True), k, epsilon, "oue", trials=8000)
        assert found.leaks
        assert found.epsilon_lower_bound > epsilon

    cells = [(symmetric, 0.25, 2), (symmetric, 0.95, 25), (optimised, 0.25, 25), (optimised, 0.95, 2)]
    assert failures(cells, check) == {}


def test_a_right_client_is_flagged_no_more_often_than_alpha():
    """The pair attack is tight here, so that false alarms would show: 60 seeds, limit exceeded once in a million."""
    alpha, seeds = 0.1, 60
    alarms = sum(
        audit_client(unary_client(optimised, faulty=False), 2, 0.5, "oue", trials=300, alpha=alpha, seed=seed).leaks
        for seed in range(seeds)
    )
    assert alarms <= stats.binom.isf(1e-6, seeds, alpha)
    found = sum(
        audit_client(unary_client(optimised, faulty=True), 2, 0.5, "oue", trials=1500, alpha=alpha, seed=seed).leaks
        for seed in range(10)
    )
    assert found == 10  # negative control


def grr(value, k, epsilon):
    """Draws from Python's global generator, as much code does."""
    keep = random.random() < math.exp(epsilon) / (math.exp(epsilon) + k - 1)  # noqa: S311
    return value if keep else random.choice([other for other in range(k) if other != value])  # noqa: S311


def subset(value, k, epsilon):
    """Draws from numpy's global generator."""
    oracle = PROTOCOLS["ss"](k, epsilon)
    others = np.random.permutation([other for other in range(k) if other != value])  # noqa: NPY002
    held = np.random.random() < oracle.p  # noqa: NPY002
    return [value, *others[: oracle.omega - 1]] if held else list(others[: oracle.omega])


def hashed(value, k, epsilon, rng):
    g = round(math.exp(epsilon)) + 1
    seed = int(rng.integers(2**32))
    symbol = int(HASHES[DEFAULT_HASH](np.array([value]), np.array([seed]), g)[0])
    keep = rng.random() < math.exp(epsilon) / (math.exp(epsilon) + g - 1)
    return (symbol if keep else (symbol + int(rng.integers(1, g))) % g), seed


def laplace(value, k, epsilon, rng):
    cells = rng.laplace(scale=2 / epsilon, size=k)
    cells[value] += 1
    return list(cells)


@cache
def protocol_of(key, k, epsilon):
    return PROTOCOLS[key](k, epsilon)


def symbol_of(key):
    return lambda value, k, epsilon, rng: int(protocol_of(key, k, epsilon).perturb(np.array([value]), rng)[0])


@pytest.mark.parametrize(
    ("client", "reports"),
    [
        (grr, "grr"),
        (subset, "ss"),
        (hashed, "olh"),
        (laplace, "she"),
        (symbol_of("pgr"), "pgr"),
        (symbol_of("hr"), "hr"),
    ],
    ids=["grr", "ss", "olh", "she", "pgr", "hr"],
)
def test_every_type_of_report_is_read(client, reports):
    """The bounds of a right client hold what the closed form of its protocol says."""
    from simulator.audit.closed_form import log_ratio

    for attack in {"she": ("guess",), "pgr": ("pair",)}.get(reports, ("guess", "pair")):
        found = audit_client(client, 6, 1.0, reports, trials=1000, attack=attack, alpha=1e-4, values=(0, 1))
        expected = log_ratio(PROTOCOLS[reports](6, 1.0).attack_probabilities(attack, (0, 1)))
        assert found.epsilon_lower_bound <= expected <= found.epsilon_upper_bound
        assert found.epsilon_lower_bound > 0  # something was read


def test_a_client_that_sends_its_value_as_a_symbol_leaks():
    assert audit_client(lambda value, *_: value, 5, 1.0, "hr", trials=200).leaks


def test_a_report_may_be_an_iterator_and_is_read_once():
    def plain(value, k, epsilon):
        return iter([value])

    found = audit_client(plain, 4, 1.0, support=lambda report, k, epsilon: list(report), trials=3000)
    assert (found.hits, found.confusions) == (1500, 0)


def test_a_support_function_reads_any_report():
    def perturb(value, k, epsilon, rng):
        return f"<{value}>"

    def support(report, k, epsilon):
        return [int(report.strip("<>"))]

    found = audit_client(perturb, 5, 1.0, support=support, trials=1000)
    assert found.leaks
    assert found.confusions == 0
    assert found.hits == 500


def test_the_same_seed_gives_the_same_bound_and_puts_the_generators_back():
    random.seed(3)
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    first, again, other = (audit_client(grr, 5, 1.0, "grr", trials=200, seed=seed) for seed in (1, 1, 2))
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002
    assert first == again
    assert (first.hits, first.confusions) != (other.hits, other.confusions)


def crash(value, k, epsilon):
    raise RuntimeError("no   noise left")


@pytest.mark.parametrize(
    ("client", "reports", "message"),
    [
        (crash, "oue", "crash failed for value 0, k=4, epsilon=1: RuntimeError: no noise left"),
        (lambda *_: "0101", "oue", r"returned '0101' \(str\) for value 0: a report of oue is a vector of k=4"),
        (lambda *_: [0, 1, 2, 0], "oue", "vector of k=4 zeros and ones"),
        (lambda *_: [0, 1, 0], "rappor", "a report of rappor is a vector of k=4"),
        (lambda *_: None, "grr", r"returned None \(NoneType\)"),
        (lambda *_: 4, "grr", "one value in 0..3"),
        (lambda *_: 1.5, "grr", "one value in 0..3"),
        (lambda *_: [1, 1], "ss", "different values in 0..3"),
        (lambda *_: "12", "ss", "different values in 0..3"),
        (lambda *_: 3, "ss", "different values in 0..3"),
        (lambda *_: (9, 1), "olh", r"a symbol in 0..3"),
        (lambda *_: (0, -1), "olh", r"pair \(symbol, seed\)"),
        (lambda *_: [0.0, float("nan"), 1.0, 2.0], "she", "vector of k=4 numbers"),
        (lambda: 1, "grr", "TypeError"),
    ],
)
def test_what_is_wrong_with_a_client_is_told(client, reports, message):
    with pytest.raises(ClientError, match=message):
        audit_client(client, 4, 1.0, reports, trials=50)


class Abandoned(Exception):  # noqa: N818 - it is what it is
    """What cannot be shown."""

    def __str__(self):
        raise Abandoned


class Report:
    """A report that fails as soon as anything is done with it."""

    def fail(self, *_, **__):
        raise Abandoned

    __repr__ = __str__ = __len__ = __iter__ = __array__ = __eq__ = __int__ = __float__ = __index__ = __getitem__ = fail
    __hash__ = None


class Long:
    """A report that claims to have more entries than there is memory for."""

    def __len__(self):
        return 10**12

    def __getitem__(self, place):
        return 0


def late():
    yield 1
    raise Abandoned


def raising(error):
    def client(*_):
        raise error

    return client


HOSTILE_REPORTS = {
    "fails": Report,
    "long": Long,
    "endless": itertools.count,
    "endless of one": lambda: itertools.repeat(1),
    "late": late,
    "nested": lambda: [Report(), Report(), Report(), Report()],
    "objects": lambda: np.full(4, None, dtype=object),
    "a class": lambda: Report,
    "huge number": lambda: 10**400,
    "text": lambda: "\x1b[31m",
}


def test_hostile_reports_are_refused_in_one_line():
    def check(cell):
        reports, name = cell
        with pytest.raises(ClientError, match=f" for value 0: a report of {reports} is ") as refusal:
            audit_client(lambda *_: HOSTILE_REPORTS[name](), 4, 1.0, reports, trials=50)
        assert str(refusal.value).isprintable()

    assert failures(itertools.product(["grr", "oue", "ss", "olh", "she", "pgr"], HOSTILE_REPORTS), check) == {}


def test_hostile_answers_of_a_support_function_are_refused():
    def check(name):
        with pytest.raises(ClientError, match="it must give the different values"):
            audit_client(grr, 4, 1.0, support=lambda *_: HOSTILE_REPORTS[name](), trials=50)

    assert failures(HOSTILE_REPORTS, check) == {}


@pytest.mark.parametrize(
    ("client", "message"),
    [
        (raising(SystemExit(0)), "SystemExit: 0"),
        (raising(Abandoned()), "Abandoned"),
        (raising(StopIteration()), "StopIteration"),
        (raising(MemoryError()), "MemoryError"),
    ],
)
def test_whatever_a_client_does_is_one_error(client, message, capfd):
    with pytest.raises(ClientError, match=f"failed for value 0, k=4, epsilon=1: .*{message}$"):
        audit_client(client, 4, 1.0, "grr", trials=50)
    os.write(1, b"out")
    os.write(2, b"err")
    assert capfd.readouterr() == ("out", "err")


def test_a_first_report_that_is_wrong_is_the_last():
    calls = []

    def client(value, *_):
        calls.append(value)
        return "wrong"

    with pytest.raises(ClientError):
        audit_client(client, 4, 1.0, "grr", trials=50)
    assert calls == [0]


def test_the_first_wrong_report_is_shown():
    calls = iter(range(1000))

    def sometimes(value, k, epsilon):
        return 7 if next(calls) == 30 else value

    with pytest.raises(ClientError, match="returned 7"):
        audit_client(sometimes, 4, 1.0, "grr", trials=100)


def test_a_support_function_must_give_values():
    with pytest.raises(ClientError, match="it must give the different values"):
        audit_client(grr, 4, 1.0, support=lambda *_: 5, trials=10)
    with pytest.raises(ClientError, match="failed on the report"):
        audit_client(grr, 4, 1.0, support=lambda *_: 1 / 0, trials=10)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reports": "zz"}, "reports must be one of"),
        ({"reports": None}, "either reports or support"),
        ({"reports": "olh", "hash": "md5"}, "hash must be one of"),
        ({"attack": "best"}, "attack must be one of"),
        ({"values": (1, 1)}, "two different"),
        ({"trials": 0}, "trials must be at least 1"),
    ],
)
def test_bad_parameters_are_told(change, message):
    with pytest.raises(ValueError, match=message):
        audit_client(**{"client": grr, "k": 4, "epsilon": 1.0, "reports": "grr", "trials": 10, **change})


def test_report_types_are_those_of_known_protocols():
    assert set(REPORTS) <= set(PROTOCOLS)


# --- protocols for ordered domains -----------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["tree", "tree_half", "sw", "haar_hrr"])
def test_reports_of_ordered_protocols_are_read_as_the_protocol_reads_them(protocol: str) -> None:
    k, values = 12, (1, 7)
    member = PROTOCOLS[protocol](k, 1.0)
    reports = member.perturb(np.repeat([1, 7], 300), np.random.default_rng(0))
    read = reader_by_type(protocol, "client", k, 1.0, "mix64", None)(list(reports), 1)
    expected = member.supports(reports, values)
    for attack in ("guess", "pair"):
        np.testing.assert_array_equal(read.supports(values).chances(attack), expected.chances(attack))


@pytest.mark.parametrize(
    "report",
    [
        [4, 1, *[0] * 11],  # a height too many
        [0, 2, *[0] * 11],  # no bit
        [3, 1, 1, *[0] * 10],  # two nodes where one is named
        [3, *[0] * 12],  # none
        [1, *[0] * 11, 1],  # a bit beyond the nodes of the height
        [0, 1, 0],
        3,
        "0,1",
    ],
)
def test_what_is_no_report_of_a_tree_is_refused(report: object) -> None:
    tree = PROTOCOLS["tree"](12, 1.0)
    assert [type(oracle).__name__ for oracle in tree.inner] == ["OUE", "GRR", "GRR", "GRR"]
    given = np.array(report) if isinstance(report, list) else report
    good = tree.perturb(np.zeros(1, dtype=np.int64), np.random.default_rng(0))[0]
    read = reader_by_type("tree", "client", 12, 1.0, "mix64", None)
    with pytest.raises(ClientError, match="a report of tree is a vector of 1 \\+ k=13 numbers: the height"):
        read([good, given], 0)
