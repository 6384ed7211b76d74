"""``python studies/judge_surrogates.py FILES...``: how good choosing from an estimate is, and how right about itself.

For every histogram given (at its own size and coarser), every named shape and family, budget and number of users: the
truth is collected once, a method is chosen from that one estimate alone, and its expected error is compared with that
of the best method, which only the truth can tell. (The posterior median takes long: its error is that on the one
estimate.) Beside that, a reliability table: of all rows said to be the best with a probability in each tenth, the share
that truly are.

Families and files are split in two halves by name: constants are chosen with ``--half tuning``, figures come from
``--half judging``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated, NamedTuple

import numpy as np
import typer
from families import FAMILIES, HALVES, Truth, half_of, truths
from footer import footer

from advisor.errors import InputError, listed
from advisor.question.estimate_request import COLLECTIONS
from advisor.rank.assemble import OTHERS_REPETITIONS
from simulator import METRICS, POSTPROCESSORS, frequency_oracles
from simulator._types import FloatArray, IntArray
from simulator.benchmark import Experiment, Runs, simulate
from simulator.blending import best_combination, with_blends
from simulator.confidence import (
    belief_in,
    middle_and_range,
    population_errors,
    population_range,
    probability_best,
    ranking_root,
)
from simulator.domain import Domain
from simulator.methods import possible
from simulator.methods.blend import POSTERIOR_MEDIAN, UNIFORM, parts_of
from simulator.populations import SHAPES, apportion
from simulator.ranking import Pair, rank
from simulator.seeding import rng_for
from simulator.surrogate import DEFAULT, DRAWS, SURROGATES, surrogate_populations
from simulator.surrogate.posterior_median import medians, with_posterior_median

METRIC_NAMES = ("l1", "l2", "kl", "emd", "topk")
EPSILONS, USERS = (0.5, 1.0, 2.0), (10**4, 10**5, 10**6)
PROTOCOLS = ("oue", "ss", "grr")
TENTHS = 10
# Errors on even frequencies are decided by rare collections: of too few of them, the lowest mean is below the true one.
REPETITIONS = 2000

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class Setting(NamedTuple):
    """What is collected, how, and from how many."""

    truth: Truth
    epsilon: float
    n: int
    protocol: str = PROTOCOLS[0]


@dataclass(frozen=True)
class Decision:
    """One choice from one estimate.

    Attributes
    ----------
    surrogate, metric
        What was chosen by, and for.
    extra
        Expected error of the chosen method, or combination, over that of the best method alone, minus 1.
    regret
        Error of what was chosen on this estimate less that of the best method alone on it, over the expected error of
        that method.
    said
        For each method the probability of being the best, as the answer gives it; empty for a single population.
    best
        Which one truly is the best, of the methods and the combination that compete.
    held
        Whether the 95 % range of the chosen method's error holds its true expected error.
    ordered
        Whether the domain is.
    shares
        For each method the share of populations it wins; empty for a single population.
    leader
        Which method has the lowest mean error over the populations.
    chosen
        Its name.
    family
        Of the truth.
    place
        Where the true expected error is, on a log scale from the mean over the populations (0) to the ends of the
        middle 95 % of them (-1 and 1).
    """

    surrogate: str
    metric: str
    extra: float
    said: tuple[float, ...]
    best: int
    held: bool
    regret: float = 0.0
    ordered: bool = True
    shares: tuple[float, ...] = ()
    leader: int = 0
    chosen: str = ""
    place: float = 0.0
    family: str = ""


def methods_experiment(setting: Setting, populations: IntArray, seed: int) -> Experiment:
    """Return the experiment of all methods for the protocol on the populations."""
    truth, protocol = setting.truth, setting.protocol
    oracle = frequency_oracles()[protocol](len(truth.frequencies), setting.epsilon)
    methods = {
        name: method
        for name, method in POSTPROCESSORS.items()
        if not method.queries_only and possible(method, oracle, Domain(truth.ordered), setting.n)
    }
    return Experiment(
        counts=populations,
        oracles={protocol: oracle},
        methods=methods,
        metrics={name: METRICS[name] for name in METRIC_NAMES if truth.ordered or not METRICS[name].ordered_only},
        pairs=tuple((protocol, name) for name in methods),
        seed=seed,
        domain=Domain(truth.ordered),
    )


class Known:
    """The expected errors of methods where the truth is known."""

    def __init__(self, experiment: Experiment, repetitions: int) -> None:
        self._experiment, self._repetitions = experiment, repetitions
        self._errors = simulate(experiment, 0, repetitions)
        self._of_blends: dict[Pair, Runs] = {}

    def errors(self, metric: str) -> dict[Pair, float]:
        """Return the expected error of every method alone."""
        return {pair: float(block.mean()) for pair, block in self._errors.of(metric).items()}

    def error(self, metric: str, blend: Pair) -> float:
        """Return the expected error of a blend, on the same collections."""
        self.simulate_blends([blend])
        return float(self._of_blends[blend].column(blend, metric).mean())

    def simulate_blends(self, blends: Iterable[Pair]) -> None:
        """Work out the errors of several blends together: what they share takes as long as it does for one."""
        new = [blend for blend in dict.fromkeys(blends) if blend not in self._of_blends]
        if not new:
            return
        parts = dict.fromkeys((name, part) for name, blend in new for part in parts_of(blend) if part != UNIFORM)
        pairs = (*parts, *new)
        own = replace(self._experiment, methods={name: POSTPROCESSORS[name] for _, name in pairs}, pairs=pairs)
        runs = simulate(own, 0, self._repetitions)
        self._of_blends |= dict.fromkeys(new, runs)


def decide(setting: Setting, surrogates: tuple[str, ...], decisions: int, repetitions: int) -> list[Decision]:
    """Return all decisions of one setting: for each estimate, surrogate and metric."""
    truth, epsilon, n, protocol = setting
    counts = apportion(truth.frequencies, n)
    known = Known(methods_experiment(setting, counts, seed=1), repetitions)
    oracle = frequency_oracles()[protocol](len(truth.frequencies), epsilon)
    made = []
    for decision in range(decisions):
        rng = rng_for(2, "judge", truth.name, repr(epsilon), n, protocol, decision)
        estimate = oracle.estimate(oracle.sample_support(counts, rng), n)
        for name in surrogates:
            if SURROGATES[name].ordered_only and not truth.ordered:
                continue
            made += _from_estimate(setting, estimate, name, known, rng)
    return made


def decide_all(
    settings: Sequence[Setting],
    surrogates: tuple[str, ...],
    decisions: int,
    repetitions: int,
    jobs: int,
) -> list[Decision]:
    """Return all decisions of several settings, and tell on the error stream how far it is."""
    from joblib import Parallel, delayed

    blocks = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(decide)(setting, surrogates, decisions, repetitions) for setting in settings
    )
    made: list[Decision] = []
    for done, block in enumerate(blocks, start=1):
        made += block
        if sys.stderr.isatty() or done % 20 == 0:
            typer.echo(f"{done} of {len(settings)} settings", err=True)
    return made


def _from_estimate(
    setting: Setting, estimate: FloatArray, name: str, known: Known, rng: np.random.Generator
) -> list[Decision]:
    truth, epsilon, n, protocol = setting
    oracle = frequency_oracles()[protocol](len(estimate), epsilon)
    drawn = surrogate_populations(name, estimate, oracle.noise(n), ordered=truth.ordered, rng=rng, draws=DRAWS)
    populations = np.stack([apportion(row, n) for row in drawn])
    experiment = methods_experiment(setting, populations, seed=int(rng.integers(2**31)))
    # One population taken for the truth leaves nothing open but the noise of the collections: 40 are enough.
    runs = simulate(experiment, 0, OTHERS_REPETITIONS)
    menus = {metric: [method for _, method in runs.of(metric)] for metric in experiment.metrics}
    if len(populations) > 1:
        experiment, runs = with_blends(experiment, runs, protocol, menus)
    repetitions = DRAWS * (COLLECTIONS if len(populations) > 1 else 1)
    runs += simulate(experiment, runs.repetitions, repetitions - runs.repetitions)
    if len(populations) > 1:
        runs = with_posterior_median(experiment, runs, protocol)
    collected, domain = apportion(truth.frequencies, n) / n, Domain(truth.ordered)

    def here(metric: str, pair: Pair) -> float:
        """Return the error on the estimate."""
        own = pair[1] == POSTERIOR_MEDIAN
        result = medians(populations) if own else POSTPROCESSORS[pair[1]](estimate, oracle.noise(n), domain)
        return float(METRICS[metric](result, collected))

    added = dict.fromkeys(menus)
    if len(populations) > 1:
        added = {metric: best_combination(experiment, runs, protocol, metric, menu) for metric, menu in menus.items()}
        known.simulate_blends(pair for pair in added.values() if pair and pair[1] != POSTERIOR_MEDIAN)
    made = []
    for metric, measure in experiment.metrics.items():
        root, true = ranking_root(measure.degree), known.errors(metric)
        first = min(true, key=lambda pair: true[pair])  # of the methods alone
        best = true[first]
        menu = [(protocol, method) for method in menus[metric]]
        if pair := added[metric]:
            menu.append(pair)
            own = pair[1] == POSTERIOR_MEDIAN
            true[pair] = here(metric, pair) if own else known.error(metric, pair)
        blocks = {pair: runs.column(pair, metric) for pair in menu}
        ranked = {
            pair: block if len(populations) == 1 else population_errors(block, len(populations), root)
            for pair, block in blocks.items()
        }
        chosen, pairs = min(ranked, key=lambda pair: float(ranked[pair].mean())), list(blocks)
        one = Decision(
            name,
            metric,
            extra=true[chosen] / best - 1 if best else 0.0,
            regret=(here(metric, chosen) - here(metric, first)) / best if best else 0.0,
            said=(),
            best=min(range(len(pairs)), key=lambda place: true[pairs[place]]),
            held=False,
            ordered=truth.ordered,
            leader=pairs.index(chosen),
            chosen=chosen[1],
            family=truth.family,
        )
        if len(populations) > 1:
            belief = belief_in(metric, ordered=truth.ordered)
            wins = {standing.pair: standing.win_share for standing in rank(ranked, {protocol: (1.0,)})}
            sure = probability_best(wins, chosen, belief)
            low, high = population_range(blocks[chosen], len(populations), belief, root)
            one = replace(
                one,
                said=tuple(sure[pair] for pair in pairs),
                held=bool(low <= true[chosen] <= high),
                shares=tuple(wins[pair] for pair in pairs),
                place=_place(true[chosen], *middle_and_range(blocks[chosen], len(populations), root)),
            )
        made.append(one)
    return made


def _place(value: float, middle: float, low: float, high: float) -> float:
    """Return where a value is from -1 (low) over 0 (middle) to 1 (high), and beyond, on a log scale."""
    if value == middle:
        return 0.0
    sign, end = (-1.0, low) if value < middle else (1.0, high)
    if not value or not end or end == middle:
        return 0.0 if value == end else sign * math.inf
    return sign * math.log(value / middle) / math.log(end / middle)


def reliability(decisions: Iterable[Decision]) -> list[tuple[int, float, float]]:
    """Return for each tenth of probability: rows, mean probability said, share that truly is the best."""
    made = [decision for decision in decisions if decision.said]
    said = np.concatenate([decision.said for decision in made])
    best = np.concatenate([np.arange(len(decision.said)) == decision.best for decision in made])
    tenth = np.minimum((said * TENTHS).astype(int), TENTHS - 1)
    return [
        (int(rows.sum()), float(said[rows].mean()), float(best[rows].mean()))
        if (rows := tenth == place).any()
        else (0, float("nan"), float("nan"))
        for place in range(TENTHS)
    ]


@app.command()
def judge(
    files: Annotated[list[str] | None, typer.Argument(help="histograms to judge on, beside the named shapes")] = None,
    surrogate: Annotated[list[str] | None, typer.Option(help="repeatable (ensemble and norm_sub)")] = None,
    protocol: Annotated[list[str] | None, typer.Option(help="repeatable (oue, ss, grr)")] = None,
    half: Annotated[str | None, typer.Option(help="tuning or judging: half of the families and files (both)")] = None,
    alone: Annotated[bool, typer.Option("--alone", help="the files alone, without named shapes and families")] = False,
    by_family: Annotated[bool, typer.Option("--families", help="a table for each family as well")] = False,
    members: Annotated[int, typer.Option(min=1, help="of each family that is drawn at random")] = 1,
    decisions: Annotated[int, typer.Option(min=1, help="estimates per setting")] = 20,
    repetitions: Annotated[int, typer.Option("--reps", min=10, help="collections that tell the truth")] = REPETITIONS,
    every: Annotated[int, typer.Option(min=1, help="only every N-th setting")] = 1,
    jobs: Annotated[int, typer.Option(min=1, help="processes; change no number")] = 1,
) -> None:
    """Print Markdown tables: extra error of the chosen method by surrogate and metric, and the reliability table."""
    names = tuple(surrogate or (DEFAULT, "norm_sub"))
    for name in names:
        if name not in SURROGATES:
            raise InputError(f"--surrogate must be one of {listed(SURROGATES)}, got {name!r}")
    for name in protocol or ():
        if name not in frequency_oracles():
            raise InputError(f"--protocol must be one of {listed(frequency_oracles())}, got {name!r}")
    if half not in (None, *HALVES):
        raise InputError(f"--half must be one of {listed(HALVES)}, got {half!r}")
    judged = (truth for truth in truths(files or [], members) if not (alone and truth.family in (*SHAPES, *FAMILIES)))
    among = [truth for truth in judged if half in (None, half_of(truth.family))]
    settings = [Setting(*one) for one in product(among, EPSILONS, USERS, protocol or PROTOCOLS)][::every]
    made = decide_all(settings, names, decisions, repetitions, jobs)
    typer.echo(f"{len(settings)} settings, {decisions} estimates each; mean extra error (95th percentile) in %\n")
    _print_table(made, names, _extra, by_family=by_family)
    typer.echo("\nOn the one estimate; mean extra error (and its standard error) in %\n")
    _print_table(made, names, _regret, by_family=by_family)
    for name in names:
        own = [decision for decision in made if decision.surrogate == name and decision.said]
        if own:
            typer.echo(f"\n{name}: said to be the best, and truly the best\n\n| rows | said | true |\n|---:|---:|---:|")
            for rows, said, true in reliability(own):
                if rows:
                    typer.echo(f"| {rows:,} | {100 * said:.1f} % | {100 * true:.1f} % |")
            shares = {
                metric: np.mean([decision.held for decision in own if decision.metric == metric])
                for metric in METRIC_NAMES
                if any(decision.metric == metric for decision in own)
            }
            typer.echo(
                "\nThe 95 % range of the chosen method's error holds its true expected error: "
                + ", ".join(f"{metric} {100 * share:.0f} %" for metric, share in shares.items())
            )
    typer.echo("\n" + footer("1 (what is true) and 2 (estimates)"))


def _print_table(
    made: list[Decision], names: Iterable[str], cell: Callable[[list[Decision]], str], *, by_family: bool
) -> None:
    """Print a row of cells for each surrogate, and then for each family and surrogate."""
    typer.echo("| surrogate | " + " | ".join(METRIC_NAMES) + " |\n|---|" + "---:|" * len(METRIC_NAMES))
    families = sorted({one.family for one in made}) if by_family else []
    for family_name, name in [("", name) for name in names] + list(product(families, names)):
        own = [one for one in made if one.surrogate == name and family_name in ("", one.family)]
        cells = [cell([one for one in own if one.metric == metric]) for metric in METRIC_NAMES]
        typer.echo(f"| {family_name + ': ' if family_name else ''}{name} | {' | '.join(cells)} |")


def _extra(made: list[Decision]) -> str:
    extra = [decision.extra for decision in made]
    return f"{100 * np.mean(extra):.1f} ({100 * np.quantile(extra, 0.95):.0f})" if extra else "–"


def _regret(made: list[Decision]) -> str:
    regret = [decision.regret for decision in made]
    return f"{100 * np.mean(regret):.1f} ({100 * np.std(regret) / len(regret) ** 0.5:.1f})" if regret else "–"


if __name__ == "__main__":
    try:
        app(prog_name="python studies/judge_surrogates.py")
    except InputError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
