"""``advisor.audit``: audits as a function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from advisor.api.keywords import keyword_errors
from advisor.api.shown import Shown
from advisor.errors import InputError
from advisor.extensions.audit.answer import Audits, answer
from advisor.extensions.audit.document import audit_document
from advisor.extensions.audit.picture import audit_figure, audit_sections
from advisor.extensions.audit.question import AttackSettings, AuditQuestion, ForeignClient, Subjects
from advisor.question.settings import AnyProtocol, Cells, Grid, Memoisation, Simulation, names
from advisor.show.model import Document, Section
from simulator.audit import ALPHA
from simulator.audit.client import Client
from simulator.audit.client_reports import SupportFunction

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N = TypeVar("N", int, float)


class AuditAnswer(Audits, Shown):
    """The answer of `audit`; its attributes are those of `advisor.extensions.audit.answer.Audits`."""

    @property
    def _document(self) -> Document:
        return audit_document(self)

    def _sections(self) -> tuple[Section, ...]:
        return audit_sections(self)

    def _figure(self) -> Figure:
        return audit_figure(self)


@keyword_errors()
def audit(
    epsilon: float | Sequence[float] | None = None,
    *,
    k: int | Sequence[int] | None = None,
    protocol: str | Sequence[str] | None = None,
    every: bool = False,
    trials: int | None = None,
    alpha: float | None = None,
    runs: int = 1,
    attack: str | None = None,
    values: tuple[int, int] | None = None,
    target: str | Client | None = None,
    files: Sequence[str] | None = None,
    reports: str | None = None,
    support: str | SupportFunction | None = None,
    hash: str | None = None,  # noqa: A002 - the field's word
    symbols: int | None = None,
    rounds: int | Sequence[int] | None = None,
    memoize: bool = False,
    epsilon_forever: float | None = None,
    device_bits: int | None = None,
    attributes: int | Sequence[int] | None = None,
    solution: str | Sequence[str] | None = None,
    sizes: Sequence[int] | None = None,
    amplified: bool = False,
    lho: int | Sequence[int] | None = None,
    grid: str | None = None,
    distance: str | None = None,
    radius: float | None = None,
    seed: int = 0,
    jobs: int | None = None,
    eps: float | Sequence[float] | None = None,
) -> AuditAnswer:
    """Attack reports, and return lower bounds of their privacy loss: an audit for each combination of the arguments.

    Arcolezi, Gambs, "Revealing the true cost of locally differentially private protocols: an auditing perspective",
    2024, Algorithm 1.

    Parameters
    ----------
    epsilon
        Privacy budgets of one report; ``eps`` is the same.
    k
        Domain sizes.
    protocol, every
        Protocols to audit by name, or all of them.
    trials
        Number of reports per value; for a `target` without `values`, half of them serve to find the two values.
    alpha
        Probability that a bound is wrong.
    runs
        Number of seeds, from `seed` on, over which mean and standard deviation of the bounds are taken.
    attack
        ``"guess"``: the attacker names a value from each report; ``"pair"``: the attacker distinguishes v1 and v2;
        ``"likelihood"``: from all reports of a user together; for a `target` also ``"both"``.
    values
        v1 and v2, each in 0..k-1; default: 0 and 1, and for a `target` the two values that look worst.
    target
        A client to audit: a function ``f(value, k, epsilon) -> report``, or its name ``"module:function"``.
    files
        Instead of a `target`: files of the reports that a client wrote, one per line, with a single true value per
        file.
    reports, support
        How its reports are read: by the protocol whose reports it makes, or by ``f(report, k, epsilon)``, which returns
        the values that a report supports. For `files` without either, lines are only compared for equality; then
        there is no `k`.
    hash, symbols
        For reports of ``"blh"`` and ``"olh"``: hash function, and number of symbols.
    rounds
        Collections of the same value, with fresh noise unless `memoize`.
    memoize, epsilon_forever
        Whether devices keep a permanent randomisation of a value, and its budget.
    device_bits
        With `memoize`: audit dBitFlipPM, whose devices report on so many categories.
    attributes, solution
        Number of attributes per user, each with k values, and how they are collected: ``"spl"``, ``"smp"``,
        ``"rsfd"``, ``"rsrfd"``.
    sizes
        Instead of `k` and `attributes`: how many values each attribute has.
    amplified
        Whether ``"rsfd"`` and ``"rsrfd"`` report at the budget they were published with.
    lho
        Number of symbols of local hashing without perturbation.
    grid, distance, radius
        For mechanisms for places: the cells, ``"8x8"``, their distance, ``"euclidean"`` or ``"manhattan"``, and how far
        apart the budget is promised.
    seed, jobs
        Same seed, same result, with any number of threads.

    Raises
    ------
    InputError
        If an argument is missing, out of range or contradicts another, or if the client fails.

    Examples
    --------
    >>> tight = audit(1.0, k=10, protocol="grr", trials=20_000)
    >>> tight.leaks, tight.results[0].epsilon_lower_bound < 1
    (False, True)
    """
    if epsilon is not None and eps is not None:
        raise InputError("give either epsilon or eps: they are the same")
    question = AuditQuestion(
        grid=Grid(epsilons=_several(eps if epsilon is None else epsilon), sizes=_several(k)),
        menu=AnyProtocol(protocol=names(protocol)),
        cells=Cells(grid=grid, distance=distance, radius=radius),
        subjects=Subjects(
            every=every,
            rounds=_several(rounds),
            attributes=_several(attributes),
            solution=names(solution),
            attribute_sizes=tuple(sizes or ()),
            amplified=amplified,
            hashing_only=_several(lho),
        ),
        attack=AttackSettings(
            attack=attack, values=values or (), trials=trials, alpha=ALPHA if alpha is None else alpha, runs=runs
        ),
        client=ForeignClient(
            target=target, files=tuple(files or ()), reports=reports, support=support, hash=hash, symbols=symbols
        ),
        memoisation=Memoisation(memoize=memoize, epsilon_forever=epsilon_forever, bits=device_bits),
        simulation=Simulation(seed=seed, jobs=jobs),
    )
    return AuditAnswer.of(answer(question))


def _several(value: N | Sequence[N] | None) -> tuple[N, ...]:
    return () if value is None else tuple(value) if isinstance(value, Sequence) else (value,)
