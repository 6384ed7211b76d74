"""``python studies/audit_peers.py``: audits of the clients in published packages, as a table in Markdown.

Users who hold one of two values report through the client of the package, and an attacker bounds the privacy loss from
what arrives, as ``ldp-advise audit --target --values 0,1`` does. A subset is audited twice: as a set, and as the list
that the client returns, of which the attacker sees the first entry alone.

Needs the packages (extra ``peers``); what is not installed is left out. An old version stands first on the path:
``pip install --no-deps --target old pure-ldp==1.1.2 && PYTHONPATH=old python studies/audit_peers.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Annotated, Any

import peers
import typer
from common import footer, head, line, run

from simulator.audit import Audit, audit_client

EPSILONS, K = (0.25, 0.5, 1.0, 2.0, 4.0), 25


def first_entry(report: Any, _k: int, _epsilon: float) -> list[int]:
    """Return what the first entry of a report names, as an attacker reads it who minds the order."""
    return [int(report[0])]


def hadamard_support(peer: peers.Peer) -> Callable[[int, int, float], list[int]]:
    """Return what lists the values that a symbol of pure-ldp supports, by the tests of its own server."""

    @lru_cache
    def support(symbol: int, k: int, epsilon: float) -> list[int]:
        response = peer.ends(k, epsilon).server.hr
        if epsilon <= 1:  # one block, row value + 1
            return [value for value in range(k) if response.parity_check(value + 1, symbol) == 0]
        columns = []
        for value in range(k):
            block, row = divmod(int(response.permute[value]), response.partsz - 1)
            columns.append(block * response.partsz + row + 1)
        return [value for value, column in enumerate(columns) if response.entry_check(column, symbol) == 0]

    return support


def audits(peer: peers.Peer, trials: int, attack: str) -> Iterator[tuple[str, list[Audit]]]:
    """Yield what is audited, in words, and one audit for each budget."""
    usual: dict[str, Any] = {"reports": peer.protocol, "hash": "xxh32"}
    readings = {"": usual}
    if peer.protocol == "hr":  # its blocks, and their order, are not ours
        readings = {"": {"support": hadamard_support(peer)}}
    if peer.protocol == "ss":
        readings = {", as a set": usual, ", first entry": {"support": first_entry}}
    if peer.protocol == "she":  # histogram encoding has no supports, and so no pair of bits to attack
        attack = "guess"
    for how, reading in readings.items():
        found = []
        for epsilon in EPSILONS:
            peers.seed(0)
            # It imports: from here on numba has a generator, which `audit_client` does not know.
            peer.client(0, K, epsilon)
            peers.seed(0)
            # The two values of the source: what is looked for here is in all of them.
            found.append(audit_client(peer.client, K, epsilon, **reading, trials=trials, attack=attack, values=(0, 1)))
        yield f"{peer.package} {peer.version} `{peer.name}`{how}", found


def bound(audit: Audit) -> str:
    """Return the lower bound of the loss, in bold if it is above the promise."""
    return f"**{audit.epsilon_lower_bound:.3f}**" if audit.leaks else f"{audit.epsilon_lower_bound:.3f}"


def main(
    trials: Annotated[int, typer.Option(min=100, help="reports of each of the two values")] = 100_000,
    attack: Annotated[str, typer.Option(help="guess (LDP-Auditor's), pair or both")] = "both",
    package: Annotated[str, typer.Option(help="only this package")] = "",
    protocol: Annotated[str, typer.Option(help="only these protocols")] = "",
) -> None:
    """Audit the clients of the packages that are installed."""
    chosen = [
        peer
        for peer in peers.installed()
        if package in ("", peer.package) and (not protocol or peer.protocol in protocol.split(","))
    ]
    if not chosen:
        sys.exit("audit_peers.py: none of the packages is installed: pip install 'ldp-advise[peers]'")
    typer.echo(f"{trials:,} reports of each value, k = {K}, attack {attack}; lower bounds of the loss (99 %).\n")
    typer.echo(head("client", "here", *(f"ε = {epsilon:g}:" for epsilon in EPSILONS)))
    for peer in chosen:
        for name, found in audits(peer, trials, attack):
            typer.echo(line(name, peer.protocol, *map(bound, found)))
    typer.echo("\n" + footer())


if __name__ == "__main__":
    run(main)
