"""What a page shows of a ranking besides its document: pictures, reasons, and what the budget promises."""

from __future__ import annotations

from advisor.answers.rank.result import Ranking
from advisor.answers.rank.why import explain
from advisor.show.model import Figure, Part, Role, Section, Sentence
from advisor.show.pictures import to_svg
from advisor.show.pictures.frequencies import frequencies_figure
from advisor.show.pictures.ranking import ranking_figure
from advisor.show.rank.explorer import explorer_of
from advisor.show.rank.threat_words import defence_sentences, remedy_sentences
from advisor.show.rank.words import why_sentences


def page_sections(rankings: tuple[Ranking, ...]) -> tuple[Section, ...]:
    """Return the sections of the page of a ranking."""
    first = rankings[0]
    if not first.recommendations:
        return ()
    pictures: tuple[Part, ...] = (
        Figure("Top pairs", "errors of pairs", lambda: to_svg(ranking_figure(first), "ranking")),
        Figure(
            "Frequencies", "frequencies of one collection", lambda: to_svg(frequencies_figure(first), "frequencies")
        ),
    )
    # Predictions, which let a page answer other questions, know no fake users.
    explorer = (
        () if first.request.threat is not None else (Section("What to expect", (explorer_of(first),), first=True),)
    )
    return (*explorer, Section("Pictures", pictures), reasons_section(first))


def reasons_section(ranking: Ranking) -> Section:
    """Return why the first pair is first."""
    return Section("Why", _reasons(ranking))


def _reasons(ranking: Ranking) -> tuple[Part, ...]:
    if ranking.request.threat is not None:
        note = "The rules and the model behind predictions know no fake users; these reasons are of the simulation."
        return (
            Sentence(note, Role.NOTE),
            *(Sentence(text) for text in (*defence_sentences(ranking), *remedy_sentences(ranking))),
        )
    try:
        why = explain(ranking) if ranking.why is None else ranking.why
    except ValueError:
        return (Sentence("The model behind predictions does not cover this question, so it has no reasons to give."),)
    if ranking.source == "grid":
        return tuple(Sentence(text) for text in why_sentences(why, ranking))
    sentences = why_sentences(why)
    if why.method != ranking.best.method:
        sentences.insert(1, f"The simulation of this very case decides, and it puts {ranking.best.method} first.")
    note = "The ranking was simulated; these are the reasons of the rules and the model behind predictions."
    return (Sentence(note, Role.NOTE), *(Sentence(text) for text in sentences))
