"""The document of a sweep: a table of winners for each k."""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple
from functools import partial
from itertools import product

from advisor.answers.rank.result import finite
from advisor.answers.sweep.result import Cell, PairError, SweepResult, Winner
from advisor.members.names import pair_text
from advisor.show.model import (
    Badge,
    Column,
    Document,
    Json,
    Part,
    Records,
    Role,
    Row,
    Scalar,
    Section,
    Sentence,
    Table,
    Tone,
    Verdict,
    plain,
    sentences,
)
from advisor.show.pictures import picture_section
from advisor.show.pictures.sweep import curves_figure, regret_figure
from advisor.show.rank.data import own_members
from advisor.show.sentences import assumed_sentences, unit_text
from simulator import __version__

CERTAIN = "*"  # a mark that all formats keep; formats with colour or weight use them as well
NO_RUNNER_UP = (None,) * 5  # margin, its interval, and the runner-up, which only winners have
COLUMNS = (
    "k",
    "eps",
    "n",
    "rank_among",
    "protocol",
    "method",
    "error",
    "standard_error",
    "win_share",
    "margin",
    "margin_low",
    "margin_high",
    "runner_up_protocol",
    "runner_up_method",
    *PairError._fields[3:],
    "metric",
    "repetitions",
    "seed",
    "version",
)


def sweep_document(sweep: SweepResult, *, per_protocol: bool = False) -> Document:
    """Return the winners: a table for each k, with the best method of each protocol if `per_protocol`."""
    question = sweep.question
    return Document(
        title=f"Pairs with the lowest {question.metric} error",
        verdict=_verdict(sweep),
        parts=(
            *sentences(question.warnings, Role.WARNING),
            *(part for metric in question.metrics for part in _winners(sweep, metric, per_protocol=per_protocol)),
            *sentences(_note_sentences(sweep), Role.NOTE),
        ),
        data=_data(sweep),
        records=_records(sweep),
        value="\n".join(
            f"{cell.k} {cell.epsilon:.12g} {cell.n} {cell.winner.protocol} {cell.winner.method}" for cell in sweep.cells
        ),
        setting=f"{len(sweep.cells):,} cells, frequencies of {question.first.name}",
        sections=partial(_sections, sweep),
        picture=partial(regret_figure, sweep) if len(question.metrics) == 1 else None,
    )


def _sections(sweep: SweepResult) -> tuple[Section, ...]:
    if len(sweep.question.metrics) > 1:  # pictures are of one metric
        return ()
    return (
        picture_section(
            "One pair for all", "what one pair costs in each cell", partial(regret_figure, sweep), "regret"
        ),
        picture_section("Errors", "errors of all methods", partial(curves_figure, sweep), "curves"),
    )


def _verdict(sweep: SweepResult) -> Verdict:
    """Return the number of cells won by the pair that wins most, and the number of certain winners."""
    cells, certain = len(sweep.cells), sum(not cell.tied_with(cell.winner) for cell in sweep.cells)
    (pair, most), *others = Counter((cell.winner.protocol, cell.winner.method) for cell in sweep.cells).most_common()
    badge = Badge.TIED if not certain else Badge.DEPENDS if others else Badge.USE
    text = f"{pair_text(*pair)} in {most:,} of {cells:,} cells"
    if others and most == 1:
        text = f"no pair is the one to use in more than one of {cells:,} cells"
    elif others:
        text += f", {'another pair' if len(others) == 1 else f'{len(others)} other pairs'} in the rest"
    sure = f"The method with the lowest {sweep.question.metric} error is certain in {certain:,} of {cells:,} cells."
    return Verdict("winners", f"{text}.", badge, numbers=sure)


def _winners(sweep: SweepResult, metric: str, *, per_protocol: bool) -> list[Part]:
    """Return what a cell says, and the tables, of one metric."""
    unit = unit_text(metric, sweep.question.first.bins)
    text = (
        f"Each cell: of the pairs within 5 % of the lowest {metric} error ({unit}) the one with the cheapest "
        "report, and the methods that are tied with its method, or how far the next one is behind."
    )
    return [Sentence(text), *(_table(sweep, metric, k, per_protocol=per_protocol) for k in sweep.question.sizes)]


def _note_sentences(sweep: SweepResult) -> list[str]:
    """Return the meaning of the marks, and the source of the cells."""
    question, most = sweep.question, max(len(errors) for cell in sweep.cells for errors in cell.runs.values())
    repetitions = f"{question.repetitions} to {most}" if most > question.repetitions else question.repetitions
    return [
        f"*: no other method is within 5 %, or cannot be told from it over {repetitions} repetitions.",
        f"Simulated from {question.first.name}, seed {question.seed}.",
        *assumed_sentences(question.assumptions),
    ]


