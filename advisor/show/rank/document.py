"""The document of a ranking, for all its metrics."""

from __future__ import annotations

from dataclasses import replace

from advisor.answers.rank.meaning import meaning
from advisor.answers.rank.result import Ranking
from advisor.figures import number
from advisor.show.model import Column, Document, Part, Role, Row, Sentence, Table
from advisor.show.rank.answer_words import answer_sentences, summary, verdict
from advisor.show.rank.data import rank_data, rank_records
from advisor.show.rank.solutions import solution_parts
from advisor.show.rank.table import ranked_table
from advisor.show.rank.trade_offs import compromise_sentences
from advisor.show.rank.words import (
    central_verdict,
    detail_sentences,
    next_round_sentence,
    note_sentences,
    setting_text,
    why_sentences,
)
from advisor.show.sentences import meaning_sentences
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, FrequencyOracle


def rank_document(rankings: tuple[Ranking, ...]) -> Document:
    """Return the document of a ranking for each metric."""
    first, request = rankings[0], rankings[0].request
    parts: list[Part] = [Sentence(text, Role.WARNING) for text in first.warnings]
    for ranking in rankings:
        parts += [verdict(ranking).sentence] if ranking is not first else []
        parts += _ranking_parts(ranking)
    parts += compromise_sentences(rankings)
    if first.why is not None:
        parts += [
            Sentence(text, Role.ANSWER if place == 0 else Role.DETAIL)
            for place, text in enumerate(why_sentences(first.why, first))
        ]
    parts += note_sentences(first)
    if first.recommendations and request.plan is not None and request.plan.solutions:
        parts += solution_parts(request.plan)
    if first.recommendations:
        parts += _details(first)
    several = len(rankings) > 1
    pairs = (
        f"{f'{ranking.metric} ' if several else ''}{ranking.best.protocol} {ranking.best.method}"
        for ranking in rankings
        if ranking.recommendations
    )
    best = "nothing is left"
    if first.recommendations:
        best = f"{PROTOCOLS[first.best.protocol].title} with {POSTPROCESSORS[first.best.method].title}"
    return Document(
        title=f"{best}: advice on local differential privacy",
        verdict=verdict(first),
        parts=tuple(parts),
        data=rank_data(rankings, summary),
        records=rank_records(rankings),
        value="\n".join(pairs),
        setting=f"{setting_text(request)}, {METRICS[first.metric].title}",
    )


def _ranking_parts(ranking: Ranking) -> list[Part]:
    """Return answer and table of one metric, and for an estimate those of the next round."""
    parts: list[Part] = [*central_verdict(ranking), *answer_sentences(ranking)]
    if not ranking.recommendations:
        return parts
    parts.append(replace(ranked_table(ranking), heading=f"{METRICS[ranking.metric].title} ({ranking.metric})"))
    if ranking.next_round is not None:
        later = replace(ranked_table(ranking.next_round), further=True)
        parts += [Sentence(next_round_sentence(ranking.next_round)), later]
    return parts


def _details(ranking: Ranking) -> list[Part]:
    """Return what is said on request: the protocols at this budget and domain, and what the budget means."""
    request = ranking.request
    rows = []
    for name in request.protocols:
        protocol = request.oracle(name)
        figures: tuple[str, ...] = ("–", "–", "–")
        if isinstance(protocol, FrequencyOracle):  # one p, one q and one noise for all values
            chances = ("–" if value is None else f"{value:.6g}" for value in (protocol.p, protocol.q))
            figures = (*chances, f"{protocol.noise(request.n).sd:.4g}")
        rows.append(Row((name, *figures, f"{protocol.report_bits:,}", number(protocol.attack_success))))
    columns = (
        Column("protocol", text=True),
        Column("p", "probability that a report supports the user's own value"),
        Column("q", "probability that it supports another value"),
        Column("sd at 0", "standard deviation of the raw estimate of a frequency of 0"),
        Column("bits"),
        Column("attack success"),
    )
    promise = meaning_sentences(meaning(ranking.best.epsilon or request.epsilon, request.k, ranking.best.protocol))
    return [
        Table(columns, tuple(rows), "Protocols at this ε and k", verbose=True, cut=False),
        *(Sentence(text, Role.LEGEND) for text in detail_sentences(ranking)),
        Sentence(f"Experiment {ranking.experiment_id}.", Role.LEGEND),
        *(Sentence(text, Role.LEGEND) for text in promise),
    ]
