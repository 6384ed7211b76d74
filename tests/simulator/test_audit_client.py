import itertools
import math
import os
import random
from functools import cache, partial

import numpy as np
import pytest
from scipy import stats

from simulator.audit import REPORTS, ClientError, audit_client
from simulator.audit.client import CLIENT_TRIALS, ClientSettings, most_suspicious
from simulator.audit.run import log_ratio
from simulator.protocols import PROTOCOLS
from tests.cells import failures, over


def unary_client(*, faulty):
    """A unary-encoding client; the faulty one sets the true bit when either draw says so, and so too often."""

    def perturb(value, k, epsilon, rng):
        bits = (rng.random(k) < 1 / (math.exp(epsilon) + 1)).astype(int)
        true = rng.random() < 0.5
        bits[value] = (bits[value] or true) if faulty else true
        return bits

    return perturb


def test_a_right_client_is_flagged_no_more_often_than_alpha():
    """The pair attack is tight here, so that false alarms would show: 60 seeds, limit exceeded once in a million."""

    def alarms(k, trials, seeds, *, faulty=False):
        client, alpha = unary_client(faulty=faulty), 0.1
        each = (audit_client(client, k, 0.5, "oue", trials=trials, alpha=alpha, seed=seed) for seed in range(seeds))
        return sum(one.leaks for one in each)

    limit = stats.binom.isf(1e-6, 60, 0.1)
    assert alarms(2, 200, 60) <= limit
    assert alarms(10, 300, 60) <= limit  # the two of ten values that look worst
    assert alarms(2, 1500, 4, faulty=True) == 4  # negative control


def grr(value, k, epsilon):
    """Draws from Python's global generator, as much code does."""
    keep = random.random() < math.exp(epsilon) / (math.exp(epsilon) + k - 1)  # noqa: S311
    return value if keep else (value + random.randrange(1, k)) % k  # noqa: S311


@cache
def protocol_of(key, k, epsilon):
    return PROTOCOLS[key](k, epsilon)


def own(key):
    """The client of a protocol of ours, for one value."""

    def perturb(value, k, epsilon, rng):
        report = protocol_of(key, k, epsilon).perturb(np.array([value]), rng)[0].tolist()
        return report[::-1] if REPORTS[key] == "hash" else report  # a client gives the symbol first

    return perturb


@over(
    [("grr", "guess"), ("ss", "pair"), ("olh", "guess"), ("hr", "pair"), ("she", "guess"), ("pgr", "pair")],
    slow=[("grr", "pair"), ("ss", "guess"), ("olh", "pair"), ("hr", "guess")],
)
def test_every_type_of_report_is_read(reports, attack):
    client = grr if reports == "grr" else own(reports)
    found = audit_client(client, 6, 1.0, reports, trials=600, attack=attack, alpha=1e-4, values=(0, 1))
    expected = log_ratio(PROTOCOLS[reports](6, 1.0).attack_probabilities(attack, (0, 1)))
    assert found.epsilon_lower_bound <= expected <= found.epsilon_upper_bound
    assert found.epsilon_lower_bound > 0  # something was read


def test_a_client_that_sends_its_value_leaks_however_it_is_read():
    assert audit_client(lambda value, *_: value, 5, 1.0, "hr", trials=200).leaks

    def text(value, k, epsilon, rng):
        return f"<{value}>"

    found = audit_client(text, 5, 1.0, support=lambda report, k, epsilon: [int(report.strip("<>"))], trials=1000)
    assert (found.leaks, found.hits, found.confusions) == (True, 500, 0)

    def once(value, k, epsilon):
        return iter([value])  # an iterator is read once

    found = audit_client(once, 4, 1.0, support=lambda report, k, epsilon: list(report), trials=3000)
    assert (found.hits, found.confusions) == (1500, 0)


def test_the_same_seed_gives_the_same_bound_and_puts_the_generators_back():
    random.seed(3)
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    for client in (grr, lambda value, k, _: value if np.random.random() < 0.6 else (value + 1) % k):  # noqa: NPY002
        first, again, other = (audit_client(client, 5, 1.0, "grr", trials=200, seed=seed) for seed in (1, 1, 2))
        assert first == again
        assert (first.hits, first.confusions) != (other.hits, other.confusions)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002


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


