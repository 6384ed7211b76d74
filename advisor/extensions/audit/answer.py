"""Audits: one for each combination of what is asked."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from advisor.errors import InputError
from advisor.extensions.audit.question import BOTH, AuditQuestion
from advisor.extensions.audit.words import summary
from advisor.inputs.reports.lines import lines_of, reports_of
from advisor.members.loading import load_function
from simulator import PROTOCOLS, frequency_oracles
from simulator.audit import (
    ATTACKS,
    Audit,
    attribute_subjects,
    audit_client,
    audit_reports,
    fresh_subject,
    hashing_subject,
    memoised_subject,
    protocol_subject,
    rounds_subject,
    run_audit,
)
from simulator.audit.attributes import FAKES, HIDDEN
from simulator.audit.run import Subject
from simulator.memoisation import MEMOISED

PARALLEL_CELLS = 20_000_000  # numbers drawn in one audit from which threads are worth their start

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Audits:
    """Results of audits."""

    question: AuditQuestion  # what was asked
    results: tuple[Audit, ...]  # one for each combination of what it lists, see `simulator.audit.Audit`

    @property
    def leaks(self) -> bool:
        """Whether any audit finds more than is promised."""
        return any(row.leaks for row in self.results)

    @property
    def summary(self) -> str:
        """The result in a sentence or two."""
        return summary(self.results)


def answer(question: AuditQuestion, progress: Progress) -> Audits:
    """Return one audit for each combination of what the question lists.

    Raises InputError if the client cannot be imported, fails, or returns what it should not.
    """
    try:
        if question.client.foreign:
            return Audits(question, _audits_of_client(question, progress))
        return Audits(question, _audits_of_protocols(question, progress))
    except ValueError as error:
        raise InputError(str(error)) from None


def _audits_of_protocols(question: AuditQuestion, progress: Progress) -> tuple[Audit, ...]:
    wanted, trials = _subjects(question), question.trials
    rows = []
    for place, subject in enumerate(wanted):
        jobs = question.simulation.jobs
        if jobs is None:
            jobs = (os.cpu_count() or 1) if trials * subject.cells > PARALLEL_CELLS else 1
        rows.append(
            run_audit(
                subject,
                trials=trials,
                alpha=question.attack.level,
                seed=question.simulation.seed,
                jobs=jobs,
                comparisons=len(wanted),
                progress=_part(progress, place, len(wanted)),
            )
        )
    return tuple(rows)


def _part(progress: Progress, place: int, parts: int) -> Progress:
    """Return what shows the progress of one of several parts of equal size."""
    return lambda done, total: progress(place * total + done, parts * total)


def _subjects(question: AuditQuestion) -> list[Subject]:
    """Return what is audited, hashing alone first."""
    grid, values = question.grid, question.attack.pair
    return [
        *(hashing_subject(k, g, values) for g in question.subjects.hashing_only for k in grid.sizes),
        *(
            subject
            for name in question.protocols
            for k in grid.sizes
            for epsilon in grid.epsilons
            for subject in _subjects_of(question, name, k, epsilon)
        ),
    ]


def _subjects_of(question: AuditQuestion, name: str, k: int, epsilon: float) -> list[Subject]:
    subjects, values = question.subjects, question.attack.pair
    if not subjects.attributes and not subjects.rounds:
        return [protocol_subject(PROTOCOLS[name](k, epsilon), question.attack.attack or ATTACKS[0], values)]
    forever = question.memoisation.epsilon_forever
    if forever is not None:
        member = MEMOISED[name](k, forever, epsilon)
        trials, alpha = question.trials, question.attack.level
        return [
            subject
            for rounds in subjects.rounds
            for subject in (
                memoised_subject(member, rounds, values, trials=trials, alpha=alpha),
                fresh_subject(member.once, rounds, values, trials=trials, alpha=alpha),
            )
        ]
    oracle = frequency_oracles()[name]
    if subjects.attributes:
        return [
            subject
            for attributes in subjects.attributes
            for solution in question.solutions
            if solution not in HIDDEN or name in FAKES
            for subject in attribute_subjects(
                oracle, k, epsilon, attributes, solution, values, trials=question.trials, alpha=question.attack.level
            )
        ]
    return [rounds_subject(oracle(k, epsilon), rounds, values) for rounds in subjects.rounds]


def _audits_of_client(question: AuditQuestion, progress: Progress) -> tuple[Audit, ...]:
    asked, attack, functions = question.client, question.attack, question.functions
    cells = [(epsilon, k) for k in question.sizes for epsilon in question.grid.epsilons]
    written = {name: lines_of(name) for name in asked.files}
    client = None if written else functions.target or load_function("--target", asked.target or "")
    support = functions.support
    if support is None and asked.support is not None:
        support = load_function("--support", asked.support)
    rows = []
    for place, (epsilon, k) in enumerate(cells):
        how: dict[str, Any] = {
            "support": support,
            "alpha": attack.level,
            "attack": attack.attack or BOTH,
            "hash": asked.hash_name,
            "symbols": asked.symbols,
            "seed": question.simulation.seed,
            "progress": _part(progress, place, len(cells)),
        }
        if client is None:
            files: dict[str, list[Any]] = dict(written)
            if asked.reports is not None:
                files = {name: reports_of(lines, asked.reports, k, epsilon) for name, lines in written.items()}
            size = k if asked.readable else None
            rows.append(
                audit_reports(files, epsilon, asked.reports, k=size, name=f"client of {len(files)} files", **how)
            )
        else:
            values = attack.pair if attack.values else None
            how.update(trials=question.trials, values=values, name=asked.target)
            rows.append(audit_client(client, k, epsilon, asked.reports, **how))
    return tuple(rows)
