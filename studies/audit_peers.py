"""``python studies/audit_peers.py``: audits of the clients in published packages, as a table in Markdown.

Users who hold one of two values report through the client of the package, and an attacker bounds the privacy loss from
what arrives, as ``ldp-advise audit --target --values 0,1`` does. A subset is audited twice: as a set, and as the list
that the client returns, of which the attacker sees the first entry alone.

Needs the packages (extra ``peers``); what is not installed is left out. An old version stands first on the path:
``pip install --no-deps --target old pure-ldp==1.1.2 && PYTHONPATH=old python studies/audit_peers.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Annotated, Any

import peers
import typer
from common import Seed, footer, head, line, run, study

from simulator.audit import Audit, audit_client

app = study()


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


def audits(
    peer: peers.Peer, epsilons: Sequence[float], k: int, *, trials: int, attack: str, seed: int
) -> Iterator[tuple[str, list[Audit]]]:
    """Yield what is audited, in words, and one audit for each budget."""
    readings: list[tuple[str, dict[str, Any]]] = [("", {"reports": peer.protocol, "hash": "xxh32"})]
    if peer.protocol == "hr":  # its blocks, and their order, are not ours
        readings = [("", {"support": hadamard_support(peer)})]
    if peer.protocol == "ss":
        readings = [(", as a set", readings[0][1]), (", first entry", {"support": first_entry})]
    for how, reading in readings:
        found = []
        for epsilon in epsilons:
            peers.seed(seed)
            # It imports: from here on numba has a generator, which `audit_client` does not know.
            peer.client(0, k, epsilon)
            peers.seed(seed)
            # Histogram encoding has no supports, and so no pair of bits to attack.
            kind = "guess" if peer.protocol == "she" else attack
            # The two values of the source: what is looked for here is in all of them.
            asked = {**reading, "trials": trials, "attack": kind, "values": (0, 1), "seed": seed}
            found.append(audit_client(peer.client, k, epsilon, **asked))
        yield f"{peer.package} {peer.version} `{peer.name}`{how}", found


def row(name: str, protocol: str, found: Sequence[Audit]) -> str:
    """Return a row of the table; a loss above the promise is in bold."""
    cells = (f"**{one.epsilon_lower_bound:.3f}**" if one.leaks else f"{one.epsilon_lower_bound:.3f}" for one in found)
    return line(name, protocol, *cells)


@app.command()
def main(
    eps: Annotated[str, typer.Option(help="budgets")] = "0.25,0.5,1,2,4",
    k: Annotated[int, typer.Option(min=3, help="number of categories")] = 25,
    trials: Annotated[int, typer.Option(min=100, help="reports of each of the two values")] = 100_000,
    attack: Annotated[str, typer.Option(help="guess (LDP-Auditor's), pair or both")] = "both",
    package: Annotated[str, typer.Option(help="only this package")] = "",
    protocol: Annotated[str, typer.Option(help="only these protocols")] = "",
    seed: Seed = 0,
) -> None:
    """Audit the clients of the packages that are installed."""
    epsilons = [float(one) for one in eps.split(",")]
    chosen = [
        peer
        for peer in peers.installed()
        if package in ("", peer.package) and (not protocol or peer.protocol in protocol.split(","))
    ]
    if not chosen:
        sys.exit("audit_peers.py: none of the packages is installed: pip install 'ldp-advise[peers]'")
    about = f"{trials:,} reports of each value, k = {k}, seed {seed}, attack {attack}"
    typer.echo(f"{about}; lower bounds of the loss (99 %).\n")
    typer.echo(head("client", "here", *(f"ε = {epsilon:g}:" for epsilon in epsilons)))
    for peer in chosen:
        for name, found in audits(peer, epsilons, k, trials=trials, attack=attack, seed=seed):
            typer.echo(row(name, peer.protocol, found))
    typer.echo("\n" + footer(seed))


if __name__ == "__main__":
    run(app)