HOSTILE_REPORTS = [
    Report,
    Long,
    itertools.count,
    lambda: itertools.repeat(1),
    late,
    lambda: [Report(), Report(), Report(), Report()],
    lambda: np.full(4, None, dtype=object),
    lambda: Report,
    lambda: 10**400,
    lambda: "\x1b[31m",
]


def test_what_is_wrong_with_a_report_is_told_in_one_line():
    def check(cell):
        report, reports, message = cell
        with pytest.raises(ClientError, match=message) as refusal:
            audit_client(lambda *_: report(), 12 if reports == "tree" else 4, 1.0, reports, trials=50, values=(0, 1))
        assert str(refusal.value).isprintable()

    hostile = itertools.product(HOSTILE_REPORTS, ["grr", "oue", "ss", "olh", "she", "pgr", "tree"])
    cells = [(report, key, f" for value 0: a report of {key} is ") for report, key in hostile]
    nodes = "a report of tree is a vector of 1 \\+ k=13 numbers: the height"
    assert [type(oracle).__name__ for oracle in PROTOCOLS["tree"](12, 1.0).inner] == ["OUE", "GRR", "GRR", "GRR"]
    cells += [
        (lambda: [4, 1, *[0] * 11], "tree", nodes),  # a height too many
        (lambda: [0, 2, *[0] * 11], "tree", nodes),  # no bit
        (lambda: [3, 1, 1, *[0] * 10], "tree", nodes),  # two nodes where one is named
        (lambda: [3, *[0] * 12], "tree", nodes),  # none
        (lambda: [1, *[0] * 11, 1], "tree", nodes),  # a bit beyond the nodes of the height
        (lambda: [0, 1, 0], "tree", nodes),
        (lambda: 3, "tree", nodes),
        (lambda: "0101", "oue", r"returned '0101' \(str\) for value 0: a report of oue is a vector of k=4"),
        (lambda: [0, 1, 2, 0], "oue", "vector of k=4 zeros and ones"),
        (lambda: [0, 1, 0], "rappor", "a report of rappor is a vector of k=4"),
        (lambda: None, "grr", r"returned None \(NoneType\)"),
        (lambda: 4, "grr", "one value in 0..3"),
        (lambda: 1.5, "grr", "one value in 0..3"),
        (lambda: [1, 1], "ss", "different values in 0..3"),
        (lambda: "12", "ss", "different values in 0..3"),
        (lambda: 3, "ss", "different values in 0..3"),
        (lambda: (9, 1), "olh", r"a symbol in 0..3"),
        (lambda: (0, -1), "olh", r"pair \(symbol, seed\)"),
        (lambda: [0.0, float("nan"), 1.0, 2.0], "she", "vector of k=4 numbers"),
    ]
    assert failures(cells, check) == {}


def test_answers_of_a_support_function_must_be_values():
    def check(answer):
        with pytest.raises(ClientError, match="it must give the different values"):
            audit_client(grr, 4, 1.0, support=lambda *_: answer(), trials=50)

    assert failures([*HOSTILE_REPORTS, lambda: 5], check) == {}
    with pytest.raises(ClientError, match="failed on the report"):
        audit_client(grr, 4, 1.0, support=lambda *_: 1 / 0, trials=10)


def test_whatever_a_client_does_is_one_error(capfd):
    def check(cell):
        client, message = cell
        with pytest.raises(ClientError, match=f"failed for value 0, k=4, epsilon=1: .*{message}$"):
            audit_client(client, 4, 1.0, "grr", trials=50)

    cells = [
        (raising(RuntimeError("no   noise left")), "RuntimeError: no noise left"),
        (raising(SystemExit(0)), "SystemExit: 0"),
        (raising(Abandoned()), "Abandoned"),
        (raising(StopIteration()), "StopIteration"),
        (raising(MemoryError()), "MemoryError"),
        (lambda: 1, "TypeError: .*"),
    ]
    assert failures(cells, check) == {}
    os.write(1, b"out")
    os.write(2, b"err")
    assert capfd.readouterr() == ("out", "err")


