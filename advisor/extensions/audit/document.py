"""The document of audits: verdict, table, assumptions, and a picture of the bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from advisor.extensions.audit.answer import Audits
from advisor.extensions.audit.question import AuditQuestion
from advisor.question.settings import Cells
from advisor.show.model import Badge, Column, Document, Records, Role, Row, Sentence, Table, Tone, Verdict
from advisor.show.pictures import picture_section
from advisor.show.pictures.style import BAND, DASHES, INK, MARKERS, QUIET, SERIES, empty, headline, settings
from simulator.audit import Audit
from simulator.foreign import short
from simulator.hashing import DEFAULT_HASH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST_LINE = 40  # maximum of characters quoted from a line
MATRIX_BUDGETS = 3  # from this number of budgets on, each has a separate column
NOTHING = "–"

LOSS = Column("loss ≥", "lower bound of the privacy loss")
ANALYTIC = Column("analytic", "loss that infinitely many trials would show", drop=2)
SLACK = Column("slack", "how far the bound may fall below the analytic value by chance", drop=3)
COLUMNS = (
    Column("audited", text=True),
    Column("ε"),
    Column("k"),
    Column("v1, v2", "the two values that were told apart", text=True, drop=4),
    LOSS,
    Column("mean", "mean bound of runs with seeds of their own, of which the first is listed"),
    Column("sd", "standard deviation of these bounds"),
    ANALYTIC,
    SLACK,
    Column("promised", "ε, or what composition makes of it", drop=1),
    Column("one attr.", "promised to users who differ in one attribute", drop=2),
    Column("leak", "whether the bound is above the promise", text=True),
)
CELLS = "Each cell: loss ≥ / analytic (slack). " + "; ".join(
    f"{column.header}: {column.meaning}" for column in (LOSS, ANALYTIC, SLACK)
)
ATTACK_MEANINGS = {
    "guess": "names one value from each report",
    "pair": "says v1 where a report supports it and not v2",
    "line": "says v1 where a report is a certain line",
    "likelihood": "compares how likely all reports of a user are under v1, and under v2",
}
SOLUTION_MEANINGS = {
    "spl": "every attribute is reported, at ε divided by their number",
    "smp": "one attribute, drawn at random and named, is reported at ε",
    "rsfd": "one attribute, drawn at random, is reported, and the others are faked: [oue-z] as reports of no value, "
    "[oue-r] of a random one",
    "rsrfd": "the same with realistic fakes, drawn from frequencies as skewed as 1/rank, value 0 first",
}


def audit_document(audits: Audits) -> Document:
    """Return the verdict, a row for each audit, or a matrix of several budgets, and the assumptions."""
    rows, question = audits.results, audits.question
    client, alpha = question.client, question.attack.alpha
    verdict = _verdict(rows)
    budgets = {row.epsilon for row in rows}
    matrix = None not in budgets and rows[0].runs == 1 and MATRIX_BUDGETS <= len(budgets) < len(rows)
    records = [{name: None if value == math.inf else value for name, value in asdict(row).items()} for row in rows]

    def picture() -> Figure:
        return audit_figure(rows, verdict.summary)

    return Document(
        title="Privacy loss that attacks on reports prove",
        verdict=verdict,
        parts=(
            _matrix(rows) if matrix else _table(rows),
            *(Sentence(words, Role.NOTE) for words in [*([f"{CELLS}."] if matrix else []), *notes(question, rows)]),
        ),
        data={
            "request": {
                "protocols": list(dict.fromkeys(row.protocol for row in rows)),
                "eps": question.grid.epsilons,
                "eps_forever": question.memoisation.epsilon_forever,
                "k": question.sizes,
                "grid": question.cells.grid,
                "radius": question.cells.radius,
                "trials": None if client.files else question.trials,
                "alpha": alpha,
                "values": question.attack.values or rows[0].values,
                "target": client.name,
                "files": client.files,
                "reports": client.reports,
            },
            "seed": question.simulation.seed,
            "summary": verdict.summary,
            "results": records,
        },
        records=Records.of(
            [
                {name: ",".join(map(str, value)) if isinstance(value, tuple) else value for name, value in row.items()}
                for row in records
            ]
        ),
        value="\n".join(f"{row.epsilon_lower_bound:.6g}" for row in rows),
        setting=f"{rows[0].trials:,} trials of each value, confidence {confidence(alpha)}",
        picture=picture,
        sections=lambda: (picture_section("Bounds", "lower bounds of the privacy loss", picture, "audit"),),
    )


def _table(rows: Sequence[Audit]) -> Table:
    """Return a table with a row for each audit, without empty columns."""
    table = Table(COLUMNS, tuple(map(_row, rows)), noun="audits", cut=False)
    cells = zip(*(row.cells for row in table.rows), strict=True)
    return table.without(*(column for column, own in zip(COLUMNS, cells, strict=True) if {*own} == {NOTHING}))


def _row(row: Audit) -> Row:
    losses = (row.epsilon_lower_bound, row.epsilon_lower_bound_mean, row.epsilon_lower_bound_sd)
    return Row.of(
        [
            label(row),
            ("∞" if row.epsilon is None else f"{row.epsilon:g}", row.epsilon),
            (domain(row), row.k),
            NOTHING if row.tried is None else ", ".join(map(str, row.files or row.values)),
            *((figure(loss), loss) for loss in (*losses, row.epsilon_analytic, row.epsilon_slack)),
            (_promise(row), row.epsilon_guaranteed),
            (figure(row.epsilon_one_attribute), row.epsilon_one_attribute),
            "LEAKS" if row.leaks else NOTHING,
        ],
        Tone.DOUBTFUL if row.leaks else Tone.PLAIN,
    )


def _matrix(rows: Sequence[Audit]) -> Table:
    """Return a table with a column for each budget; each line has an audit per budget, in the same order."""
    budgets = dict.fromkeys(row.epsilon for row in rows)
    lines: dict[tuple[str, str], list[Audit]] = {}
    for row in rows:
        lines.setdefault((label(row), domain(row)), []).append(row)
    columns = (COLUMNS[0], COLUMNS[2], *(Column(f"ε = {epsilon:g}", drop=at) for at, epsilon in enumerate(budgets)))
    rows_of_matrix = (
        Row(
            (name, k, *map(_cell, audits)),
            (None, audits[0].k, *(audit.epsilon_lower_bound for audit in audits)),
            tones=(Tone.PLAIN, Tone.PLAIN, *(Tone.DOUBTFUL if audit.leaks else Tone.PLAIN for audit in audits)),
        )
        for (name, k), audits in lines.items()
    )
    return Table(columns, tuple(rows_of_matrix), noun="audits", cut=False)


def _cell(row: Audit) -> str:
    mark = " LEAKS" if row.leaks else ""
    return f"{figure(row.epsilon_lower_bound)} / {figure(row.epsilon_analytic)} ({figure(row.epsilon_slack)}){mark}"


def domain(row: Audit) -> str:
    """Return the domain size, or those of all attributes."""
    return f"{row.k:,}" if row.sizes is None else ",".join(map(str, row.sizes))


def _promise(row: Audit) -> str:
    return NOTHING if row.epsilon_guaranteed is None else f"{row.epsilon_guaranteed:g}"


def label(row: Audit) -> str:
    """Return the subject of the audit as a word."""
    if row.symbols is not None:
        return f"lho g={row.symbols}"
    inner = f"{row.protocol}-{row.fake}" if row.fake else row.protocol
    if row.solution:
        return f"{row.solution}[{inner}] d={row.attributes}"
    if row.epsilon_forever is not None:
        return f"memoised {inner} ×{row.rounds}"
    return f"{inner} ×{row.rounds}" if row.rounds > 1 else inner


def figure(value: float | None) -> str:
    """Return a privacy loss with three decimals.

    >>> figure(0.66666), figure(None), figure(float("inf"))
    ('0.667', '–', '∞')
    """
    return NOTHING if value is None else "∞" if math.isinf(value) else f"{value:.3f}"


def confidence(alpha: float) -> str:
    """Return ``1 - alpha`` in percent.

    >>> confidence(0.01), confidence(0.003)
    ('99 %', '99.7 %')
    """
    return f"{100 * (1 - alpha):.10g} %"


def _verdict(rows: Sequence[Audit]) -> Verdict:
    """Return whether any audit finds more than is promised, and the figures of the worst."""
    promised = [row for row in rows if row.epsilon_guaranteed is not None]
    worst = max(promised or rows, key=lambda row: row.epsilon_lower_bound - (row.epsilon_guaranteed or 0.0))
    sure, name = confidence(worst.alpha), f"{label(worst)} at {_setting(worst)}"
    loss = f"loses at least {figure(worst.epsilon_lower_bound)}{_between(worst)} (confidence {sure})"
    if worst.leaks:
        leaking = sum(row.leaks for row in rows)
        more = "" if len(rows) == 1 else f"; {leaking} of {len(rows)} audits find more than is promised"
        text = f"{name} LEAKS more than it promises."
        numbers = f"It {loss}, not the promised {_promise(worst)}{more}."
        return Verdict("leaks", text, Badge.DO_NOT_USE, numbers=numbers)
    if not promised:
        text, numbers = "Local hashing without perturbation (lho) promises nothing.", f"{name} {loss}"
    elif len(promised) > 1:
        return Verdict(
            "no_leak_shown", f"{len(promised)} audits; none finds more than is promised (confidence {sure} each)."
        )
    else:
        text, numbers = f"No leak is shown for {name}.", f"It {loss}, and promises to lose at most {_promise(worst)}"
    return Verdict("no_leak_shown", text, numbers=f"{numbers}.")


def _between(row: Audit) -> str:
    """Return which two values were distinguished, if it matters."""
    if row.tried is None:
        return ""
    what, pair = ("values", row.values) if row.files is None else ("the values of", row.files)
    return f" between {what} {pair[0]} and {pair[1]}"


def _setting(row: Audit) -> str:
    budget = [] if row.epsilon is None else [f"ε = {row.epsilon:g}"]
    return ", ".join([*budget, *([] if row.attack == "line" else [f"k = {domain(row)}"])])


def notes(question: AuditQuestion, rows: Sequence[Audit]) -> list[str]:
    """Return how the loss was measured, and whether it agrees with known results."""
    first = rows[0]
    attacks = "; ".join(
        f"{name}: the attacker {ATTACK_MEANINGS[name]}" for name in dict.fromkeys(r.attack for r in rows)
    )
    lines = [
        f"{first.trials:,} trials of each value; attack {attacks}; highest bound that so many trials can give: "
        f"{figure(first.epsilon_ceiling)}."
    ]
    if question.planar:
        lines.append(f"ε is promised {question.cells.promise}, and in proportion to the distance.")
        lines += [_leakage(question.cells, row) for row in rows]
    if first.tried is not None:
        lines.append(_tried(rows, given=bool(question.attack.values)))
    if first.looked_for is not None and len(rows) == 1:
        signs = first.looked_for if first.attack == "pair" else first.looked_for[:1]
        told = " and not ".join(short(sign, repr, LONGEST_LINE) for sign in signs)
        lines.append(f"What tells the first of the two in a report: {told}.")
    forever = question.memoisation.epsilon_forever
    if forever is not None:
        memo = f"memoised: devices keep one randomisation of a value for ever, at ε = {forever:g}, which is the promise"
        lines.append(
            f"{memo} for all rounds together. Below each stands fresh noise, which promises ε times the rounds."
        )
    solutions = dict.fromkeys(row.solution for row in rows if row.solution)
    lines += [f"{name}: {SOLUTION_MEANINGS[name]}." for name in solutions]
    if question.subjects.amplified:
        lines.append("As published, the attribute is reported at ε′ = ln(d (e^ε − 1) + 1), which is the promise.")
    closed = [(row, row.epsilon_analytic) for row in rows if row.epsilon_analytic is not None]
    if closed:
        agreeing = sum(row.agrees is True for row, _ in closed)
        below = sum(value - row.epsilon_lower_bound <= (row.epsilon_slack or 0.0) for row, value in closed)
        lines.append(
            f"Trials and analytic values agree in {agreeing} of {len(closed)} audits, and the bound is within its "
            f"slack in {below} (confidence {confidence(first.alpha)} for all together)."
        )
    if question.client.hashes:
        lines.append(
            f"Reports are read with the hash function {question.client.hash or DEFAULT_HASH}: with another one than "
            "the client's, the bound is about 0 whatever the client loses (--hash)."
        )
    return lines


def _leakage(cells: Cells, row: Audit) -> str:
    """Return what the matrix of a mechanism for places leaks."""
    channel = cells.channel(row.protocol, row.epsilon or 0.0)
    lost = f"{channel.privacy_loss(row.values):.4g} between v1 = {row.values[0]} and v2 = {row.values[1]}"
    return f"{row.protocol} at ε = {row.epsilon:g}: {cells.leakage(channel)}, and exactly {lost}."


def _tried(rows: Sequence[Audit], *, given: bool) -> str:
    """Return the values among which a leak was searched."""
    if given:
        return "No other values were tried: without --values, the two that look worst are found first."
    what = "values" if rows[0].files is None else "files"
    among = dict.fromkeys(
        f"{row.tried:,}" if row.files or row.tried == row.k else f"{row.tried:,} (drawn from {row.k:,})" for row in rows
    )
    return (
        f"v1 and v2 are the two of {' and of '.join(among)} {what} whose reports look furthest apart, found by other "
        "reports than those behind the bound."
    )


AXES = {"epsilon": "budget ε", "rounds": "collections of the same value", "symbols": "symbols of the hash"}
ACROSS = 2  # panels side by side
NAME_LENGTH = 28  # of a tick: the end of a longer name, which is that of a client


def audit_figure(rows: Sequence[Audit], summary: str) -> Figure:
    """Return the bounds along what varies most: a panel for each protocol if each has several settings.

    If nothing varies, audits stand side by side.
    """
    shared = [name for name in AXES if all(getattr(row, name) is not None for row in rows)]
    axis = max(shared, key=lambda name: len({getattr(row, name) for row in rows}))  # the first of them
    panels: dict[str, dict[str, list[Audit]]] = {}
    for row in rows:
        subject, setting = _line(row, rows, axis)
        panels.setdefault(subject, {}).setdefault(setting, []).append(row)
    names = {f"{subject} {line}".strip(): found for subject, lines in panels.items() for line, found in lines.items()}
    ticks = [name[-NAME_LENGTH:] for name in names] if len(names) == len(rows) else []
    if ticks:
        panels = {"": {"lower bound": list(rows)}}
    elif len(names) == len(panels):  # one line each: all in one panel
        panels = {"": names}
    looks = {name: at for at, name in enumerate(dict.fromkeys(name for lines in panels.values() for name in lines))}
    ceiling, highest = rows[0].epsilon_ceiling, max(max(row.epsilon_guaranteed or 0.0, _bound(row)) for row in rows)
    limit = f"ceiling of {rows[0].trials:,} trials: {figure(ceiling)}"
    across = min(ACROSS, len(panels))
    down = math.ceil(len(panels) / across)
    with settings():
        drawn = empty(max(3.6, 2.5 * down + 0.8))
        grid = drawn.subplots(down, across, squeeze=False, sharey=True).ravel().tolist()
        for axes, (title, lines) in zip(grid, panels.items(), strict=False):
            for name, found in lines.items():
                xs = list(range(len(found))) if ticks else [getattr(row, axis) for row in found]
                _draw(axes, xs, found, name, looks[name], joined=not ticks)
            axes.set(title=title, xlabel="" if ticks else AXES[axis])
            axes.locator_params("x", integer=axis != "epsilon")
            axes.axhline(ceiling, color=QUIET, linestyle=":", label=limit)
            axes.set_ylim(0, 1.05 * min(highest, ceiling))
            axes.grid(color=BAND, linewidth=0.8)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        if ticks:
            grid[0].set_xticks(range(len(ticks)), ticks, rotation=90 if max(map(len, ticks)) > 6 else 0)
        handles = {name: mark for axes in grid for mark, name in zip(*axes.get_legend_handles_labels(), strict=True)}
        drawn.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=2, handlelength=2.4)
        drawn.supylabel("privacy loss")
        headline(drawn, summary, "Marks: lower bounds of the privacy loss that attacks prove")
        drawn.set_label(summary)
    return drawn


def _line(row: Audit, rows: Sequence[Audit], axis: str) -> tuple[str, str]:
    """Return what is audited, and the setting of its line."""
    budget = "∞" if row.epsilon is None else f"{row.epsilon:g}"
    texts = {"k": f"k = {domain(row)}", "epsilon": f"ε = {budget}", "rounds": f"×{row.rounds:,}"}
    differing = [name for name in texts if name != axis and len({getattr(other, name) for other in rows}) > 1]
    subject = label(replace(row, rounds=1, symbols=None if axis == "symbols" else row.symbols)).removesuffix(" ×1")
    return subject, ", ".join(texts[name] for name in differing)


def _draw(axes: Axes, xs: list[float], found: list[Audit], name: str, number: int, *, joined: bool) -> None:
    """Draw a line of bounds, with the standard deviations of several runs, over its promise.

    The promise has the colour of its line where rounds raise it: others of the panel have another.
    """
    promise = [(x, row.epsilon_guaranteed) for x, row in zip(xs, found, strict=True) if row.epsilon_guaranteed]
    if promise:
        colour = SERIES[number % len(SERIES)] if "×" in name else INK
        axes.plot(*zip(*promise, strict=True), "--" if joined else "_", color=colour, linewidth=0.9, label="promise")
    axes.errorbar(
        xs,
        [_bound(row) for row in found],
        yerr=[row.epsilon_lower_bound_sd or 0.0 for row in found] if found[0].runs > 1 else None,
        color=SERIES[number % len(SERIES)],
        marker=MARKERS[number % len(MARKERS)],
        linestyle=DASHES[number % len(DASHES)] if joined else "none",
        markersize=4,
        linewidth=1.2,
        label=name,
    )


def _bound(row: Audit) -> float:
    return row.epsilon_lower_bound if row.epsilon_lower_bound_mean is None else row.epsilon_lower_bound_mean