def _table(sweep: SweepResult, metric: str, k: int, *, per_protocol: bool) -> Table:
    """Return the winners for one k, by ε (and protocol) and n."""
    question = sweep.question
    cells = {cell.place: cell for cell in sweep.cells if cell.metric == metric}
    columns = (
        Column("ε"),
        *((Column("protocol", text=True),) if per_protocol else ()),
        *(Column(f"n = {n:,}", text=True) for n in question.users),
    )
    rows = []
    for epsilon, protocol in product(question.epsilons, question.protocols if per_protocol else [None]):
        winners = [
            (cell, winner)
            for cell in (cells[epsilon, n, k] for n in question.users)
            if (winner := cell.winner if protocol is None else cell.best_of(protocol)) is not None
        ]
        if len(winners) == len(question.users):
            names = (f"{epsilon:g}",) if protocol is None else (f"{epsilon:g}", protocol)
            rows.append(_row(names, winners, per_protocol=per_protocol))
    title = f"k = {k:,}" if len(question.metrics) == 1 else f"{metric}, k = {k:,}"
    return Table(columns, tuple(rows), title=title)


def _row(names: tuple[str, ...], winners: list[tuple[Cell, Winner]], *, per_protocol: bool) -> Row:
    tones = [Tone.PLAIN if cell.tied_with(winner, per_protocol=per_protocol) else Tone.GOOD for cell, winner in winners]
    texts = (
        f"{winner.method if per_protocol else f'{winner.protocol} {winner.method}'} "
        f"{cell.words(winner, per_protocol=per_protocol)}".rstrip()
        for cell, winner in winners
    )
    cells = (f"{text} {CERTAIN}" if tone is Tone.GOOD else text for text, tone in zip(texts, tones, strict=True))
    return Row((*names, *cells), tones=(*(Tone.PLAIN for _ in names), *tones))


def _records(sweep: SweepResult) -> Records:
    """Return rows for each cell: for its winner, for the winner of each protocol, and for each pair.

    Each row has the settings of the simulation, so rows of several sweeps can be joined.
    """
    rows: list[tuple[Scalar, ...]] = []
    for cell in sweep.cells:
        place, settings = (cell.k, cell.epsilon, cell.n), (sweep.question.seed, __version__)
        for among, winner_here in [("all", cell.winner), *(("protocol", winner) for winner in cell.by_protocol)]:
            *figures, runner_up = astuple(winner_here)
            pair = winner_here.protocol, winner_here.method
            ratio = *cell.pairs[pair][3:], cell.metric, len(cell.runs[pair])
            rows.append((*place, among, *figures, *(runner_up or (None, None)), *ratio, *settings))
        for pair, (error, standard_error, *shares) in cell.pairs.items():
            errors = finite(error), finite(standard_error), shares[0]
            about = *shares[1:], cell.metric, len(cell.runs[pair])
            rows.append((*place, "pair", *pair, *errors, *NO_RUNNER_UP, *about, *settings))
    return Records(COLUMNS, tuple(rows))


def _data(sweep: SweepResult) -> dict[str, Json]:
    """Return all cells, with the errors of all pairs."""
    question = sweep.question
    several = len(question.metrics) > 1
    return {
        "request": {
            "eps": list(question.epsilons),
            "n": list(question.users),
            "k": list(question.sizes),
            "metric": list(question.metrics) if several else question.metric,
            "protocols": list(question.protocols),
            "methods": list(question.methods),
            "sample": question.first.name,
            "bins": None if question.first.bins is None else question.first.bins.data,
            "ordered": question.first.ordered,
            "own_members": own_members(question.protocols, question.methods),
        },
        "source": "simulation",
        "repetitions": question.repetitions,
        "seed": question.seed,
        "assumptions": list(question.assumptions),
        "warnings": list(question.warnings),
        "summary": _verdict(sweep).summary,
        "results": [_cell_data(cell) | ({"metric": cell.metric} if several else {}) for cell in sweep.cells],
    }


def _cell_data(cell: Cell) -> dict[str, Json]:
    return {
        "k": cell.k,
        "eps": cell.epsilon,
        "n": cell.n,
        "winner": plain(cell.winner),
        "by_protocol": [plain(winner) for winner in cell.by_protocol],
        "errors": [
            {"protocol": protocol, "method": method, **figures._asdict(), "error": finite(figures.error)}
            for (protocol, method), figures in cell.pairs.items()
        ],
    }
