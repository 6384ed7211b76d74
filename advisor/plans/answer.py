"""The inverse question: how many users, or which ε, for an error; first from the grid, then settled by simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from advisor.errors import InputError, listed
from advisor.plans.question import DETECTION, LAST, Plan, PlanRow, Question, check_question
from advisor.question.frequencies import Known, from_memory, from_shape
from advisor.question.request import fitting_methods, fitting_metrics, metric_assumptions, metric_settings
from advisor.rank.advice import DEFAULT_PAIR
from knowledge.menu import METHODS
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.benchmark import Experiment, race, simulate
from simulator.crossing import Crossing, crossing
from simulator.ranking import Pair, paired_ratio

PRECISION, MAX_REPETITIONS = 0.0075, 2000
CONTENDERS = 8  # pairs that race for the first place, besides the best of each protocol and what the grid does not know
RERACES = 4  # races after the first, at the answer of the leader
NAMED = 12  # so many named pairs are all settled by simulation
RACES = (20, 80)  # repetitions
LOOKED_UP = 10  # further rows that only the grid speaks for
OTHER_NAMES = {"ibu": "ibu_pseudo", "ibu_pseudo": "ibu"}

Progress = Callable[[str], None]


def plan(
    *,
    target: float | None = None,
    detect: float | None = None,
    metric: str | None = None,
    epsilon: float | None = None,
    n: int | None = None,
    k: int | None = None,
    sample: Iterable[Any] | None = None,
    sample_counts: ArrayLike | Mapping[Any, int] | None = None,
    skew: float | None = None,
    shape: str | None = None,
    ordered: bool | None = None,
    protocol: str | Sequence[str] | None = None,
    method: str | Sequence[str] | None = None,
    instant: bool = False,
    seed: int = 0,
    jobs: int = 1,
) -> Plan:
    """Say how many users, or which ε, an error takes; or how many to tell a small frequency from 0.

    Parameters
    ----------
    target
        Mean error to be reached, in the unit of the metric.
    detect
        Instead of a target: a frequency that the raw estimate must tell from 0 with power 0.8 at level 0.05.
    metric
        Error metric; l1 unless it is named. A detection has none.
    epsilon, n
        Budget of one report, or users who report. The one that is left out is the unknown.
    k, sample, sample_counts, skew, shape, ordered
        What is known of the frequencies, as in `advisor.advise`.
    protocol, method
        Restrict the menu; pairs that are named in full are all settled.
    instant
        Answer from the grid (for a detection, by formula) alone.
    seed, jobs
        As in `advisor.advise`.

    Raises
    ------
    InputError
        If the question is wrong: see `advisor.plans.question.check_question`.

    Examples
    --------
    >>> answer = plan(target=0.1, epsilon=1.0, k=64, instant=True)
    >>> answer.question.unknown, answer.value > 100_000
    ('n', True)
    """
    settings = check_question(
        metric=metric,
        target=target,
        detect=detect,
        epsilon=epsilon,
        n=n,
        k=k,
        protocols=[protocol] if isinstance(protocol, str) else list(protocol or []),
        methods=[method] if isinstance(method, str) else list(method or []),
        seed=seed,
    )
    if sample is None and sample_counts is None:
        known = shape_for(settings, skew=skew, shape=shape, ordered=ordered)
    elif skew is not None or shape is not None:
        raise InputError("give a sample, or skew or shape, not both")
    else:
        known = from_memory(sample, sample_counts, k=settings["k"], ordered=ordered)
    return make_plan(build_question(settings, known), instant=instant, jobs=jobs)


def shape_for(settings: dict[str, Any], *, skew: float | None, shape: str | None, ordered: bool | None) -> Known:
    """Return the frequencies of a plan without a sample.

    Raises
    ------
    InputError
        If k is missing, or the shape is wrong.
    """
    if settings["k"] is None:
        raise InputError("k is missing: give a sample, or --k with the number of categories")
    metrics = () if settings["detects"] else settings["metrics"]
    return from_shape(
        settings["k"], skew=skew, shape=shape, ordered=ordered, metrics=metrics, seed=settings["seed"]
    )  # fmt: skip


def build_question(settings: dict[str, Any], known: Known) -> Question:
    """Join checked settings and the frequencies.

    Raises
    ------
    InputError
        If the metric or a method that was named does not fit the domain.
    """
    assumed: list[str] = []
    detects, protocols = settings["detects"], settings["protocols"]
    metrics = settings["metrics"] if detects else fitting_metrics(settings, known.ordered, assumed)
    methods = () if detects else fitting_methods(settings, metrics, known.ordered)
    options = metric_settings(settings["metric_options"], known.k)
    assumed += [] if detects else metric_assumptions(metrics, options)
    fewer = len(protocols) < len(PROTOCOLS)
    pairs = tuple(product(protocols, methods)) if fewer and settings["methods_named"] else ()
    return Question(
        known=replace(known, assumptions=(*known.assumptions, *assumed)),
        metric=DETECTION if detects else metrics[0],
        target=float(settings["target"]),
        epsilon=None if settings["unknown_epsilon"] else settings["epsilon"],
        n=settings["n"],
        protocols=protocols,
        methods=methods,
        named=pairs if len(pairs) <= NAMED else (),
        restricted=fewer or settings["methods_named"],
        seed=settings["seed"],
        precision=PRECISION,
        max_repetitions=max(settings["max_repetitions"], MAX_REPETITIONS)
        if not settings["max_repetitions_named"]
        else settings["max_repetitions"],
        metric_options=options,
    )


def make_plan(question: Question, *, instant: bool = False, jobs: int = 1, progress: Progress | None = None) -> Plan:
    """Answer a question: from the grid alone if `instant`, else settled by simulation.

    Raises
    ------
    InputError
        If no method fits a protocol, or the grid cannot answer alone.
    """
    if question.metric == DETECTION:
        from advisor.plans.detection import detection_plan

        return detection_plan(question, instant=instant)
    from advisor.plans.grid import first_answers  # reads the shipped grid

    guessed = first_answers(question)
    if instant:
        if not guessed.rows:
            raise InputError(f"the grid cannot answer this alone: {guessed.why_not}")
        rows = sorted(guessed.rows, key=_by_value)
        return _plan(question, guessed.first, rows, None, guessed.curve(rows[0].pair))
    settle = _Settler(question, jobs, progress or (lambda _: None))
    rows = settle.rows(guessed.rows)
    instead = None
    if rows[0].value is None and question.restricted:
        anything = replace(
            question,
            protocols=tuple(PROTOCOLS),
            methods=tuple(name for name in POSTPROCESSORS if _suits(name, question)),
            named=(),
            restricted=False,
        )
        best = _Settler(anything, jobs, progress or (lambda _: None)).rows(first_answers(anything).rows, rows_more=0)[0]
        instead = best if best.value is not None else None
    return _plan(question, guessed.first, rows, instead, settle.curve(rows[0].pair, guessed.curve(rows[0].pair)))


def _suits(method: str, question: Question) -> bool:
    member = POSTPROCESSORS[method]
    queries = METRICS[question.metric].clipped is not None
    return (question.known.ordered or not member.ordered_only) and (queries or not member.queries_only)


def _plan(
    question: Question,
    first: float | None,
    rows: Sequence[PlanRow],
    instead: PlanRow | None,
    curve: tuple[tuple[float, float, bool], ...],
) -> Plan:
    known = question.known
    truth = np.asarray(known.weights, dtype=np.float64) / known.weights.sum()
    measure = METRICS[question.metric].with_options(**question.metric_options)
    without = float(measure(np.stack([np.full(known.k, 1 / known.k), np.zeros(known.k)]), truth).min())
    warnings = list(known.warnings)
    users = rows[0].value if question.n is None else question.n
    if known.users is not None and users is not None and known.users < users:
        warnings.append(
            f"the sample ({known.users:,} users) is smaller than n = {users:,.0f}: its own sampling noise is taken for "
            "truth"
        )
    return Plan(question, first, tuple(rows), instead, without, curve, tuple(warnings))


def _by_value(row: PlanRow) -> tuple[bool, float]:
    """Sort key: least need first, those that do not reach the target by their floor."""
    return (row.value is None, (row.error if row.error is not None else np.inf) if row.value is None else row.value)


class _Settler:
    """Settles pairs by simulation, and keeps what was measured."""

    def __init__(self, question: Question, jobs: int, progress: Progress) -> None:
        self._question, self._jobs, self._progress = question, jobs, progress
        self._measured: dict[Pair, dict[float, NDArray[np.float64]]] = {}

    def rows(self, guessed: Sequence[PlanRow], rows_more: int = LOOKED_UP) -> list[PlanRow]:
        """Return the settled rows and some that only the grid speaks for, least need first."""
        question = self._question
        guess = {row.pair: row for row in guessed}
        wanted = [pair for pair in question.named if self._fits(pair, self._start(guess.get(pair)))]
        if not wanted:
            start = self._start(min(guess.values(), key=_by_value, default=None))
            best = self._race(self._contenders(guess), guess, start)
            wanted = list(dict.fromkeys([best, *([] if question.restricted else [DEFAULT_PAIR])]))
        settled = {pair: self.settle(pair, self._start(guess.get(pair))) for pair in wanted}
        if not question.named:
            self._race_again(settled, guess)
        others = [row for row in sorted(guessed, key=_by_value) if row.pair not in settled][:rows_more]
        first = sorted(settled.values(), key=_by_value)
        return first if question.named else [*first, *others]

    def _race_again(self, settled: dict[Pair, PlanRow], guess: Mapping[Pair, PlanRow]) -> None:
        """Settle whatever wins a race against the leader, at the leader's answer.

        First the contenders race again, since the grid's answer may be far from the one that was settled. Then it is
        the turn of the pairs that the grid says need less than the leader: it may be wrong about either.
        """
        raced: set[Pair] = set()
        for turn in range(RERACES):
            leader = min(settled.values(), key=_by_value)
            at = self._question.range[1] if leader.value is None else leader.value
            undercut = [row.pair for row in sorted(guess.values(), key=_by_value) if _by_value(row) < _by_value(leader)]
            waiting = [pair for pair in undercut if pair not in raced and pair not in settled][:CONTENDERS]
            racing = [*(self._contenders(guess) if turn == 0 else []), *waiting]
            racing = [pair for pair in racing if self._fits(pair, at)]
            if not racing:
                return
            raced.update(racing)
            best = self._race(list(dict.fromkeys([*racing, leader.pair])), guess, at)
            if best not in settled:
                settled[best] = self.settle(best, at)

    def _start(self, row: PlanRow | None) -> float:
        low, high = self._question.range
        if row is None:
            return 1e5 if self._question.n is None else 1.0
        return min(max(high if row.value is None else row.value, low), high)

    def _fits(self, pair: Pair, x: float) -> bool:
        """Tell whether the method is for estimates of the protocol, with the unknown at x."""
        epsilon, n = self._question.at(x)
        k, fits = self._question.known.k, POSTPROCESSORS[pair[1]].fits
        return fits is None or fits(PROTOCOLS[pair[0]](k, epsilon).noise(n), k)

    def _contenders(self, guess: Mapping[Pair, PlanRow]) -> list[Pair]:
        """Return the pairs that may need least: the grid's first, its best of each protocol, and those it knows not."""
        menu = tuple(product(self._question.protocols, self._question.methods))
        if not guess:
            return list(menu)
        ranked = [row.pair for row in sorted(guess.values(), key=_by_value)]
        of_each = {protocol: (protocol, method) for protocol, method in reversed(ranked)}
        strangers = [pair for pair in menu if pair not in guess and pair[1] not in METHODS]
        return list(dict.fromkeys([*ranked[:CONTENDERS], *of_each.values(), *strangers]))

    def _race(self, racing: Sequence[Pair], guess: Mapping[Pair, PlanRow], at: float) -> Pair:
        """Let pairs race at a value of the unknown, and return the one that wins.

        Of those that the race does not tell apart, the one that needs least by the grid: it saw more data.
        """
        question = self._question
        racing = [pair for pair in racing if self._fits(pair, at)]
        if not racing:
            raise InputError(
                f"no method asked for goes with the protocols asked for: {listed(question.methods)} with "
                f"{listed(question.protocols)}"
            )
        if len(racing) == 1:
            return racing[0]
        self._progress(f"{len(racing)} pairs race at {question.unknown} = {at:,.4g}")
        runs = race(
            self._experiment(at, racing), [question.metric], menu=racing,
            repetitions=RACES[0], max_repetitions=RACES[1], jobs=self._jobs,
        )  # fmt: skip
        errors = {pair: block for pair, block in runs.of(question.metric).items() if pair in racing}
        lowest = min(errors, key=lambda pair: float(errors[pair].mean()))
        tied = [pair for pair in errors if paired_ratio(errors[pair], errors[lowest]).low <= 1 and pair in guess]
        return min(tied, key=lambda pair: _by_value(guess[pair]), default=lowest)

    def settle(self, pair: Pair, start: float) -> PlanRow:
        """Return what a pair needs, by bisection on simulated errors."""
        question = self._question
        low, high = question.range
        seen = self._measured.setdefault(pair, {})

        def measure(x: float, first: int, repetitions: int) -> NDArray[np.float64]:
            self._progress(f"{pair[0]} with {pair[1]} at {question.unknown} = {x:,.5g}, {first + repetitions} runs")
            # Where a protocol turns into plain randomised response, the formula goes by its other name.
            here = pair if self._fits(pair, x) else (pair[0], OTHER_NAMES.get(pair[1], pair[1]))
            experiment = self._experiment(x, [here])
            errors = simulate(experiment, first, repetitions, pairs=[here], jobs=self._jobs).of(question.metric)[here]
            seen[x] = np.concatenate([seen.get(x, np.empty(0)), errors])
            return errors

        found = crossing(
            measure,
            question.target,
            start=start,
            low=low,
            high=high,
            whole=question.n is None,
            precision=question.precision,
            most=question.max_repetitions,
        )
        before = high / LAST[question.unknown]
        if not found.reached and (have := len(seen.get(before, ()))) < found.repetitions:  # `Plan.falls` asks for it
            measure(before, have, found.repetitions - have)
        return row_of(pair, found)

    def _experiment(self, x: float, pairs: Sequence[Pair]) -> Experiment:
        question = self._question
        epsilon, n = question.at(x)
        k, options = question.known.k, question.metric_options | {"seed": question.seed}
        return Experiment(
            counts=question.known.counts(n),
            oracles={name: PROTOCOLS[name](k, epsilon) for name in dict.fromkeys(p for p, _ in pairs)},
            methods={name: POSTPROCESSORS[name] for name in ("none", *(m for _, m in pairs))},
            metrics={question.metric: METRICS[question.metric].with_options(**options)},
            pairs=tuple(dict.fromkeys([*pairs, *((p, "none") for p, _ in pairs)])),
            seed=question.seed,
        )

    def curve(self, pair: Pair, before: tuple[tuple[float, float, bool], ...]) -> tuple[tuple[float, float, bool], ...]:
        """Return the curve of a pair: what was looked up, and what was measured."""
        measured = [(x, float(errors.mean()), True) for x, errors in self._measured.get(pair, {}).items()]
        return tuple(sorted([*before, *measured]))


def row_of(pair: Pair, found: Crossing) -> PlanRow:
    """Return a crossing as the row of a pair."""
    reached = found.reached
    return PlanRow(
        protocol=pair[0],
        method=pair[1],
        value=found.x if reached else None,
        low=found.low if reached else None,
        high=found.high if reached else None,
        error=found.error,
        error_low=found.error_low,
        error_high=found.error_high,
        repetitions=found.repetitions,
        source="simulation",
        met_at_once=reached and not found.inside,
    )
