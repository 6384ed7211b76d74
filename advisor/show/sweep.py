"""The document of a sweep: a table of winners for each k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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
from simulator.ranking import Pair

CERTAIN = "*"  # a mark that all formats keep; formats with colour or weight use them as well
MARGINS = ("margin", "margin_low", "margin_high", "runner_up_protocol", "runner_up_method")


def sweep_document(sweep: SweepResult, *, per_protocol: bool = False) -> Document:
    """Return the winners: a table for each k, with the best method of each protocol if `per_protocol`."""
    question, one_metric = sweep.question, len(sweep.question.metrics) == 1  # pictures are of one
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
        value="\n".join(f"{cell.k} {cell.epsilon:.12g} {cell.n} {' '.join(cell.winner.pair)}" for cell in sweep.cells),
        setting=f"{len(sweep.cells):,} cells, frequencies of {question.first.name}",
        sections=partial(_sections, sweep) if one_metric else tuple,
        picture=partial(regret_figure, sweep) if one_metric else None,
    )


def _sections(sweep: SweepResult) -> tuple[Section, ...]:
    one, curves = partial(regret_figure, sweep), partial(curves_figure, sweep)
    return (
        picture_section("One pair for all", "what one pair costs in each cell", one, "regret"),
        picture_section("Errors", "errors of all methods", curves, "curves"),
    )


def _verdict(sweep: SweepResult) -> Verdict:
    """Return the number of cells won by the pair that wins most, and the number of certain winners."""
    cells, certain = len(sweep.cells), sum(not cell.tied for cell in sweep.cells)
    (pair, most), *others = Counter(cell.winner.pair for cell in sweep.cells).most_common()
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
        f"Each cell: of the most precise reports within 5 % of the lowest {metric} error ({unit}), or not separable "
        "from it, the cheapest, and the methods that are tied with its method, or how far the next one is behind."
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
        row = [cells[epsilon, n, k] for n in question.users]
        if protocol is not None:
            row = [own for cell in row if (own := cell.of_protocol(protocol)) is not None]
        if len(row) == len(question.users):
            rows.append(_row((f"{epsilon:g}", *([] if protocol is None else [protocol])), row))
    title = f"k = {k:,}" if len(question.metrics) == 1 else f"{metric}, k = {k:,}"
    return Table(columns, tuple(rows), title=title)


def _row(names: tuple[str, ...], cells: Sequence[Cell]) -> Row:
    """Return a row: its names, and for each cell what the names leave open of the winner, and how certain it is."""
    tones = [Tone.PLAIN if cell.tied else Tone.GOOD for cell in cells]
    winners = (" ".join(name for name in cell.winner.pair if name not in names) for cell in cells)
    texts = (f"{winner} {cell.words}".rstrip() for winner, cell in zip(winners, cells, strict=True))
    marked = (f"{text} {CERTAIN}" if tone is Tone.GOOD else text for text, tone in zip(texts, tones, strict=True))
    return Row((*names, *marked), tones=(*(Tone.PLAIN for _ in names), *tones))


def _records(sweep: SweepResult) -> Records:
    """Return rows for each cell: for its winner, for the winner of each protocol, and for each pair.

    Each row has the settings of the simulation, so rows of several sweeps can be joined.
    """
    settings: dict[str, Scalar] = {"seed": sweep.question.seed, "version": __version__}
    rows: list[dict[str, Scalar]] = []
    for cell in sweep.cells:
        rows.append(_record(cell, "all", cell.winner.pair, cell.winner) | settings)
        rows += [_record(cell, "protocol", winner.pair, winner) | settings for winner in cell.by_protocol]
        rows += [_record(cell, "pair", pair) | settings for pair in cell.pairs]
    return Records.of(rows)


def _record(cell: Cell, among: str, pair: Pair, winner: Winner | None = None) -> dict[str, Scalar]:
    """Return a row; only winners have a margin and a runner-up."""
    figures, margins = cell.pairs[pair], tuple[Scalar, ...]([None] * len(MARGINS))
    if winner is not None:
        margins = winner.margin, winner.margin_low, winner.margin_high, *(winner.runner_up or (None, None))
    return {
        **{"k": cell.k, "eps": cell.epsilon, "n": cell.n, "rank_among": among, "protocol": pair[0], "method": pair[1]},
        **{"error": finite(figures.error), "standard_error": finite(figures.standard_error)},
        "win_share": figures.win_share if winner is None else winner.win_share,
        **dict(zip(MARGINS, margins, strict=True)),
        **{name: getattr(figures, name) for name in PairError._fields[3:]},
        **{"metric": cell.metric, "repetitions": len(cell.runs[pair])},
    }


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
