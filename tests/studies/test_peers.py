import importlib.metadata
import math
import sys

import audit_peers
import numpy as np
import peers
import pytest

from advisor.inputs.reports.settings import readable_protocols
from simulator import PROTOCOLS, rng_for
from simulator.audit import audit_client
from simulator.populations import apportion
from tests.advisor.inputs.reading import read_reports

EPSILON, K, USERS = 1.0, 10, 1200
VALUES = np.repeat(np.arange(K), apportion(0.7 ** np.arange(K), USERS)).tolist()
READABLE = [peer for peer in peers.PEERS if peer.package != peers.TOOLBOX and peer.protocol in readable_protocols()]
PARAMETERS = {"hr": {"block_count": 1}, "ss": {"subset_size": 3}}  # that the packages choose at this epsilon and k


def named(peer):
    return f"{peer.package} {peer.name}"


def need(package):
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{package} is not installed (extra peers)")


def line(kind, report):
    """Write a report as someone who has it would."""
    if kind == "hash":
        symbol, seed = report
        return f"{symbol},{seed}"
    if kind in ("value", "symbol"):
        return str(report)
    if kind == "bits":
        return "".join(str(int(bit)) for bit in report)
    return (" " if kind == "subset" else ",").join(map(str, report))


def written(path, protocol, reports):
    kind = PROTOCOLS[protocol].report_kind
    head = ["symbol,seed"] if kind == "hash" else []  # their tuples begin with the symbol
    path.write_text("\n".join([*head, *(line(kind, report) for report in reports)]) + "\n")
    return path


def estimated(read, protocol, k, epsilon, *, clips, **parameters):
    linear = PROTOCOLS[protocol](k, epsilon, **parameters).linear
    assert linear is not None
    raw = linear.estimate(read.tally)
    clipped = np.maximum(raw, 0)
    return clipped / clipped.sum() if clips else raw


@pytest.mark.slow  # numba compiles the clients
@pytest.mark.filterwarnings("ignore:non-integer arguments to randrange:DeprecationWarning")  # Hadamard, Python 3.11
@pytest.mark.parametrize("peer", READABLE, ids=named)
def test_reports_of_a_package_are_read_as_its_own_server_reads_them(tmp_path, peer):
    need(peer.package)
    if peer.protocol == "hr" and sys.version_info >= (3, 12):
        pytest.skip(
            "pure-ldp's Hadamard client draws between floats up to epsilon 1, which Python refuses from 3.12 on"
        )
    ends = peer.make(K, EPSILON)
    peers.seed(1)
    reports = [ends.perturb(value) for value in VALUES]
    hashed = {"hash": "xxh32"} if PROTOCOLS[peer.protocol].report_kind == "hash" else {}
    parameters = PARAMETERS.get(peer.protocol, {})
    read = read_reports(
        str(written(tmp_path / "reports.csv", peer.protocol, reports)),
        peer.protocol,
        EPSILON,
        k=K,
        parameters=parameters,
        **hashed,
    )
    assert read.tally.n == USERS
    assert read.warnings == ()
    ours = estimated(read, peer.protocol, K, EPSILON, clips=peer.clips, **parameters, **hashed)
    assert np.allclose(ours, ends.estimate(reports), rtol=0, atol=1e-9)
    truth = np.bincount(VALUES, minlength=K) / USERS
    oracle = PROTOCOLS[peer.protocol](K, EPSILON, **parameters)
    # Clipping and rescaling move it: compared before them. False alarm: 10 categories, 5 sd, once in 10^5.
    raw = estimated(read, peer.protocol, K, EPSILON, clips=False, **parameters, **hashed)
    assert np.all(np.abs(raw - truth) < 5 * np.sqrt(oracle.variance(truth, USERS)))


def test_the_domain_of_blocks_has_every_label_once_and_every_place():
    class Blocks:
        part, partsz, insz = 2, 4, 5
        permute = (3, 1, 4, 0, 2)

    domain = peers.hadamard_domain(Blocks(), list("abcde"))
    # Place 2 (row - 1) + block: the label whose number permute gives, block by block, three rows each.
    assert domain == ["d", "a", "b", "c", "e", "unused 5"]
    order = rng_for(0, "blocks").permutation(5)
    Blocks.permute = tuple(order.tolist())
    assert sorted(label for label in peers.hadamard_domain(Blocks(), list("abcde")) if len(label) == 1) == list("abcde")


SIZE = 25


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


@pytest.mark.parametrize(
    ("epsilon", "trials"),
    [(1.0, 5000), *(pytest.param(epsilon, 20_000, marks=pytest.mark.slow) for epsilon in (0.5, 2.0))],
)
def test_the_bound_of_the_known_leak_is_below_what_it_reveals_and_above_the_promise(epsilon, trials):
    """The own bit is 1 with (1 + q)/2 for a 1/2: e^loss = e^epsilon (1 + q)/(1 - q)."""
    q = 1 / (math.exp(epsilon) + 1)
    loss = epsilon + math.log((1 + q) / (1 - q))
    found = audit_client(unary, SIZE, epsilon, "oue", trials=trials, attack="pair", alpha=1e-4)
    assert epsilon < found.epsilon_lower_bound < loss < found.epsilon_upper_bound


def test_the_order_of_a_subset_reveals_more_than_is_promised_and_the_set_does_not():
    """The first entry names the own value with p and another one with (1 - p)/(k - 1)."""
    epsilon, size = 1.0, 7
    loss = epsilon + math.log(size * (SIZE - 1) / (SIZE - size))
    as_set = audit_client(subset, SIZE, epsilon, "ss", trials=4_000)
    first = audit_client(subset, SIZE, epsilon, support=audit_peers.first_entry, trials=1_000, alpha=1e-4)
    assert not as_set.leaks
    assert epsilon < first.epsilon_lower_bound < loss < first.epsilon_upper_bound


def test_the_table_has_a_row_for_each_reading_and_leaks_in_bold(monkeypatch, capsys):
    stand_ins = (stand_in("oue", unary), stand_in("ss", subset), stand_in("grr", unary))
    monkeypatch.setattr(peers, "installed", lambda: stand_ins)
    monkeypatch.setattr(audit_peers, "EPSILONS", (1.0,))
    audit_peers.main(trials=2000, protocol="oue,ss")
    cells = [line.split("|")[1:4] for line in capsys.readouterr().out.splitlines() if line.startswith("| numpy")]
    assert [(name.split("`")[2].strip(), protocol.strip(), "**" in cell) for name, protocol, cell in cells] == [
        ("", "oue", True),
        (", as a set", "ss", False),
        (", first entry", "ss", True),
    ]
    monkeypatch.setattr(peers, "installed", lambda: ())
    with pytest.raises(SystemExit, match="none of the packages is installed"):
        audit_peers.main()
