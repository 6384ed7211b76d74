"""The document of a ranking, for all its metrics, and the extra sections of its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from advisor.answers.epsilon import meaning
from advisor.answers.rank.outlook import outlook
from advisor.answers.rank.result import Ranking, Why
from advisor.answers.rank.why import why_of
from advisor.figures import number, times
from advisor.question.plurality import BudgetUse, Solution
from advisor.question.request import nothing_left_reasons
from advisor.show.model import Column, Document, Figure, Part, Role, Row, Section, Sentence, Table, Tone, sentences
from advisor.show.pictures import to_svg
from advisor.show.pictures.frequencies import frequencies_figure
from advisor.show.pictures.ranking import ranking_figure
from advisor.show.rank.answer import answer_sentences, compromise_sentences, defence_sentences, verdict
from advisor.show.rank.data import rank_data, rank_records
from advisor.show.rank.explorer import explorer_of
from advisor.show.rank.notes import (
    central_verdict,
    detail_sentences,
    next_round_sentence,
    note_sentences,
    setting_text,
    why_sentences,
)
from advisor.show.rank.table import Field, ranked_table
from advisor.show.sentences import meaning_sentences
from simulator import METRICS, POSTPROCESSORS, FrequencyOracle

SOLUTION_NAMES = {
    "smp": "sample one (SMP)",
    "spl": "report all (SPL)",
    "rsfd": "fake the rest (RS+FD)",
    "rsrfd": "realistic fakes (RS+RFD)",
}


def rank_document(rankings: tuple[Ranking, ...], columns: Sequence[Field] = (), below: Sequence[Part] = ()) -> Document:
    """Return the document of a ranking for each metric.

    columns, below: columns beside those of every ranking, and what stands below the tables.
    """
    first, request = rankings[0], rankings[0].request
    parts: list[Part] = [*sentences(first.warnings, Role.WARNING)]
    answer, *others = map(verdict, rankings)
    parts += _ranking_parts(first, columns)
    for ranking, further in zip(rankings[1:], others, strict=True):
        parts += [*further.sentences, *_ranking_parts(ranking, columns)]
    parts += [*compromise_sentences(rankings), *below]
    if first.why is not None:
        reason, *more = why_sentences(first.why, first)
        parts += [Sentence(reason, Role.ANSWER), *sentences(more)]
    parts += note_sentences(first)
    parts += [sentence for sentence in answer_sentences(first) if sentence.role is Role.LEGEND]
    best = "nothing is left"
    if first.recommendations:
        parts += [] if request.plan is None else _solution_parts(request.plan)
        parts += [] if request.channels else _details(first)  # which have no p and q, and promises of their own
        best = f"{request.oracle(first.best.protocol).title} with {POSTPROCESSORS[first.best.method].title}"
    several = len(rankings) > 1
    pairs = (
        f"{f'{ranking.metric} ' if several else ''}{ranking.best.protocol} {ranking.best.method}"
        for ranking in rankings
        if ranking.recommendations
    )
    return Document(
        title=f"{best}: advice on local differential privacy",
        verdict=answer,
        further_verdicts=tuple(others),
        parts=tuple(parts),
        data=rank_data(rankings),
        records=rank_records(rankings),
        value="\n".join(pairs),
        setting=f"{setting_text(request)}, {METRICS[first.metric].title}",
        sections=partial(page_sections, rankings),
        picture=partial(ranking_figure, first) if first.recommendations else None,
    )


def _ranking_parts(ranking: Ranking, columns: Sequence[Field] = ()) -> list[Part]:
    """Return answer and table of a metric, and for an estimate those of the next round."""
    answer = (sentence for sentence in answer_sentences(ranking) if sentence.role is not Role.LEGEND)
    parts: list[Part] = [*central_verdict(ranking), *answer]
    if not ranking.recommendations:
        return parts
    parts.append(replace(ranked_table(ranking, columns), heading=f"{METRICS[ranking.metric].title} ({ranking.metric})"))
    if ranking.next_round is not None:
        later = replace(ranked_table(ranking.next_round), further=True, verbose=True)
        parts += [Sentence(next_round_sentence(ranking.next_round)), later]
    elif ranking.of_estimate and not ranking.request.protocols:
        parts.append(Sentence(f"For the next round nothing is left: {nothing_left_reasons(ranking.request.removals)}"))
    return parts


def _details(ranking: Ranking) -> list[Part]:
    """Return the legend: the protocols at this budget and domain, and the meaning of the budget."""
    request = ranking.request
    rows = []
    for name in request.protocols:
        protocol = request.oracle(name)
        figures: tuple[str, ...] = ("–", "–", "–")
        if isinstance(protocol, FrequencyOracle):  # the same p, q and noise for all values
            chances = ("–" if value is None else f"{value:.6g}" for value in (protocol.p, protocol.q))
            figures = (*chances, f"{protocol.noise(request.n).sd:.4g}")
        rows.append(Row((name, *figures, f"{protocol.report_bits:,}", number(request.attack_success(name)))))
    columns = (
        Column("protocol", text=True),
        Column("p", "probability that a report supports the user's own value"),
        Column("q", "probability that it supports another value"),
        Column("sd at 0", "standard deviation of the raw estimate of a frequency of 0"),
        Column("bits"),
        Column("attack success"),
    )
    best, guess = ranking.best, request.oracle(ranking.best.protocol).attack_success
    promise = meaning_sentences(meaning(best.epsilon or request.epsilon, request.k, best.protocol, guess))
    return [
        Table(columns, tuple(rows), "Protocols at this ε and k", verbose=True, cut=False),
        *sentences((*detail_sentences(ranking), f"Experiment {ranking.experiment_id}.", *promise), Role.LEGEND),
    ]


def _solution_parts(plan: BudgetUse) -> list[Part]:
    """Return the promise and the error of each solution for several attributes; nothing for one attribute."""
    if not plan.solutions:
        return []
    columns = (
        Column("promise", "between which users ε holds: any two, or two who differ in one attribute", text=True),
        Column("how", text=True),
        Column("protocol", "the one with the lowest error of its raw estimates", text=True),
        Column("ε report", "budget of one report", drop=3),
        Column("ε any two", "what is lost at most between any two users", drop=1),
        Column("ε one differs", "the same between users who differ in one attribute", drop=2),
        Column("error", "root mean squared error of a raw estimate, against the frequencies of all users"),
        Column("ratio", "error over the lowest one at the same promise"),
    )
    rows = tuple(map(_solution_row, plan.solutions))
    sentence = (
        "With fakes nobody learns which attribute a user reported; that costs accuracy at the same promise. As "
        "published, RS+FD keeps its ε only between users who differ in one attribute."
    )
    return [
        Table(columns, rows, f"Ways to collect {plan.attributes} attributes at the same promise", cut=False),
        Sentence(sentence, Role.NOTE),
    ]


def _solution_row(row: Solution) -> Row:
    fake = "" if row.fake is None else f" (fakes {row.fake})"
    cells = (
        "any two users" if row.promise == "tuple" else "one attribute",
        SOLUTION_NAMES[row.solution],
        row.protocol + fake,
        *((f"{epsilon:.3g}", epsilon) for epsilon in (row.epsilon_report, row.epsilon_tuple, row.epsilon_attribute)),
        (number(row.error, 3), row.error),
        (times(row.ratio), row.ratio),
    )
    return Row.of(cells, Tone.GOOD if row.ratio == 1 else Tone.PLAIN)


def page_sections(rankings: tuple[Ranking, ...]) -> tuple[Section, ...]:
    """Return the sections of the page of a ranking: what to expect of its first pair, pictures, and reasons."""
    first = rankings[0]
    if not first.recommendations:
        return ()
    pictures = (
        Figure("Top pairs", "errors of pairs", lambda: to_svg(ranking_figure(first), "ranking")),
        Figure(
            "Frequencies", "frequencies of one collection", lambda: to_svg(frequencies_figure(first), "frequencies")
        ),
    )
    expected = outlook(first)
    explorer = () if expected is None else (Section("What to expect", (explorer_of(expected),), first=True),)
    return (*explorer, Section("Pictures", pictures), reasons_section(first, why_of(first)))


def reasons_section(ranking: Ranking, why: Why | None) -> Section:
    """Return the reasons why the first pair is first."""
    note, texts = _reasons(ranking, why)
    return Section("Why", (*sentences(note, Role.NOTE), *sentences(texts)))


def _reasons(ranking: Ranking, why: Why | None) -> tuple[list[str], list[str]]:
    """Return the basis of the reasons, if it is not the answer itself, and the reasons."""
    if ranking.request.threat is not None:
        note = "The rules and the model behind predictions know no fake users; these reasons are of the simulation."
        return [note], defence_sentences(ranking)
    if ranking.request.central is not None:
        return [], ["The rules and the model know one budget of all protocols; with a shuffler each has its own."]
    if why is None:
        return [], ["The model behind predictions does not cover this question, so it has no reasons to give."]
    if ranking.source == "grid":
        return [], why_sentences(why, ranking)
    texts = why_sentences(why)
    if why.method != ranking.best.method:
        texts.insert(1, f"The simulation of this very case decides, and it puts {ranking.best.method} first.")
    return ["The ranking was simulated; these are the reasons of the rules and the model behind predictions."], texts
