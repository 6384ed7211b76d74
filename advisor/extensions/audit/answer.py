"""Audits, one for each combination of what is asked; of foreign code in a process of its own, which it may end."""

from __future__ import annotations

import multiprocessing
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from multiprocessing.connection import Connection
from statistics import fmean, stdev
from typing import Any

from advisor.errors import InputError
from advisor.extensions.audit.question import AuditQuestion
from advisor.inputs.reports.vectors import split_numbers
from advisor.inputs.source import opened
from advisor.members import load_function
from simulator import PROTOCOLS, audit, frequency_oracles
from simulator.audit.run import Subject
from simulator.audit.several import FAKES, HIDDEN
from simulator.hashing import DEFAULT_HASH
from simulator.memoisation import MEMOISED, DBitFlipPM
from simulator.progress import Progress, part, silent
from simulator.protocols.grr import GRR
from simulator.protocols.protocol import StandardProtocol
from simulator.protocols.tree import Tree


@dataclass(frozen=True)
class Audits:
    """Results of audits."""

    question: AuditQuestion  # what was asked
    results: tuple[audit.Audit, ...]  # one for each combination of what it lists, see `simulator.audit.Audit`

    @property
    def leaks(self) -> bool:
        """Whether any audit finds more than is promised."""
        return any(row.leaks for row in self.results)


def answer(question: AuditQuestion, progress: Progress = silent) -> Audits:
    """Return one audit for each combination of what the question lists.

    Raises InputError if the client cannot be imported, fails, or returns what it should not.
    """
    audits = _audits_of_client if question.client.foreign else _audits_of_protocols
    try:
        return Audits(question, tuple(audits(question, progress)))
    except ValueError as error:
        raise InputError(str(error)) from None


def _audits_of_protocols(question: AuditQuestion, progress: Progress) -> Iterator[audit.Audit]:
    subjects, trials, number = list(_subjects(question)), question.trials, question.attack.runs
    for place, subject in enumerate(subjects):
        rows = [
            audit.run_audit(
                subject,
                trials=trials,
                alpha=question.attack.alpha,
                seed=question.simulation.seed + run,
                jobs=question.simulation.workers(trials * subject.cells),
                comparisons=len(subjects),
                progress=partial(part(progress, place * number + run, len(subjects) * number), subject.protocol),
            )
            for run in range(number)
        ]
        bounds = [row.epsilon_lower_bound for row in rows]
        spread = (fmean(bounds), stdev(bounds)) if number > 1 else (None, None)
        yield replace(rows[0], runs=number, epsilon_lower_bound_mean=spread[0], epsilon_lower_bound_sd=spread[1])


def _subjects(question: AuditQuestion) -> Iterator[Subject]:
    """Yield what is audited, hashing alone first."""
    for symbols, k in product(question.subjects.hashing_only, question.sizes):
        yield audit.hashing_subject(k, symbols, question.values)
    for name, k, epsilon in product(question.protocols, question.sizes, question.grid.epsilons):
        yield from _subjects_of(question, name, k, epsilon)
    if question.bit_flips is not None:
        for k, epsilon, rounds in product(question.sizes, question.grid.epsilons, question.subjects.rounds):
            member = DBitFlipPM(k, epsilon, epsilon, bits=question.bit_flips)
            yield audit.bit_flips_subject(member, rounds, question.values, **_limits(question))


def _limits(question: AuditQuestion) -> dict[str, Any]:
    return {"trials": question.trials, "alpha": question.attack.alpha}


def _subjects_of(question: AuditQuestion, name: str, k: int, epsilon: float) -> Iterator[Subject]:
    subjects, values, limits = question.subjects, question.values, _limits(question)
    attack = question.attack.attack or question.attacks[0]
    if (forever := question.memoisation.epsilon_forever) is not None:
        member = MEMOISED[name](k, forever, epsilon)
        for rounds in subjects.rounds:
            yield audit.memoised_subject(member, rounds, values, **limits)
            yield audit.fresh_subject(member.once, rounds, values, **limits)
    elif question.attributes:
        limits |= {"sizes": subjects.attribute_sizes, "attack": attack, "amplified": subjects.amplified}
        oracle = frequency_oracles()[name]
        for attributes, solution in product(question.attributes, question.solutions):
            if solution not in HIDDEN or name in FAKES:
                yield from audit.attribute_subjects(oracle, k, epsilon, attributes, solution, values, **limits)
    elif subjects.rounds:
        for rounds in subjects.rounds:
            yield audit.rounds_subject(frequency_oracles()[name](k, epsilon), rounds, values)
    elif question.planar:
        channel, distances = question.cells.channel(name, epsilon), question.cells.places.distances()
        promise = epsilon / (question.cells.radius or 1.0) * float(distances[values])
        subject = audit.protocol_subject(channel, attack, values)
        yield replace(subject, epsilon=epsilon, epsilon_guaranteed=promise)
    else:
        protocol = PROTOCOLS[name](k, epsilon)
        widest = getattr(protocol, "widest_pair", values)
        pair = values if question.attack.values or widest[0] == widest[1] else widest
        yield audit.protocol_subject(protocol, attack, pair)