def test_the_first_wrong_report_is_shown_and_the_last_to_be_asked_for():
    calls = itertools.count()

    def sometimes(value, k, epsilon):
        return 7 if next(calls) == 30 else value

    with pytest.raises(ClientError, match="returned 7"):
        audit_client(sometimes, 4, 1.0, "grr", trials=100)
    asked = []
    with pytest.raises(ClientError):
        audit_client(lambda value, *_: asked.append(value), 4, 1.0, "grr", trials=50)
    assert asked == [0]


@over(
    [
        ({"reports": "zz"}, "reports must be one of"),
        ({"reports": None}, "reports must be one of"),
        ({"reports": "olh", "hash": "md5"}, "hash must be one of"),
        ({"attack": "best"}, "attack must be one of"),
        ({"values": (1, 1)}, "two different ones of 0..3"),
        ({"values": (0, 4)}, "two different ones of 0..3"),
        ({"trials": 0}, "trials must be at least 1"),
        ({"alpha": 1.0}, "alpha must be between 0 and 1"),
    ]
)
def test_bad_parameters_are_told(change, message):
    with pytest.raises(ValueError, match=message):
        audit_client(**{"client": grr, "k": 4, "epsilon": 1.0, "reports": "grr", "trials": 10, **change})


@over(REPORTS)
def test_reports_are_read_as_the_protocol_reads_them_and_counted_as_they_are_read(key):
    assert set(REPORTS) <= set(PROTOCOLS)
    k = 12
    member = PROTOCOLS[key](k, 1.0)
    reports = member.perturb(np.arange(k).repeat(50), np.random.default_rng(0))
    pairs = np.array(reports)[:, ::-1] if REPORTS[key] == "hash" else reports  # a client gives symbol and seed
    reading = ClientSettings(k=k, epsilon=1.0, reports=key).reader("client")([*pairs], 0)
    each = [np.count_nonzero(reading.supports((value, 0)).first) for value in range(k)]
    assert reading.totals(np.arange(k)).tolist() == each
    for attack in ("guess", "pair"):
        expected = member.supports(reports, (1, 7)).chances(attack)
        np.testing.assert_array_equal(reading.supports((1, 7)).chances(attack), expected)


def leaking(value, k, epsilon, *, of, sent, share):
    """Send what a right client does, but for one value another report with some probability."""
    return sent if value == of and random.random() < share else grr(value, k, epsilon)  # noqa: S311


def test_a_leak_of_one_value_among_fifty_is_found_whatever_shows_it():

    def check(sent):
        client = partial(leaking, of=7, sent=sent, share=0.2)
        found = audit_client(client, 50, 1.0, "grr", alpha=1e-4)
        assert found.leaks
        assert (found.values[0], found.tried, found.trials) == (7, 50, CLIENT_TRIALS // 2)
        assert (found.looked_for or found.values)[0] == sent

    assert failures((7, 3), check) == {}
    ours = partial(leaking, of=7, sent=7, share=1.0)
    assert not audit_client(ours, 50, 1.0, "grr", values=(0, 1)).leaks  # which is all that used to be tried


def test_of_many_values_some_are_tried():
    found = audit_client(lambda value, *_: value, 5_000, 1.0, "grr", trials=2_000)
    assert (found.tried, found.leaks) == (200, True)
    assert audit_client(grr, 5, 1.0, "grr", trials=200, values=(3, 1)).tried == 2


def test_a_value_that_lacks_what_all_others_have_is_found():
    counts = np.full((4, 3), 50)
    counts[2, 1], counts[0, 1] = 5, 60
    found = most_suspicious(counts, 100)
    assert (found.values, found.sign) == ((0, 2), 1)
    counts[2, 0] = 90  # seen where nobody says which column belongs to which value
    assert most_suspicious(counts, 100).other == 0
    assert most_suspicious(counts, 100, own=(0, 1, 2, 2)).other == 2
