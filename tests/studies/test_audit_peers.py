import math
import sys

import audit_peers
import numpy as np
import peers
import pytest
from typer.testing import CliRunner

from simulator.audit import audit_client

K = 25


def unary(value, k, epsilon):
    """Send what UEClient of pure-ldp 1.1.2 sends: the own bit stays 1 where the draw of the others has set it."""
    q = 1 / (math.exp(epsilon) + 1)
    bits = (np.random.random(k) < q).astype(int)  # noqa: NPY002
    if np.random.random() < 0.5:  # noqa: NPY002
        bits[value] = 1
    return bits.tolist()


def subset(value, k, epsilon):
    """Send what SS_Client of multi-freq-ldpy 0.2.5 returns: the own value, where it is in the set, comes first."""
    size = max(1, round(k / (math.exp(epsilon) + 1)))
    others = np.random.permutation(np.delete(np.arange(k), value))  # noqa: NPY002
    held = np.random.random() < size * math.exp(epsilon) / (size * math.exp(epsilon) + k - size)  # noqa: NPY002
    return [value, *others[: size - 1].tolist()] if held else others[:size].tolist()


def stand_in(protocol, client):
    return peers.Peer(
        "numpy", "client", protocol, lambda k, eps: peers.Ends(lambda value: client(value, k, eps), np.mean)
    )


@pytest.mark.parametrize("epsilon", [1.0, *(pytest.param(epsilon, marks=pytest.mark.slow) for epsilon in (0.5, 2.0))])
def test_the_bound_of_the_known_leak_is_below_what_it_reveals_and_above_the_promise(epsilon):
    """The own bit is 1 with (1 + q)/2 for a 1/2: e^loss = e^epsilon (1 + q)/(1 - q)."""
    q = 1 / (math.exp(epsilon) + 1)
    loss = epsilon + math.log((1 + q) / (1 - q))
    found = audit_client(unary, K, epsilon, "oue", trials=20_000, attack="pair", alpha=1e-4)
    assert epsilon < found.epsilon_lower_bound < loss < found.epsilon_upper_bound


def test_the_order_of_a_subset_reveals_more_than_is_promised_and_the_set_does_not():
    """The first entry names the own value with p and another one with (1 - p)/(k - 1)."""
    epsilon, size = 1.0, 7
    loss = epsilon + math.log(size * (K - 1) / (K - size))
    as_set = audit_client(subset, K, epsilon, "ss", trials=4_000)
    first = audit_client(subset, K, epsilon, support=audit_peers.first_entry, trials=4_000, alpha=1e-4)
    assert not as_set.leaks
    assert epsilon < first.epsilon_lower_bound < loss < first.epsilon_upper_bound


def test_the_table_has_a_row_for_each_reading_and_leaks_in_bold(monkeypatch):
    stand_ins = (stand_in("oue", unary), stand_in("ss", subset), stand_in("grr", unary))
    monkeypatch.setattr(peers, "installed", lambda: stand_ins)
    done = CliRunner().invoke(audit_peers.app, ["--eps", "1", "--trials", "2000", "--protocol", "oue,ss"])
    assert done.exit_code == 0, done.output
    cells = [line.split("|")[1:4] for line in done.output.splitlines() if line.startswith("| numpy")]
    assert [(name.split("`")[2].strip(), protocol.strip(), "**" in cell) for name, protocol, cell in cells] == [
        ("", "oue", True),
        (", as a set", "ss", False),
        (", first entry", "ss", True),
    ]
    monkeypatch.setattr(peers, "installed", lambda: ())
    assert CliRunner().invoke(audit_peers.app, []).exit_code == 1


@pytest.mark.slow  # imports statsmodels
@pytest.mark.filterwarnings("ignore:non-integer arguments to randrange:DeprecationWarning")  # Python 3.11
@pytest.mark.parametrize("epsilon", [1.0, 2.0])
def test_the_supports_of_a_hadamard_report_are_those_that_the_server_of_pure_ldp_counts(epsilon):
    pytest.importorskip("pure_ldp", reason="pure-ldp is not installed (extra peers)")
    peer = next(one for one in peers.PEERS if (one.package, one.protocol) == (peers.PURE, "hr"))
    if epsilon <= 1 and sys.version_info >= (3, 12):
        pytest.skip(
            "pure-ldp's Hadamard client draws between floats up to epsilon 1, which Python refuses from 3.12 on"
        )
    support = audit_peers.hadamard_support(peer)
    found = audit_client(peer.client, 10, epsilon, support=support, trials=20_000, alpha=1e-4)
    assert 0.7 * epsilon < found.epsilon_lower_bound <= epsilon  # the pair attack on the right supports is tight
