"""What an attacker sees: a few reports of one user, and how many answers each of them fits."""

from __future__ import annotations

import numpy as np

from advisor.answers.rank.meaning import meaning
from advisor.answers.rank.result import Ranking
from advisor.figures import percent
from advisor.show.model import Column, Part, Row, Section, Sentence, Table
from advisor.show.rank.table import attacker_text
from advisor.show.sentences import meaning_sentences
from simulator import FrequencyOracle
from simulator.seeding import rng_for

REPORTS = 6  # that are shown
LARGEST_DOMAIN = 5000  # above it a report fits too many answers to look at them all at once
SECTION = "What an attacker sees"
PROMISE = "The promise in words"


def attacker_section(ranking: Ranking, again: int = 0) -> Section:
    """Return what reports of a user with the most common answer give away; `again` draws others."""
    best, request = ranking.best, ranking.request
    protocol = request.oracle(best.protocol)
    success = best.attack_success
    sentences = [
        Sentence(
            f"From one report, the best guess of a user's answer is right in {percent(success)} of cases, "
            f"{attacker_text(request)}. A report has {protocol.report_bits:,} bits."
        )
    ]
    parts: tuple[Part, ...] = tuple(sentences)
    if isinstance(protocol, FrequencyOracle) and request.k <= LARGEST_DOMAIN and best.protocol != "she":
        parts += (_reports(ranking, protocol, again),)
    return Section(SECTION, parts)


def _reports(ranking: Ranking, protocol: FrequencyOracle, again: int) -> Table:
    request = ranking.request
    answer = int(np.argmax(request.counts))
    stream = rng_for(request.seed, "attacker", protocol.key, again)
    rows = []
    for place in range(REPORTS):
        report = protocol.perturb(np.array([answer]), stream)
        fits = np.asarray(protocol.support(report)) > 0
        told = "yes" if fits[answer] else "no: it misleads"
        rows.append(Row((str(place + 1), f"{int(fits.sum()):,} of {request.k:,}", told)))
    label = request.labels[answer] if request.labels else str(answer)
    return Table(
        (Column("report", text=True), Column("answers it fits"), Column("the true one too", text=True)),
        tuple(rows),
        f"Six reports of users who all answer {label!r}",
        cut=False,
    )


def promise_section(ranking: Ranking) -> Section:
    """Return what the budget promises, in words."""
    best, request = ranking.best, ranking.request
    said = meaning_sentences(meaning(best.epsilon or request.epsilon, request.k, best.protocol))
    return Section(PROMISE, tuple(map(Sentence, said)))
