"""The page: sections in the order in which they are read, every word of the user's escaped."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from html import escape
from importlib.metadata import PackageNotFoundError, version

from advisor.document.page.glossary import GLOSSARY
from advisor.document.page.style import COLOURS, SCRIPT, STYLE
from advisor.epsilon.answer import InWords, in_words, sentences
from advisor.pictures import to_svg
from advisor.pictures.frequencies import frequencies_figure
from advisor.pictures.ranking import ranking_figure
from advisor.rank.advice import Advice, Why
from advisor.rank.table import BASELINE_NAMES
from advisor.rank.words import (
    answer_sentence,
    change,
    error_with_margin,
    footer_sentences,
    next_round_sentence,
    number,
    percent,
    times,
    why_sentences,
    worth_sentences,
)
from simulator import METRICS, __version__

PRINTED = 25  # rows of a table that go on paper
LIBRARIES = ("numpy", "scipy", "scikit-learn", "matplotlib")
Cell = tuple[str, float | None]


def report_html(advices: tuple[Advice, ...], command: str) -> str:
    """Return the page for one answer: one advice for each metric.

    Parameters
    ----------
    advices
        The advice, by metric.
    command
        The command that gives the same again.
    """
    first = advices[0]
    title = f"{first.best.protocol} with {first.best.method}: LDP advice"
    sections = [
        *(_answer(advice, place) for place, advice in enumerate(advices)),
        _figure(to_svg(frequencies_figure(first), "frequencies"), "Frequencies", "frequencies of one collection"),
        _section("Why", _why(first)),
        _section("What was assumed", _list([*first.warnings, *_rests_on(first)])),
        _section("What ε promises", _list(sentences(_meaning(first)))),
        _section("Do it again", f"<pre>{escape(command)}</pre>{_paragraphs(_versions(first), 'quiet')}"),
        _section("Glossary", _glossary()),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'; img-src data:\">"
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title><style>{STYLE}</style></head>\n'
        f"<body>\n{chr(10).join(sections)}\n<script>{SCRIPT}</script></body></html>\n"
    )


def _answer(advice: Advice, place: int) -> str:
    request = advice.request
    setting = f"ε = {request.epsilon:g}, k = {request.k:,}, n = {request.n:,}, {METRICS[advice.metric].title}"
    head = (
        f"<h1>Which protocol, which post-processing</h1>{_paragraphs([setting], 'quiet')}"
        if place == 0
        else f"<h2>{escape(setting)}</h2>"
    )
    unsure = "" if advice.beats_uniform_guess else " unsure"
    parts = [
        head,
        f'<p class="answer{unsure}">{escape(answer_sentence(advice))}</p>',
        _paragraphs(worth_sentences(advice)),
    ]
    if place == 0:
        parts.append(_figure(to_svg(ranking_figure(advice), "ranking"), "The first of the ranking", "errors of pairs"))
        parts += ["<h2>All pairs</h2>", _table(advice, None)]
    else:  # a page about all metrics must stay small
        hidden = len(advice.recommendations) - PRINTED
        parts += [_table(advice, PRINTED), _paragraphs([f"{hidden} more pairs."] if hidden > 0 else [], "quiet")]
    parts.append(_paragraphs([_compared(advice)], "quiet"))
    if advice.next_round is not None:
        said = _paragraphs([next_round_sentence(advice.next_round)])
        parts.append(f"<h2>The next round</h2>{said}{_table(advice.next_round, PRINTED)}")
    return "\n".join(parts)


def _table(advice: Advice, most: int | None) -> str:
    sure = any(row.probability_best is not None for row in advice.recommendations)
    heads = ["rank", "protocol", "method", f"{advice.metric} error", "to best", "95 % interval", "vs no PP"]
    heads += ["best" if sure else "won", "n′/n", "bits", "attack"]
    text = {"protocol", "method"}
    head = "".join(
        f'<th scope="col"{" class=text" if name in text else ""}><button type="button">{escape(name)}</button></th>'
        for name in heads
    )
    body = []
    for place, row in enumerate(advice.recommendations[:most]):
        share = row.probability_best if sure else row.win_share
        worth = None if row.equivalent_users is None else row.equivalent_users / advice.request.n
        bounds = row.ratio_low, row.ratio_high
        interval = None if None in bounds else f"{bounds[0]:.2f}–{bounds[1]:.2f}"
        raw = row.error_without_postprocessing
        cells: list[Cell] = [
            (f"{row.rank}=" if row.tied else str(row.rank), place),
            (row.protocol, None),
            (row.method, None),
            (error_with_margin(row, ranges=advice.over_populations), row.error),
            (times(row.ratio_to_best), row.ratio_to_best),
            (interval or "–", row.ratio_low),
            (change(row.error, raw), row.error / raw if raw else None),
            ("–" if share is None else f"{100 * share:.0f} %", share),
            (times(worth), worth),
            (f"{row.report_bits:,}", row.report_bits),
            (percent(row.attack_success), row.attack_success),
        ]
        kinds = [*(["top"] if row.tier == 1 else []), *(["beyond"] if place >= PRINTED else [])]
        row_cells = "".join(_cell(*cell, name in text) for cell, name in zip(cells, heads, strict=True))
        body.append(f'<tr class="{" ".join(kinds)}">{row_cells}</tr>')
    whole = f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody>"
    return f'<div class="wide"><table class="sortable">{whole}</table></div>'


def _cell(shown: str, value: float | None, is_text: bool) -> str:
    if is_text:
        return f'<td class="text">{escape(shown)}</td>'
    return f'<td data-value="{"" if value is None else f"{value:.6g}"}">{escape(shown)}</td>'


def _compared(advice: Advice) -> str:
    rows = []
    for row in advice.baselines:
        pair = "every category equally frequent" if row.protocol is None else f"{row.protocol} with {row.method}"
        ratio = "" if row.ratio_to_best is None else f" ({times(row.ratio_to_best)} the lowest)"
        rows.append(f"{BASELINE_NAMES[row.kind]}, {pair}: {number(row.error)}{ratio}")
    return "Shaded: the first tier. To compare with: " + "; ".join(rows) + "."


def _why(advice: Advice) -> str:
    why = advice.why if advice.why is not None else _explained(advice)
    if why is None:
        return _paragraphs(["The grid behind look-ups does not cover this question, so it has no reasons to give."])
    if advice.source == "grid":
        return _list(sentence.removeprefix("Why: ") for sentence in why_sentences(why))
    reasons = [sentence.removeprefix("Why: ") for sentence in why_sentences(why._replace(agrees=True))]
    if why.method != advice.best.method:
        reasons.insert(1, f"The simulation of this very case decides, and it puts {advice.best.method} first.")
    said = "The ranking was simulated; these are the reasons of the rules and the grid behind look-ups."
    return _paragraphs([said], "quiet") + _list(reasons)


def _explained(advice: Advice) -> Why | None:
    """Explain an answer that was simulated by what the grid knows of the same frequencies."""
    from advisor.rank.why import explain

    try:
        return explain(advice)
    except ValueError:
        return None


def _rests_on(advice: Advice) -> list[str]:
    why = [] if advice.why is None else why_sentences(advice.why)
    return [sentence for sentence in footer_sentences(advice) if sentence not in why]


def _meaning(advice: Advice) -> InWords:
    return in_words(advice.request.epsilon, advice.request.k, advice.best.protocol)


def _versions(advice: Advice) -> list[str]:
    libraries = []
    for name in LIBRARIES:
        try:
            libraries.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return [
        f"ldp-advise {__version__}, Python {platform.python_version()}, {', '.join(libraries)}; seed "
        f"{advice.request.seed}; experiment {advice.experiment_id or 'none'}."
    ]


def _glossary() -> str:
    entries = (f"<dt>{escape(word)}</dt><dd>{escape(said)}</dd>" for word, said in GLOSSARY.items())
    return f"<dl>{''.join(entries)}</dl>"


def _figure(svg: str, title: str, label: str) -> str:
    for colour, name in COLOURS.items():
        svg = svg.replace(colour, name)
    return f'<h2>{escape(title)}</h2><figure role="img" aria-label="{escape(label)}">{svg}</figure>'


def _section(title: str, content: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{content}</section>"


def _paragraphs(texts: Iterable[str], kind: str = "") -> str:
    start = f'<p class="{kind}">' if kind else "<p>"
    return "".join(f"{start}{escape(text)}</p>" for text in texts)


def _list(texts: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>"
