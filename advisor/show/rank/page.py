"""What a page shows of a ranking besides its document: pictures, reasons, and what to expect elsewhere."""

from __future__ import annotations

from advisor.answers.rank.outlook import Outlook
from advisor.answers.rank.result import Ranking, Why
from advisor.show.model import Figure, Part, Role, Section, Sentence
from advisor.show.pictures import to_svg
from advisor.show.pictures.frequencies import frequencies_figure
from advisor.show.pictures.ranking import ranking_figure
from advisor.show.rank.explorer import explorer_of
from advisor.show.rank.threat_words import defence_sentences, remedy_sentences
from advisor.show.rank.words import why_sentences


def page_sections(rankings: tuple[Ranking, ...], outlook: Outlook | None, why: Why | None) -> tuple[Section, ...]:
    """Return the sections of the page of a ranking, whose first pair has this outlook and this explanation."""
    first = rankings[0]
    if not first.recommendations:
        return ()
    pictures = (
        Figure("Top pairs", "errors of pairs", lambda: to_svg(ranking_figure(first), "ranking")),
        Figure(
            "Frequencies", "frequencies of one collection", lambda: to_svg(frequencies_figure(first), "frequencies")
        ),
    )
    explorer = () if outlook is None else (Section("What to expect", (explorer_of(outlook),), first=True),)
    return (*explorer, Section("Pictures", pictures), reasons_section(first, why))


def reasons_section(ranking: Ranking, why: Why | None) -> Section:
    """Return why the first pair is first."""
    return Section("Why", _reasons(ranking, why))


def _reasons(ranking: Ranking, why: Why | None) -> tuple[Part, ...]:
    if ranking.request.threat is not None:
        note = "The rules and the model behind predictions know no fake users; these reasons are of the simulation."
        return (
            Sentence(note, Role.NOTE),
            *(Sentence(text) for text in (*defence_sentences(ranking), *remedy_sentences(ranking))),
        )
    if why is None:
        return (Sentence("The model behind predictions does not cover this question, so it has no reasons to give."),)
    if ranking.source == "grid":
        return tuple(Sentence(text) for text in why_sentences(why, ranking))
    sentences = why_sentences(why)
    if why.method != ranking.best.method:
        sentences.insert(1, f"The simulation of this very case decides, and it puts {ranking.best.method} first.")
    note = "The ranking was simulated; these are the reasons of the rules and the model behind predictions."
    return (Sentence(note, Role.NOTE), *(Sentence(text) for text in sentences))
