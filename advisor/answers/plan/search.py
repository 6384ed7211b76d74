"""The search for what pairs need: races between them, and bisection on simulated errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from advisor.answers.plan.result import Curve, PlanRow, Point, settled_row, value_text
from advisor.errors import InputError, listed
from advisor.question.plan import PlanQuestion
from advisor.question.request import DEFAULT_PAIR
from knowledge.menu import COVERED
from simulator import METRICS, POSTPROCESSORS
from simulator.benchmark import Experiment, simulate
from simulator.crossing import crossing
from simulator.domain import Domain
from simulator.methods import possible
from simulator.progress import Progress, part
from simulator.protocols.oracle import variances_of
from simulator.race import race
from simulator.ranking import SQUARED, Pair, mean_error, preference, rank

CONTENDERS = 8  # pairs that race for the first place, besides the best of each protocol and what the model knows not
RERACES = 4  # races after the first, at the answer of the leader
RACES = (20, 80)  # repetitions
MAX_REPETITIONS = 2000
PREDICTED = 10  # further rows that are only predicted
PLACES = 20  # at which a pair is measured until it is settled, hardly ever more
OTHER_NAMES = {"ibu": "ibu_pseudo", "ibu_pseudo": "ibu"}


class Search:
    """Looks for what pairs need by simulation, and keeps what was measured."""

    def __init__(self, question: PlanQuestion, progress: Progress) -> None:
        self._question, self._progress = question, progress
        # A race, two pairs to settle, and as many races again at most, with a pair to settle after each.
        self._step, self._steps = 0, 3 + 2 * RERACES
        self._measured: dict[Pair, dict[float, NDArray[np.float64]]] = {}

    def rows(self, predicted: Sequence[PlanRow], more: int = PREDICTED) -> list[PlanRow]:
        """Return the settled rows and some that are only predicted, least need first."""
        question = self._question
        by_pair = {row.pair: row for row in predicted}
        pairs = [pair for pair in question.named if self._fits(pair, self._start(by_pair.get(pair)))]
        self._steps = len(pairs) or self._steps
        if not pairs:
            start = self._start(min(by_pair.values(), key=lambda row: row.need, default=None))
            best = self._race(self._contenders(by_pair), start)
            pairs = list(dict.fromkeys([best, *([] if question.restricted else [DEFAULT_PAIR])]))
        settled = {pair: self.settle(pair, self._start(by_pair.get(pair))) for pair in pairs}
        if not question.named:
            self._race_again(settled, by_pair)
        others = [row for row in sorted(predicted, key=lambda row: row.need) if row.pair not in settled][:more]
        best = self._preferred(settled)
        first = sorted(settled.values(), key=lambda row: (row.pair != best, row.need))
        return first if question.named else [*first, *others]

    def _preferred(self, settled: Mapping[Pair, PlanRow]) -> Pair:
        """Return the pair to use: by `simulator.ranking.preference` of what all that suffice need.

        Errors fall with the square root of n, or slower: where one needs 2 % more users than another, its error is at
        most 1 % above, a squared one 2 %.
        """
        leader = min(settled.values(), key=lambda row: row.need)
        if leader.value is None:
            return leader.pair
        least, power = leader.value, 0.5 if self._question.n is None else 1.0
        power *= 1 + (METRICS[self._question.metric].unit == SQUARED)
        enough = {pair: row.value for pair, row in settled.items() if row.value is not None}
        costs = {name: self._question.oracle(name, least).cost for name, _ in enough}
        return min(enough, key=lambda pair: preference((enough[pair] / least) ** power, costs[pair[0]]))

    def _race_again(self, settled: dict[Pair, PlanRow], predicted: Mapping[Pair, PlanRow]) -> None:
        """Settle whatever wins a race against the leader, at the leader's answer.

        First the contenders race again, since the prediction may be far from the answer that was settled, with all
        methods of the leader's protocol: a method may be predicted to reach the target nowhere, and need least. Then it
        is the turn of the pairs that are predicted to need less than the leader: either may be wrong.
        """
        raced: set[Pair] = set()
        for turn in range(RERACES):
            leader = min(settled.values(), key=lambda row: row.need)
            at = self._question.range[1] if leader.value is None else leader.value
            by_need = sorted(predicted.values(), key=lambda row: row.need)
            undercut = [row.pair for row in by_need if row.need < leader.need]
            waiting = [pair for pair in undercut if pair not in raced and pair not in settled][:CONTENDERS]
            if turn == 0:
                of_leader = (pair for pair in predicted if pair[0] == leader.pair[0])
                waiting = [*self._contenders(predicted), *of_leader, *waiting]
            racing = [pair for pair in waiting if self._fits(pair, at)]
            if not racing:
                return
            raced.update(racing)
            best = self._race(list(dict.fromkeys([*racing, leader.pair])), at)
            if best not in settled:
                settled[best] = self.settle(best, at)

    def _start(self, row: PlanRow | None) -> float:
        low, high = self._question.range
        if row is None:
            return 1e5 if self._question.n is None else 1.0
        return min(max(high if row.value is None else row.value, low), high)

    def _fits(self, pair: Pair, x: float) -> bool:
        """Return whether the method is for estimates of the protocol, with the unknown at x."""
        question = self._question
        protocol, domain = question.oracle(pair[0], x), Domain(question.frequencies.ordered)
        return possible(POSTPROCESSORS[pair[1]], protocol, domain, question.users(x))

    def _contenders(self, predicted: Mapping[Pair, PlanRow]) -> list[Pair]:
        """Return the pairs that may need least: the first predicted, the best of each protocol, and the unpredicted."""
        menu = tuple(product(self._question.protocols, self._question.methods))
        if not predicted:
            return list(menu)
        ranked = [row.pair for row in sorted(predicted.values(), key=lambda row: row.need)]
        of_each = {protocol: (protocol, method) for protocol, method in reversed(ranked)}
        predictable = {protocol for protocol, _ in predicted}
        strangers = [
            pair for pair in menu if pair not in predicted and not (pair[0] in predictable and pair[1] in COVERED)
        ]
        return list(dict.fromkeys([*ranked[:CONTENDERS], *of_each.values(), *strangers]))

    def _race(self, racing: Sequence[Pair], at: float) -> Pair:
        """Let pairs race at a value of the unknown, and return the one to name: see `simulator.ranking.preferred`."""
        question = self._question
        racing = [pair for pair in racing if self._fits(pair, at)]
        if not racing:
            raise InputError(
                f"no method asked for goes with the protocols asked for: {listed(question.methods)} with "
                f"{listed(question.protocols)}"
            )
        if len(racing) == 1:
            return racing[0]
        experiment = self._experiment(at, racing)
        runs = race(
            experiment,
            [question.metric],
            menu=racing,
            repetitions=RACES[0],
            max_repetitions=RACES[1],
            progress=self._next(f"{question.sign} = {value_text(question, at)}"),
            jobs=question.simulation.threads(len(racing), RACES[1], question.frequencies.k),
        )
        errors = {pair: block for pair, block in runs.of(question.metric).items() if pair in racing}
        costs = {name: oracle.cost for name, oracle in experiment.oracles.items()}
        return rank(errors, costs, variances=variances_of(experiment.oracles, experiment.n))[0].pair

    def _next(self, name: str) -> Progress:
        """Return the progress of the next race, or of the next pair to settle."""
        self._step += 1
        return part(self._progress, self._step - 1, self._steps, name)

    def settle(self, pair: Pair, start: float) -> PlanRow:
        """Return what a pair needs, by bisection on simulated errors."""
        question = self._question
        low, high = question.range
        measured = self._measured.setdefault(pair, {})
        progress = self._next(f"{pair[0]} with {pair[1]}")

        def measure(x: float, first: int, repetitions: int) -> NDArray[np.float64]:
            progress(f"{question.sign} = {value_text(question, x)}", min(len(measured), PLACES), PLACES)
            # Where a protocol turns into plain randomised response, the formula goes by its other name.
            here = pair if self._fits(pair, x) else (pair[0], OTHER_NAMES.get(pair[1], pair[1]))
            experiment = self._experiment(x, [here])
            jobs = question.simulation.threads(1, repetitions, question.frequencies.k)
            errors = simulate(experiment, first, repetitions, pairs=[here], jobs=jobs).of(question.metric)[here]
            measured[x] = np.concatenate([measured.get(x, np.empty(0)), errors])
            return errors

        place = crossing(
            measure,
            question.target,
            start=start,
            low=low,
            high=high,
            whole=question.n is None,
            most=question.simulation.max_repetitions or MAX_REPETITIONS,
        )
        return settled_row(*pair, place)

    def _experiment(self, x: float, pairs: Sequence[Pair]) -> Experiment:
        question = self._question
        options = question.metric_values.options(question.simulation.seed)
        oracles = {name: question.oracle(name, x) for name in dict.fromkeys(p for p, _ in pairs)}
        return Experiment(
            counts=question.frequencies.counts(question.users(x)),
            oracles=oracles,
            methods={name: POSTPROCESSORS[name] for name in ("none", *(m for _, m in pairs))},
            metrics={question.metric: METRICS[question.metric].with_options(**options)},
            pairs=tuple(
                dict.fromkeys([*pairs, *((p, "none") for p, oracle in oracles.items() if oracle.offers("estimate"))])
            ),
            seed=question.simulation.seed,
            domain=Domain(question.frequencies.ordered),
        )

    def curve(self, pair: Pair, before: Curve) -> Curve:
        """Return the curve of a pair: what was predicted, and what was measured."""
        means = [(x, mean_error(errors)) for x, errors in self._measured.get(pair, {}).items()]
        measured = [Point(x, mean.error, simulated=True, low=mean.low, high=mean.high) for x, mean in means]
        return tuple(sorted([*before, *measured]))
