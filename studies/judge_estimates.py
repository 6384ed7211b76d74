"""``python studies/judge_estimates.py --set SET [FILES...]``: how right answers about one estimate are.

A truth is kept, collected once, and the answer asked what it names, what that errs by, in which range, how likely it is
within 2 % of the best, and by which ratios the others are worse; then the truth is looked at. Sets:

``few``: 2 to 12 categories, even, from two Dirichlet distributions, and with one rare category, pooled.
``tails``: heavy tails with and without scatter, and spikes beside a graded tail, five families each.
``clipped``: the tails once more, clipped at 0, clipped and made to sum to 1, and projected on the simplex.
``shapes``: histograms given (at their own size and coarser), named shapes and families, in two halves by name:
constants are chosen with ``--half tuning``, figures come from ``--half judging``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import chain, product
from typing import Annotated, NamedTuple

import common
import numpy as np
import pandas as pd
import typer
from common import Every, Jobs, footer, head, line, run
from families import FAMILIES, HALVES, Truth, half_of, truths

from advisor.answers.rank.assemble import Contest, contests
from advisor.answers.rank.simulate import experiment_of, judged_methods
from advisor.errors import InputError, listed
from advisor.inputs.estimates import RawEstimates
from advisor.question.collected import collect
from advisor.question.estimate_request import build_estimate_request
from advisor.question.question import Question
from advisor.question.request import Collected
from advisor.question.settings import Terms
from advisor.question.spread import Origin
from simulator import METRICS, POSTPROCESSORS, frequency_oracles
from simulator._types import FloatArray
from simulator.populations import SHAPES, apportion
from simulator.seeding import rng_for

METRIC_NAMES = ("l1", "l2", "kl", "emd", "topk")
EPSILONS, USERS, PROTOCOLS = (0.5, 1.0, 2.0), (10**4, 10**5, 10**6), ("oue", "ss", "grr")
FEW = (2, 3, 4, 6, 8, 12)
FEW_BUDGETS = (0.5, float(np.log(3)), float(np.log(5)), 2.0)
FEW_SETTINGS = tuple(product(("grr", "oue", "ss", "olh"), FEW_BUDGETS, (500, 2435, 20_000)))
TAIL_SETTINGS = {
    500: (("oue", 2.0, 60_000), ("oue", 1.0, 300_000), ("ss", 1.0, 100_000)),
    12: (("oue", 1.0, 20_000), ("grr", 1.0, 20_000), ("ss", 2.0, 5_000), ("olh", 0.5, 100_000)),
}
TENTHS = 10
GOOD = 1.02  # times the lowest error, up to which a result is as good as the best
REPETITIONS = 400  # collections that tell which method is best in hindsight


Which = StrEnum("Which", ["FEW", "TAILS", "CLIPPED", "SHAPES"])  # sets of truths


class Setting(NamedTuple):
    """What is collected, how, and from how many."""

    truth: Truth
    protocol: str
    epsilon: float
    n: int
    clip: str = ""  # "", or the name of the method that the estimate was repaired with


class Judged(NamedTuple):
    """One answer about one estimate, and what is true.

    Attributes
    ----------
    named, group
        The method that the answer names, and what figures are given by.
    stated, actual, held
        The error that it states for it, the true one on this estimate, and whether its 95 % range holds that.
    given, usual, best
        The true errors on this estimate of what was given, of `norm_sub`, and of the method with the lowest expected
        error, which only the truth tells.
    expected
        That lowest expected error.
    extra
        The expected error of the named over `expected`, less 1: where the named is a summary, its error on this
        estimate stands for it.
    said, true
        For each row the probability of being within 2 % of the lowest error, and whether it is.
    covered
        For each other row whether the range of its ratio to the lowest error holds the true ratio.
    """

    named: str
    group: str
    metric: str
    stated: float
    actual: float
    held: bool
    given: float
    usual: float
    best: float
    expected: float
    extra: float
    said: tuple[float, ...]
    true: tuple[bool, ...]
    covered: tuple[bool, ...]


def expected_errors(setting: Setting, repetitions: int) -> dict[str, dict[str, float]]:
    """Return for each metric the expected error of every method alone."""
    truth, epsilon, n = setting.truth, setting.epsilon, setting.n
    counts, ordered = apportion(truth.frequencies, n), truth.ordered
    pairs = common.possible_pairs(setting.protocol, len(counts), epsilon, n, ordered=ordered)
    names = common.metrics_for(METRIC_NAMES, ordered=ordered)
    simulated = common.experiment(counts, epsilon, pairs, names, ordered=ordered, seed=1)
    errors = common.mean_errors(simulated, repetitions)
    return {metric: {method: error for (_, method), error in own.items()} for metric, own in errors.items()}


def contests_of(setting: Setting, estimate: FloatArray) -> tuple[Collected, list[Contest]]:
    """Return what an answer about an estimate rests on, for each metric."""
    labels, ordered = tuple(f"v{value:06d}" for value in range(len(estimate))), setting.truth.ordered
    origin = Origin(setting.protocol, setting.epsilon, setting.n)
    collected = collect(RawEstimates(labels, estimate), origin, ordered=ordered)
    names = common.metrics_for(METRIC_NAMES, ordered=ordered)
    question = Terms(epsilon=setting.epsilon, metric=tuple(names))
    request = build_estimate_request(Question(terms=question), collected, name="estimate")
    experiment, _ = experiment_of(request)
    known = judged_methods(request, experiment)
    return collected, [contests(metric, request, experiment, known, known)[0] for metric in request.metrics]


def judge_setting(setting: Setting, decision: int, repetitions: int, by_k: bool) -> list[Judged]:
    """Return what is true of the answers about one estimate, for each metric."""
    truth, n = setting.truth, setting.n
    rng = rng_for(2, "judge", truth.name, repr(setting.epsilon), n, setting.protocol, decision)
    counts = apportion(truth.frequencies, n)
    oracle = frequency_oracles()[setting.protocol](len(counts), setting.epsilon)
    estimate = oracle.estimate(oracle.sample_support(counts, rng), n)
    if setting.clip:
        estimate = POSTPROCESSORS[setting.clip](estimate, oracle.noise(n))
    collected, found = contests_of(setting, estimate)
    expected = expected_errors(setting, repetitions) if repetitions else {}
    group = f"k = {len(counts)}" if by_k else f"{setting.clip} {truth.family}".strip()
    return [_judged(one, collected, estimate, counts / n, expected.get(one.metric, {}), group) for one in found]


def _judged(
    contest: Contest, collected: Collected, given: FloatArray, truth: FloatArray, expected: dict[str, float], group: str
) -> Judged:
    metric = METRICS[contest.metric]

    def here(method: str) -> float:
        result = given if method == "none" else POSTPROCESSORS[method].apply(collected.observed)
        return float(metric(result, truth))

    standings = contest.standings
    named = standings[0].pair[1]
    actual = {standing.pair[1]: here(standing.pair[1]) for standing in standings}
    figures = contest.figures(contest.runs.column(standings[0].pair, contest.metric))
    lowest, base = min(actual.values()), actual[contest.leader[1]]
    first = min(expected, key=lambda method: expected[method], default=named)
    own = expected.get(named, actual[named])
    others = [standing for standing in standings if standing.pair != contest.leader and base]
    return Judged(
        named,
        group,
        contest.metric,
        stated=figures.error,
        actual=actual[named],
        held=bool(figures.low <= actual[named] <= figures.high),
        given=here("none"),
        usual=here("norm_sub"),
        best=here(first),
        expected=expected.get(first, 0.0),
        extra=own / expected[first] - 1 if expected.get(first) else 0.0,
        said=tuple(contest.probabilities[standing.pair] for standing in standings),
        true=tuple(actual[standing.pair[1]] <= GOOD * lowest for standing in standings),
        covered=tuple(one.ratio.low <= actual[one.pair[1]] / base <= one.ratio.high for one in others),
    )


def settings_of(which: Which, files: Iterable[str], half: str | None, members: int, alone: bool) -> list[Setting]:
    """Return the settings of a set."""
    if which is Which.FEW:
        return [Setting(truth, *one) for k in FEW for one in FEW_SETTINGS for truth in _few_truths(k, repr(one))]
    if which is Which.SHAPES:
        shaped = (*SHAPES, *FAMILIES)
        among = [one for one in truths(files, members) if half in (None, half_of(one.family))]
        among = [one for one in among if not alone or one.family not in shaped]
        return [Setting(truth, name, eps, n) for truth, eps, n, name in product(among, EPSILONS, USERS, PROTOCOLS)]
    tails = [(truth, one) for truth in _tails() for one in TAIL_SETTINGS[500 if len(truth.frequencies) > 16 else 12]]
    clips = ("base_pos", "norm_mul", "norm_sub") if which is Which.CLIPPED else ("",)
    return [Setting(truth, *one, clip) for truth, one in tails for clip in clips]


def _few_truths(k: int, setting: str) -> Iterator[Truth]:
    """Yield populations of k categories, for each setting its own."""
    rng = rng_for(0, "few", k, setting)
    made = {
        "even": np.full(k, 1 / k),
        "Dirichlet(1)": rng.dirichlet(np.ones(k)),
        "Dirichlet(0.3)": rng.dirichlet(np.full(k, 0.3)),
        "one rare": np.append(0.01, np.full(k - 1, 0.99 / (k - 1))),
    }
    yield from (Truth(f"{name} k={k} {setting}", False, shares, name) for name, shares in made.items())


def _tails() -> Iterator[Truth]:
    rng, rank = rng_for(0, "tails"), np.arange(1, 501.0)
    weights = {
        "Zipf 1.3 x log-normal": rank**-1.3 * rng.lognormal(0, 0.5, 500),
        "Zipf 1": 1 / rank,
        "Zipf 2": rank**-2.0,
        "log-normal(2)": rng.lognormal(0, 2, 500),
        "gamma(0.3)": rng.gamma(0.3, size=500) + 1e-9,
    }
    for share, steps in ((0.97, 11), (0.9, 11), (0.99, 7)):
        tail = np.geomspace(1, 0.01, steps)
        weights[f"{share:.0%} and a tail"] = np.append(share, (1 - share) * tail / tail.sum())
    weights["60, 35 % and a tail"] = np.array([60, 35, *(5 * np.geomspace(1, 0.01, 10) / 3)])
    weights["Zipf 3"] = np.arange(1, 17.0) ** -3
    yield from (Truth(name, False, one / one.sum(), name) for name, one in weights.items())


def reliability(made: Sequence[Judged]) -> pd.DataFrame:
    """Return for each tenth of probability: rows, mean probability said, share that truly is as good as the best."""
    said, true = (np.concatenate([getattr(one, name) for one in made]) for name in ("said", "true"))
    tenths = np.minimum((said * TENTHS).astype(int), TENTHS - 1)
    table = pd.DataFrame({"rows": said, "said": said, "true": true})
    return table.groupby(tenths).agg({"rows": "size", "said": "mean", "true": "mean"})


def figures_of(made: Sequence[Judged]) -> list[str]:
    """Return the cells of a row: what is stated of what is named, and what that is worth."""
    table, root = pd.DataFrame(made), len(made) ** 0.5
    mean = table[["stated", "actual", "held", "given", "usual"]].mean()
    ratio = mean.stated / mean.actual
    error = (table.stated - ratio * table.actual).std(ddof=0) / root / mean.actual
    covered = table.covered.explode().dropna()
    cells = [
        f"{len(made)}",
        f"{ratio:.2f} ± {error:.2f}",
        f"{mean.held:.3f}",
        f"{covered.mean():.3f}" if len(covered) else "–",
        f"{mean.actual / mean.given:.2f}",
        f"{mean.actual / mean.usual:.2f}",
    ]
    if not table.expected.all():
        return [*cells, "–", "–"]
    extra, here = 100 * table.extra, 100 * (table.actual - table.best) / table.expected
    further = f"{extra.mean():.1f} ({extra.quantile(0.95):.0f})"
    return [*cells, further, f"{here.mean():.1f} ± {here.std(ddof=0) / root:.1f}"]


OVER = ("named / given", "named / norm_sub", "extra % (95th)", "extra here %")
HEAD = ("estimates", "stated / actual", "range holds", "ratios hold", *OVER)


def judge(
    files: Annotated[list[str] | None, typer.Argument(help="histograms, for --set shapes")] = None,
    which: Annotated[Which, typer.Option("--set", help="which truths")] = Which.SHAPES,
    half: Annotated[str | None, typer.Option(help="tuning or judging: half of the families and files (both)")] = None,
    alone: Annotated[bool, typer.Option("--alone", help="the files alone, without named shapes and families")] = False,
    members: Annotated[int, typer.Option(min=1, help="of each family that is drawn at random")] = 1,
    groups: Annotated[bool, typer.Option("--groups", help="a row for each family, or k, as well")] = False,
    decisions: Annotated[int, typer.Option(min=1, help="estimates per setting")] = 1,
    first: Annotated[int, typer.Option("--from", min=0, help="number of the first of these estimates")] = 0,
    repetitions: Annotated[int, typer.Option("--reps", min=0, help="collections that tell the best")] = REPETITIONS,
    every: Every = 1,
    jobs: Jobs = 1,
) -> None:
    """Print Markdown tables: how right answers about one estimate are, and how often probabilities come true."""
    from joblib import Parallel, delayed

    if half not in (None, *HALVES):
        raise InputError(f"--half must be one of {listed(HALVES)}, got {half!r}")
    settings = settings_of(which, files or [], half, members, alone)[::every]
    work = product(settings, range(first, first + decisions))
    parallel = Parallel(n_jobs=jobs)
    blocks = parallel(delayed(judge_setting)(*one, repetitions, which is Which.FEW) for one in work)
    made = list(chain.from_iterable(blocks))
    typer.echo(f"{len(settings)} settings, {decisions} estimates each\n")
    typer.echo(head("", "metric", *(f"{column}:" for column in HEAD)))
    for group in ["", *(dict.fromkeys(one.group for one in made) if groups else [])]:
        for metric in METRIC_NAMES:
            own = [one for one in made if one.metric == metric and group in ("", one.group)]
            if own:
                typer.echo(line(group or "all", metric, *figures_of(own)))
    typer.echo(f"\nWithin 2 % of the best\n\n{head('rows:', 'said:', 'true:')}")
    for rows, said, true in reliability(made).itertuples(index=False):
        typer.echo(line(f"{rows:,}", f"{100 * said:.1f} %", f"{100 * true:.1f} %"))
    typer.echo("\n" + footer("1 (what is best) and 2 (estimates)"))


if __name__ == "__main__":
    run(judge)