def _audits_of_client(question: AuditQuestion, progress: Progress) -> Iterator[audit.Audit]:
    client, attack = question.client, question.attack
    lines = {name: lines_of(name) for name in client.files}
    target, support = (
        load_function(flag, function) if isinstance(function, str) else function
        for flag, function in (("--target", client.target), ("--support", client.support))
    )
    how: dict[str, Any] = {
        "support": support,
        "alpha": attack.alpha,
        "attack": attack.attack or question.attacks[0],
        "hash": client.hash or DEFAULT_HASH,
        "symbols": client.symbols,
        "seed": question.simulation.seed,
    }
    cells = list(product(question.sizes, question.grid.epsilons))
    for place, (k, epsilon) in enumerate(cells):
        stage = f"calling {client.name}" if client.name else "reports"
        how["progress"] = partial(part(progress, place, len(cells)), stage)
        if target is not None:
            more = {"trials": question.trials, "values": attack.values or None, "name": client.name}
            yield audit.audit_client(target, k, epsilon, client.reports, **how, **more)
            continue
        files: dict[str, list[Any]] = dict(lines)
        if client.reports is not None:
            files = {name: reports_of(texts, client.reports, k, epsilon) for name, texts in lines.items()}
        yield audit.audit_reports(files, epsilon, client.reports, k=k if client.readable else None, **how)


def lines_of(path: str) -> list[str]:
    """Return the lines of a text or its gzip, without blank lines.

    Raises InputError if it cannot be read, or has no line.
    """
    with opened(path) as source:
        lines = list(filter(None, map(str.strip, "".join(source.pieces()).split("\n"))))
        if not lines:
            raise InputError(f"{source.name}: is empty; an audit needs the reports of one true value in each file")
        return lines


def reports_of(lines: Iterable[str], protocol: str, k: int, epsilon: float) -> list[Any]:
    """Return the reports of a protocol as audits take them from a client; a line that is none stays as it is."""
    member = PROTOCOLS[protocol](k, epsilon)
    return [_report(line, member) for line in lines]


def _report(line: str, member: StandardProtocol) -> Any:
    kind, cells = member.report_kind, split_numbers(line)
    try:
        if isinstance(member, Tree):
            height, nodes = int(cells[0]), cells[1]
            inner = member.inner[height]
            bits = [str(int(place == int(nodes))) for place in range(inner.k)] if isinstance(inner, GRR) else [*nodes]
            cells = [cells[0], *bits, *["0"] * (member.k - len(bits))]
        elif kind == "bits" and len(cells) == 1:
            cells = [*line]
        numbers = [float(cell) if kind == "cells" else int(cell) for cell in cells]
    except (ValueError, IndexError):
        return line
    if kind == "hash":
        return tuple(reversed(numbers))  # the seed is first in a line, and the symbol is in a report
    return numbers[0] if kind in ("value", "symbol") and len(numbers) == 1 else numbers


def answer_apart(question: AuditQuestion, progress: Progress) -> Audits:
    """Return what `answer` returns, from a process that code from outside may end.

    Raises InputError as `answer`, and if the process ends before it has answered.
    """
    name = " or ".join(str(one) for one in (question.client.target, question.client.support) if one)
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(question, warnings.showwarning, sender))
    process.start()
    sender.close()  # so that the end of the process is noticed
    try:
        while True:
            step = receiver.recv()
            if isinstance(step, Audits):
                return step
            if isinstance(step, Exception):
                raise step
            progress(*step)
    except EOFError:
        process.join()
        code = process.exitcode or 0
        ending = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
        raise InputError(
            f"{name} ended its process ({ending}), so there is no answer: a client must not exit"
        ) from None
    finally:
        process.kill()
        process.join()
        receiver.close()


def _work(question: AuditQuestion, show: Callable[..., None], sender: Connection) -> None:
    """Answer a question in this process, and say so through a pipe; `show` shows a warning of the client."""
    warnings.showwarning = show
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who waits for this process ends it
    try:
        sender.send(answer(question, lambda *step: sender.send(step)))
    except (InputError, MemoryError, RecursionError) as error:
        sender.send(error)
    except BaseException as error:
        if isinstance(error, Exception):
            raise
        # An interrupt, an exit: of the client alone, since nothing interrupts this process.
        what = f"{type(error).__name__}: {error}".removesuffix(": ")
        name = question.client.target or question.client.support
        sender.send(InputError(f"{name} raised {what}; a client returns each report, and does not leave"))
