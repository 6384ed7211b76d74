"""The document of audits: verdict, table, assumptions, and a picture of the bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from advisor.extensions.audit.answer import Audits
from advisor.extensions.audit.question import AuditQuestion
from advisor.question.settings import Cells
from advisor.show.model import Badge, Column, Document, Records, Role, Row, Sentence, Table, Tone, Verdict
from advisor.show.pictures import picture_section
from advisor.show.pictures.style import BAND, DASHES, INK, MARKERS, QUIET, SERIES, empty, headline, settings
from simulator.attributes import published_budget
from simulator.audit import Audit
from simulator.audit.several import HIDDEN
from simulator.foreign import short
from simulator.hashing import DEFAULT_HASH
from simulator.memoisation import DBitFlipPM

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST_LINE = 40  # maximum of characters quoted from a line
MATRIX_BUDGETS = 3  # from this number of budgets on, each has a separate column

PAIR = Column("v1, v2", "the two values that were told apart", text=True, drop=4)
LOSS = Column("loss ≥", "lower bound of the privacy loss")
MEAN = Column("mean", "mean bound of runs with seeds of their own, of which the first is listed")
DEVIATION = Column("sd", "standard deviation of these bounds")
ANALYTIC = Column("analytic", "loss that infinitely many trials would show", drop=2)
SLACK = Column("slack", "how far the bound may fall below the analytic value by chance", drop=3)
ONE_ATTRIBUTE = Column("one attr.", "promised to users who differ in one attribute", drop=2)
LEAK = Column("leak", "whether the bound is above the promise", text=True)
COLUMNS = (
    Column("audited", text=True),
    Column("ε"),
    Column("k"),
    PAIR,
    LOSS,
    MEAN,
    DEVIATION,
    ANALYTIC,
    SLACK,
    Column("promised", "ε, or what composition makes of it", drop=1),
    ONE_ATTRIBUTE,
    Column("promised/loss", drop=5),
)
CELLS = "Each cell: loss ≥ / analytic (slack). " + "; ".join(
    f"{column.header}: {column.meaning}" for column in (LOSS, ANALYTIC, SLACK)
)


def audit_document(audits: Audits) -> Document:
    """Return the verdict, a row for each audit, or a matrix of several budgets, and the assumptions."""
    rows, question = audits.results, audits.question
    client, alpha = question.client, question.attack.alpha
    text, numbers = _answer(rows)
    badge = Badge.DO_NOT_USE if audits.leaks else Badge.NONE
    verdict = Verdict("leaks" if audits.leaks else "no_leak_shown", text, badge, numbers=numbers)
    budgets = {row.epsilon for row in rows}
    matrix = None not in budgets and MATRIX_BUDGETS <= len(budgets) < len(rows)
    records = [{name: None if value == math.inf else value for name, value in asdict(row).items()} for row in rows]
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
        picture=lambda: audit_figure(audits),
        sections=lambda: (
            picture_section("Bounds", "lower bounds of the privacy loss", lambda: audit_figure(audits), "audit"),
        ),
    )


def _table(rows: Sequence[Audit]) -> Table:
    """Return a table with a row for each audit, without empty columns."""
    leak = LEAK if any(row.leaks for row in rows) else replace(LEAK, drop=6)  # no leak: may drop first
    table = Table((*COLUMNS, leak), tuple(map(_row, rows)), noun="audits", cut=False)
    empty: list[Column] = []
    if len(rows) == 1 or rows[0].tried is None:  # the verdict names a single pair
        empty.append(PAIR)
    if rows[0].runs == 1:
        empty += [MEAN, DEVIATION]
    if all(row.epsilon_analytic is None for row in rows):
        empty += [ANALYTIC, SLACK]
    if all(row.epsilon_one_attribute is None for row in rows):
        empty.append(ONE_ATTRIBUTE)
    return table.without(*empty)


def _row(row: Audit) -> Row:
    promised, bound, one_attribute = row.epsilon_guaranteed, row.epsilon_lower_bound, row.epsilon_one_attribute
    ratio = None if promised is None or not bound else promised / bound
    losses = (bound, row.epsilon_lower_bound_mean, row.epsilon_lower_bound_sd, row.epsilon_analytic, row.epsilon_slack)
    return Row.of(
        [
            label(row),
            ("∞" if row.epsilon is None else f"{row.epsilon:g}", row.epsilon),
            (domain(row), row.k),
            ", ".join(map(str, row.files or row.values)),
            *((figure(loss), loss) for loss in losses),
            ("–" if promised is None else _promise(row), promised),
            (figure(one_attribute), one_attribute),
            ("–" if ratio is None else f"{ratio:.2f}", ratio),
            "LEAKS" if row.leaks else "–" if promised is None else "none shown",
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
    bound = figure(row.epsilon_lower_bound)
    if row.epsilon_lower_bound_mean is not None:
        bound = f"{figure(row.epsilon_lower_bound_mean)} ± {figure(row.epsilon_lower_bound_sd)}"
    return f"{bound} / {figure(row.epsilon_analytic)} ({figure(row.epsilon_slack)}){mark}"


def domain(row: Audit) -> str:
    """Return the domain size, or those of all attributes."""
    return f"{row.k:,}" if row.sizes is None else ",".join(map(str, row.sizes))


def _promise(row: Audit) -> str:
    return figure(row.epsilon_guaranteed) if _amplified(row) else f"{row.epsilon_guaranteed:g}"


def _amplified(row: Audit) -> bool:
    """Return whether the sampled attribute is reported at more than the budget that was asked for."""
    return row.solution is not None and (row.epsilon_guaranteed or 0.0) > (row.epsilon or 0.0)


def label(row: Audit) -> str:
    """Return the subject of the audit as a word."""
    if row.symbols is not None:
        return f"lho g={row.symbols}"
    inner = f"{row.protocol}-{row.fake}" if row.fake else row.protocol
    if row.solution:
        return f"{row.solution}[{inner}] d={row.attributes}{' ε′' if _amplified(row) else ''}"
    if row.epsilon_forever is not None:
        return f"memoised {inner} ×{row.rounds}"
    return f"{inner} ×{row.rounds}" if row.rounds > 1 else inner


def figure(value: float | None) -> str:
    """Return a privacy loss with three decimals.

    >>> figure(0.66666), figure(None), figure(float("inf"))
    ('0.667', '–', '∞')
    """
    return "–" if value is None else "∞" if math.isinf(value) else f"{value:.3f}"


def confidence(alpha: float) -> str:
    """Return ``1 - alpha`` in percent.

    >>> confidence(0.01), confidence(0.003)
    ('99 %', '99.7 %')
    """
    return f"{100 * (1 - alpha):.10g} %"


def summary(rows: Sequence[Audit]) -> str:
    """Return the result as a paragraph."""
    return " ".join(filter(None, _answer(rows)))


def _answer(rows: Sequence[Audit]) -> tuple[str, str]:
    """Return the result in a sentence, and its figures in another."""
    promised = [row for row in rows if row.epsilon_guaranteed is not None]
    free = [row for row in rows if row.epsilon_guaranteed is None]
    nothing = "local hashing without perturbation (lho) promises nothing"
    text, figures = _of_promised(promised) if promised else (f"{nothing.capitalize()}.", "")
    if free:
        most = max(free, key=lambda row: row.epsilon_lower_bound)
        which = "" if len(free) == 1 else f"the largest loss of {len(free)} such audits: "
        loss = f"{which}{_loss(most, 'it' if len(free) == 1 else _called(most))}"
        figures = "; ".join(filter(None, (figures, nothing if promised else "", loss)))
    return text, f"{figures[:1].upper()}{figures[1:]}." if figures else ""


def _of_promised(rows: Sequence[Audit]) -> tuple[str, str]:
    """Return the result of audits with a promise, and its figures."""
    sure = confidence(rows[0].alpha)
    leaking = [row for row in rows if row.leaks]
    if leaking:
        worst = max(leaking, key=lambda row: row.epsilon_lower_bound - (row.epsilon_guaranteed or 0.0))
        more = "" if len(rows) == 1 else f"; {len(leaking)} of {len(rows)} audits find more than is promised"
        loss = f"it loses at least {figure(worst.epsilon_lower_bound)}{_between(worst)}"
        return (
            f"{_called(worst)} LEAKS more than it promises.",
            f"{loss}, not the promised {_promise(worst)} (confidence {sure}){more}",
        )
    if len(rows) > 1:
        none = f"{len(rows)} audits; none finds more than is promised (confidence {sure} each)."
        return none, _memoised_against_fresh(rows)
    one_attribute = rows[0].epsilon_one_attribute
    among = f" for all attributes, and {figure(one_attribute)} between users who differ in one"
    promise = f"the promise is at most {_promise(rows[0])}{'' if one_attribute is None else among}"
    return f"No leak is shown for {_called(rows[0])}.", f"{_loss(rows[0], 'it')}; {promise}"


def _memoised_against_fresh(rows: Sequence[Audit]) -> str:
    """Return the loss of the first memoised protocol after most rounds, and the loss with fresh noise."""
    pairs = [(row, other) for row, other in pairwise(rows) if row.epsilon_forever and other.epsilon_forever is None]
    if not pairs:
        return ""
    memoised, fresh = max(pairs, key=lambda pair: pair[0].rounds)  # the first of them
    after = "after one round" if fresh.rounds == 1 else f"after {fresh.rounds:,} rounds"
    return (
        f"{after} memoised {fresh.protocol} loses at least {figure(memoised.epsilon_lower_bound)} of the promised "
        f"{memoised.epsilon_guaranteed:g}, and with fresh noise at least {figure(fresh.epsilon_lower_bound)} of "
        f"{fresh.epsilon_guaranteed:g}"
    )


def _loss(row: Audit, name: str) -> str:
    loss = f"{name} loses at least {figure(row.epsilon_lower_bound)}{_between(row)}"
    loss += f" (confidence {confidence(row.alpha)})"
    if row.epsilon_analytic is not None:
        loss += f"; infinitely many trials would show {figure(row.epsilon_analytic)}"
    return loss


def _between(row: Audit) -> str:
    """Return which two values were distinguished, if it matters."""
    if row.tried is None:
        return ""
    among = ", the only two tried" if row.tried == 2 else f", the worst two of {row.tried:,} tried"
    among = "" if row.tried == row.k else among
    if row.files is not None:
        return f" between the values of {row.files[0]} and {row.files[1]}{among}"
    return f" between values {row.values[0]:,} and {row.values[1]:,}{among}"


def _called(row: Audit) -> str:
    if row.files is not None:
        size = "" if row.attack == "line" else f", k = {row.k:,}"
        return f"the {label(row)} at ε = {row.epsilon:g}{size}"
    setting = "" if row.epsilon is None else f"ε = {row.epsilon:g}, "
    return f"{label(row)} at {setting}k = {domain(row)}"


def notes(question: AuditQuestion, rows: Sequence[Audit]) -> list[str]:
    """Return how the loss was measured, and whether it agrees with known results."""
    first = rows[0]
    attacks = "; ".join(f"{name}: the attacker {_attack(name, rows)}" for name in dict.fromkeys(r.attack for r in rows))
    lines = [
        f"{first.trials:,} trials of each value; attack {attacks}; highest bound that so many trials can give: "
        f"{figure(first.epsilon_ceiling)}."
    ]
    if question.planar:
        lines.append(f"ε is promised {question.cells.promise}, and in proportion to the distance.")
        lines += [_leakage(question.cells, row) for row in rows]
    if first.tried is not None:
        lines.append(_tried(rows, given=bool(question.attack.values)))
    if first.epsilon_forever is not None and first.protocol != DBitFlipPM.key:
        lines.append(
            f"Devices keep one randomisation of a value for ever, at ε = {first.epsilon_forever:g}: that is the "
            "promise for all rounds together. Beside them stands the same protocol with fresh noise in each round, "
            "which promises ε times the rounds."
        )
    if question.bit_flips is not None:
        lines.append(f"dbitflip ({question.bit_flips} bits a device) repeats its report: rounds add nothing to ε.")
    solutions = {row.solution: row for row in reversed(rows)}  # the first row of each
    if solutions.keys() & {"spl", "smp"}:
        lines.append("spl: every attribute is reported, at ε divided by their number; smp: one, drawn and named, at ε.")
    if "rsfd" in solutions:
        epsilon, attributes = solutions["rsfd"].epsilon or 0.0, solutions["rsfd"].attributes
        budget, one = published_budget(epsilon, attributes), "one attribute, drawn at random, is reported at"
        lines.append(
            f"rsfd (random sampling plus fake data): {one} ε′ = ln(d (e^ε − 1) + 1), as published: {budget:.4g} for "
            f"ε = {epsilon:g} and d = {attributes}. Users who differ in all attributes lose all of ε′."
            if question.subjects.amplified
            else f"rsfd (random sampling plus fake data): {one} ε, and the others are faked: [oue-z] as reports of no "
            "value, [oue-r] of a random one. That keeps ε for all attributes together. As published (--amplified) it "
            f"reports at ε = {budget:.4g} here (d = {attributes}, promise {epsilon:g}), and users who differ in all "
            "attributes lose all of that."
        )
    if "rsrfd" in solutions:
        lines.append(
            "rsrfd: the same with realistic fakes, drawn here from frequencies as skewed as 1/rank, value 0 first; it "
            "keeps ε whatever they are."
        )
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


def _attack(name: str, rows: Sequence[Audit]) -> str:
    """Return a description of the attack."""
    row = rows[0]
    first, second = row.values
    says = f"says {f'v1 = {first:,}' if row.files is None else f'the value of {row.files[0]}'} where"
    if name == "guess":
        sign = None if row.looked_for is None or len(rows) > 1 else row.looked_for[0]
        same_sign = sign is None or (sign == first and row.files is None)
        fake = any(other.attack == name and other.solution in HIDDEN for other in rows)
        which = " (with fake data from that of an attribute drawn at random)" if fake else ""
        return f"names one value from each report{which}{'' if same_sign else f', and {says} that is {sign}'}"
    if name == "line":
        return f"{says} a report is the line {short((row.looked_for or ('',))[0], repr, LONGEST_LINE)}"
    if name == "pair":
        if len({(row.values, row.looked_for) for row in rows}) > 1:
            return "says v1 where a report supports it and not v2"
        signs = f"it and not v2 = {second:,}" if row.looked_for is None else " and not ".join(map(str, row.looked_for))
        return f"{says} a report supports {signs}"
    if row.epsilon_forever is not None:
        return (
            f"counts the rounds whose reports support v1 = {first} and those that support v2 = {second}, and compares "
            "how likely both counts are under each"
        )
    return (
        f"knows that a user holds v1 = {first} in every attribute, or v2 = {second} in every one, and compares how "
        "likely all that the user sends is under each (from which ratio on it says v1 depends on the number of trials)"
    )


def _tried(rows: Sequence[Audit], *, given: bool) -> str:
    """Return the values among which a leak was searched."""
    if rows[0].files is not None:
        return (
            f"The two are those of {rows[0].tried} files whose reports look furthest apart in one half of the lines; "
            "the other half gives the bound."
        )
    if given:
        return "No other values were tried: without --values, the two that look worst are found first."
    among = dict.fromkeys(
        f"all {row.k:,}" if row.tried == row.k else f"{row.tried:,} of {row.k:,} (drawn at random)" for row in rows
    )
    return (
        f"v1 and v2 are the two of {' and of '.join(among)} values whose reports look furthest apart, found by other "
        "reports than those behind the bound."
    )


AXES = {"epsilon": "budget ε", "rounds": "collections of the same value", "symbols": "symbols of the hash"}
ACROSS = 2  # panels side by side
NAME_LENGTH = 28  # of a tick: the end of a longer name, which is that of a client


def audit_figure(audits: Audits) -> Figure:
    """Return the bounds along what varies most: a panel for each protocol if each has several settings.

    If nothing varies, audits stand side by side.
    """
    rows = audits.results
    shared = [name for name in AXES if all(getattr(row, name) is not None for row in rows)]
    axis = max(shared, key=lambda name: len({getattr(row, name) for row in rows}))  # the first of them
    lines: dict[tuple[str, str], list[Audit]] = {}
    for row in rows:
        lines.setdefault(_line(row, rows, axis), []).append(row)
    ticks = [" ".join(line).strip()[-NAME_LENGTH:] for line in lines] if len(lines) == len(rows) else []
    if ticks:
        lines = {("", "lower bound"): list(rows)}
    panels = list(dict.fromkeys(subject for subject, _ in lines))
    if len(panels) == len(lines):  # one line each: all in one panel
        lines, panels = {("", " ".join(line).strip()): found for line, found in lines.items()}, [""]
    names = list(dict.fromkeys(name for _, name in lines))
    across = min(ACROSS, len(panels))
    down = math.ceil(len(panels) / across)
    with settings():
        drawn = empty(max(3.6, 2.5 * down + 0.8))
        grid = drawn.subplots(down, across, squeeze=False, sharey=True).ravel().tolist()
        for (panel, name), found in lines.items():
            xs = list(range(len(found))) if ticks else [getattr(row, axis) for row in found]
            _draw(grid[panels.index(panel)], xs, found, name, names.index(name), joined=not ticks)
        for place, axes in enumerate(grid):
            axes.set(visible=place < len(panels), xlabel="" if ticks else AXES[axis])
            axes.set_title(panels[place] if place < len(panels) else "")
            axes.locator_params("x", integer=axis != "epsilon")
            _finish(axes, rows)
        if ticks:
            grid[0].set_xticks(range(len(ticks)), ticks, rotation=90 if max(map(len, ticks)) > 6 else 0)
        handles = {name: mark for axes in grid for mark, name in zip(*axes.get_legend_handles_labels(), strict=True)}
        drawn.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=2, handlelength=2.4)
        drawn.supylabel("privacy loss")
        headline(drawn, summary(rows), "Marks: lower bounds of the privacy loss that attacks prove")
        drawn.set_label(summary(rows))
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


def _finish(axes: Axes, rows: Sequence[Audit]) -> None:
    """Draw the ceiling of so many trials, and end the axis at it or at the highest promise."""
    ceiling = rows[0].epsilon_ceiling
    highest = max(max(row.epsilon_guaranteed or 0.0, _bound(row)) for row in rows)
    axes.axhline(ceiling, color=QUIET, linestyle=":", label=f"ceiling of {rows[0].trials:,} trials: {figure(ceiling)}")
    axes.set_ylim(0, 1.05 * min(highest, ceiling))
    axes.grid(color=BAND, linewidth=0.8)
