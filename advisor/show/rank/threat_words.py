"""What is said of an attacker among the users: what to do, what it is worth, and what it costs when nobody attacks."""

from __future__ import annotations

from advisor.answers.rank.result import Ranking
from advisor.figures import number, percent
from advisor.names import pair_text
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.ranking import PRACTICAL_RATIO

NO_MORE = 1.005  # ratio of two errors below which a figure would say "0 %"


def defence_sentences(ranking: Ranking) -> list[str]:
    """Return the error without and under the attack, before and after the choice, and what the choice costs."""
    defence, metric, best = ranking.defence, ranking.metric, ranking.best
    if defence is None:
        return []
    usual, chosen = pair_text(defence.protocol, defence.method), pair_text(*best.pair)
    if best.pair == (defence.protocol, defence.method):
        lines = [
            f"It is also the choice if nobody attacks: {metric} error {number(defence.unattacked)} then, and "
            f"{number(defence.attacked)} under the attack."
        ]
    else:
        lines = [
            f"The attack raises the {metric} error of {usual}, the best choice if nobody attacks, from "
            f"{number(defence.unattacked)} to {number(defence.attacked)}; {chosen} keeps it at "
            f"{number(defence.best_attacked)}.",
            _cost(ranking),
            *_either_way(ranking),
        ]
    if "suspects" in POSTPROCESSORS[best.method].needs:
        lines.append(
            "It needs the reports one by one, and works because the fake users promote "
            f"{len(ranking.request.promoted)} categories at once: who promotes one alone does not stand out."
        )
    return lines


def _cost(ranking: Ranking) -> str:
    defence = ranking.defence
    assert defence is not None  # noqa: S101 - the caller has looked
    figures = f"{ranking.metric} error {number(defence.best_unattacked)} instead of {number(defence.unattacked)}"
    more = defence.best_unattacked / defence.unattacked if defence.unattacked else 1.0
    price = (
        "costs nothing"
        if more < NO_MORE
        else f"costs {100 * (more - 1):.0f} % more error"
        if more < 2
        else f"has {more:.2g} times the error"
    )
    return f"If nobody attacks, this choice {price}: {figures}."


def _either_way(ranking: Ranking) -> list[str]:
    """Return the pair whose error is lowest in the worse of both cases, where it is another one."""
    cases = {row: max(row.error, row.error_unattacked or 0.0) for row in ranking.recommendations}
    safest = min(cases, key=lambda row: cases[row])
    if safest.pair == ranking.best.pair or cases[safest] * PRACTICAL_RATIO > cases[ranking.recommendations[0]]:
        return []
    return [
        f"If you do not know whether anybody attacks, {pair_text(*safest.pair)} is the safest: {ranking.metric} error "
        f"{number(safest.error)} under the attack, and {number(safest.error_unattacked or 0.0)} without."
    ]


def remedy_sentences(ranking: Ranking) -> list[str]:
    """Return what the remedies are worth beside the ordinary methods."""
    if ranking.defence is None:
        return []
    best = ranking.best
    helped = POSTPROCESSORS[best.method].is_remedy
    others = [row for row in ranking.recommendations if POSTPROCESSORS[row.method].is_remedy != helped]
    first = min(others, key=lambda row: row.error, default=None)
    lines = []
    if first is not None and not helped:
        lines.append(
            f"No remedy for poisoning does better here: the best of them, {pair_text(*first.pair)}, has "
            f"{ranking.metric} error {number(first.error)} under the attack."
        )
    elif first is not None:
        lines.append(
            f"Without a remedy the lowest error under the attack is {number(first.error)}, that of "
            f"{pair_text(*first.pair)}."
        )
    return lines


def threat_sentences(ranking: Ranking) -> list[str]:
    """Return what is simulated of the attack, and what else would help."""
    request = ranking.request
    targets = list(request.promoted)
    holders = float(request.counts[targets].sum() / request.counts.sum())
    fakes = max(1, round(request.threat * request.n)) if request.threat is not None else 0
    hashes = any(PROTOCOLS[name].report_kind == "hash" for name in request.protocols)
    how = "that are known" if request.targets else "drawn at random"
    lines = [
        f"The attack: {fakes:,} of the n = {request.n:,} users are fake and promote {len(targets)} "
        f"{'category' if len(targets) == 1 else 'categories'}, {how}, that {percent(holders)} of users hold. They send "
        f"the reports that help most{'; with local hashing, of any hash function' if hashes else ''}. Errors are "
        "against the frequencies of the honest users. A gain is how much the estimates of the promoted categories rise "
        "together, with such reports (max.) or with random ones (random)."
    ]
    if request.collected is not None:
        lines.append(
            "Detection of fakes (drop_fakes) is not ranked: it needs the reports one by one, and what was collected "
            "has only their sum left."
        )
    if not request.targets:
        lines.append("If you know what fake users would promote, say so with --targets: two more remedies use it.")
    return lines
