"""``python studies/consistency.py``: what Wang et al. found about post-processing, checked one by one.

Wang, Lopuhaa-Zwakenberg, Li, Skoric, Li, "Locally differentially private frequency estimation with consistency", NDSS
2020, compare ten methods on Zipf data (1,024 values, a million reports, OLH) and on use of emojis, which is not to be
had. Each of `FINDINGS` is one sentence of theirs, what is measured for it, and whether it holds on their Zipf data. The
guidelines are checked on other shapes too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Annotated, TypeAlias

import common
import numpy as np
import typer
from common import PUBLISHED, footer, geometric_mean, head, line, run

from simulator import METRICS, POSTPROCESSORS, frequency_oracles
from simulator._types import FloatArray, IntArray
from simulator.benchmark import Experiment
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for

METHODS = (*PUBLISHED, "post_pos")
CATEGORIES, USERS, EXPONENT = 1024, 1_000_000, 1.5  # Section V-A; the exponent is that of their figures
EPSILONS = (0.2, 0.5, 1.0, 2.0)
LARGE_SHARES, SMALL_SHARES, TOPS = (0.1, 0.3, 0.5, 0.7, 0.9), (0.01, 0.02, 0.05, 0.1), (2, 8, 16, 32)
AN_ORDER = (10**0.5, 10**1.5)  # "about ten times": nearer to 10 than to 1 or 100
CLOSE = 1.05  # a method within 5 % of the best is as good
# Name, parameter, and domain size of the shapes on which guidelines are checked beside theirs.
OTHERS = (
    ("zipf", 1.0, 256),
    ("zipf_shuffled", 1.1, 1024),
    ("dirichlet", 0.5, 256),
    ("geometric", 0.01, 256),
    ("gaussian", 0.15, 128),
    ("bimodal", 0.08, 256),
    ("sparse", 0.1, 512),
    ("uniform", 0.0, 64),
)
OTHER_EPSILONS, OTHER_USERS = (0.5, 1.0, 2.0), (100_000, 1_000_000)
ADVICE = {"mse": "base_cut", "top 16": "norm", "set 0.1": "power_ns"}  # Section V-F
TASKS = {"mse": "single values", "top 16": "frequent values", "set 0.1": "sets"}

Errors = dict[str, dict[str, float]]  # by metric and method


@dataclass(frozen=True)
class World:
    """Their Zipf data, collected `repetitions` times at each budget."""

    repetitions: int
    exponent: float

    @cached_property
    def truth(self) -> FloatArray:
        """True frequencies ``(k,)``."""
        return frequencies("zipf", CATEGORIES, self.exponent)

    @cache  # noqa: B019 - a world lives as long as the script
    def errors(self, epsilon: float = 1.0) -> Errors:
        """Return the mean errors at a budget."""
        return mean_errors(apportion(self.truth, USERS), epsilon, self.repetitions)

    @cache  # noqa: B019
    def collected(self, protocol: str = "olh") -> FloatArray:
        """Return raw estimates ``(repetitions, k)`` at epsilon = 1."""
        oracle, counts = frequency_oracles()[protocol](CATEGORIES, 1.0), apportion(self.truth, USERS)
        rng = rng_for(0, "consistency", protocol)
        return oracle.estimate(np.stack([oracle.sample_support(counts, rng) for _ in range(self.repetitions)]), USERS)

    def each(self, metrics: tuple[str, ...]) -> list[dict[str, float]]:
        """Return the errors of all methods: by metric at epsilon = 1, or by budget in the only one."""
        if len(metrics) == 1:
            return [self.errors(epsilon)[metrics[0]] for epsilon in EPSILONS]
        return [self.errors()[name] for name in metrics]

    def processed(self, method: str) -> FloatArray:
        """Return what a method makes of `collected`."""
        noise = frequency_oracles()["olh"](CATEGORIES, 1.0).noise(USERS)
        return POSTPROCESSORS[method](self.collected(), noise)

    def choices(self, surrogate: str, metric: str) -> list[tuple[str, float]]:
        """Return for each of ten estimates the method chosen on it, made consistent, and its error over the best's."""
        true = {method: self.errors()[metric][method] for method in METHODS}
        made = []
        for row in self.processed(surrogate)[:10]:
            counts = apportion(np.maximum(row, 0), USERS)
            found = mean_errors(counts, 1.0, max(10, self.repetitions // 5), seed=1)[metric]
            chosen = min(found, key=lambda method: found[method])
            made.append((chosen, true[chosen] / min(true.values())))
        return made


Check: TypeAlias = Callable[[World], tuple[str, bool]]  # what is measured, in words, and whether a finding holds


def mean_errors(counts: IntArray, epsilon: float, repetitions: int, seed: int = 0) -> Errors:
    """Return the mean error of each method with OLH in each task."""
    k = len(counts)
    metrics = {"mse": METRICS["mse"]}
    metrics |= {f"top {top}": METRICS["topk"].with_options(top_values=top) for top in TOPS if top <= k}
    shares = sorted({*LARGE_SHARES, *SMALL_SHARES})
    metrics |= {f"set {share:g}": METRICS["set"].with_options(set_share=share, seed=seed) for share in shares}
    pairs = tuple(("olh", method) for method in METHODS)
    oracles = {"olh": frequency_oracles()["olh"](k, epsilon)}
    experiment = Experiment(counts, oracles, POSTPROCESSORS, metrics, pairs, seed)
    means = common.mean_errors(experiment, repetitions)
    errors = {name: {method: error for (_, method), error in own.items()} for name, own in means.items()}
    for name in errors:  # where single values are asked for, Post-Pos is Base-Pos
        errors[name].setdefault("post_pos", errors[name]["base_pos"])
    return errors


def _span(values: list[float]) -> str:
    return f"{min(values):.3g} to {max(values):.3g}"


def _ratio(above: str, below: str, low: float, high: float, metrics: tuple[str, ...] = ("mse",)) -> Check:
    """Check that the errors of two methods have a ratio between `low` and `high` throughout."""

    def check(world: World) -> tuple[str, bool]:
        found = [errors[above] / errors[below] for errors in world.each(metrics)]
        over = "over ε" if len(metrics) == 1 else "over the sizes"
        return f"{above} / {below}: {_span(found)} {over}", low <= min(found) and max(found) <= high

    return check


def _best(method: str, metrics: tuple[str, ...]) -> Check:
    """Check that a method has the lowest error in each metric at epsilon = 1, or at each budget in a single one."""

    def check(world: World) -> tuple[str, bool]:
        each = world.each(metrics)
        over = [errors[method] / min(errors[other] for other in METHODS if other != method) for errors in each]
        return f"{method} over the best other: {_span(over)}", max(over) < 1

    return check


def _worst(method: str, metrics: tuple[str, ...]) -> Check:
    def check(world: World) -> tuple[str, bool]:
        each = world.each(metrics)
        over = [errors[method] / max(errors[other] for other in METHODS if other != method) for errors in each]
        return f"{method} over the worst other: {_span(over)}", min(over) > 1

    return check


SETS = tuple(f"set {share:g}" for share in LARGE_SHARES)
SMALL_SETS = tuple(f"set {share:g}" for share in SMALL_SHARES)
FREQUENT = tuple(f"top {top}" for top in TOPS)


def _sums(world: World) -> tuple[str, bool]:
    away = {key: float(np.abs(world.collected(key).sum(axis=-1) - 1).max()) for key in ("grr", "ss", "hr")}
    shown = ", ".join(f"{key} {0 if gap < 1e-9 else gap:.2g}" for key, gap in away.items())
    return f"sum of the raw estimates less 1, at most: {shown}", max(away.values()) < 1e-9


def _unbiased(world: World) -> tuple[str, bool]:
    rows = world.processed("norm") - world.truth
    scores = rows.mean(axis=0) / (rows.std(axis=0, ddof=1) / len(rows) ** 0.5)
    # Of 1,024 standard scores the largest is above 4.8 once in 600 times.
    return f"largest of 1,024 biases: {np.abs(scores).max():.1f} standard errors", bool(np.abs(scores).max() < 4.8)


def _biased_up(world: World) -> tuple[str, bool]:
    bias = (world.processed("base_pos") - world.truth).mean(axis=0)
    rare = bias[CATEGORIES // 2 :]
    share = float((rare > 0).mean())
    return f"{100 * share:.0f} % of the rarer half are too high; sum over all {bias.sum():+.2f}", share > 0.99


def _ordered(world: World) -> tuple[str, bool]:
    order = np.argsort(world.collected()[:5], axis=-1)
    broken = [
        method
        for method in METHODS
        if (np.diff(np.take_along_axis(world.processed(method)[:5], order, axis=-1)) < -1e-12).any()
    ]
    return f"broken by {', '.join(broken) or 'none'}", not broken


def _slow(world: World) -> tuple[str, bool]:
    first, last = world.errors(EPSILONS[0])["mse"], world.errors(EPSILONS[-1])["mse"]
    falls = {method: first[method] / last[method] for method in METHODS}
    others = [fall for method, fall in falls.items() if method != "norm_mul"]
    return (
        f"ε from 0.2 to 2 lowers norm_mul {falls['norm_mul']:.3g} times, others {_span(others)} times",
        falls["norm_mul"] < min(others),
    )


def _alike(world: World) -> tuple[str, bool]:
    group = ("norm_sub", "mle_apx", "power", "power_ns", "base_cut")
    spread = [max(errors[m] for m in group) / min(errors[m] for m in group) for errors in world.each(("mse",))]
    return f"largest over smallest of the five: {_span(spread)} over ε", max(spread) <= 2


def _symmetric(world: World) -> tuple[str, bool]:
    methods = ("norm", "norm_mul", "norm_sub", "mle_apx", "power_ns")
    found = [world.errors()["set 0.1"][m] / world.errors()["set 0.9"][m] for m in methods]
    return f"error at 10 % over that at 90 %: {_span(found)}", bool(np.allclose(found, 1, rtol=1e-6))


def _summing(world: World) -> tuple[str, bool]:
    errors = world.errors()["set 0.9"]
    summing = ("norm_sub", "mle_apx", "norm_cut", "power_ns")
    others = ("none", "base_pos", "post_pos", "base_cut", "power")
    ratio = min(errors[m] for m in others) / errors["power_ns"]
    return (
        f"sets of 90 %: best without the sum over power_ns {ratio:.3g}; worst with it over power_ns "
        f"{max(errors[m] for m in summing) / errors['power_ns']:.3g}",
        ratio >= 10,
    )


def _grows(methods: tuple[str, ...], metrics: tuple[str, ...]) -> Check:
    def check(world: World) -> tuple[str, bool]:
        errors = [[one[method] for method in methods] for one in world.each(metrics)]
        rises = [np.divide(later, one).min() for one, later in pairwise(errors)]
        whole = np.divide(errors[-1], errors[0]).tolist()
        return f"last over first: {_span(whole)}; smallest step {min(rises):.3g}", min(whole) > 1

    return check


def _steady(world: World) -> tuple[str, bool]:
    by_size = [[errors[m] for errors in world.each(FREQUENT)] for m in ("none", "base_pos", "post_pos", "norm")]
    spread = [max(errors) / min(errors) for errors in by_size]
    return f"largest over smallest, by the number of top values: {_span(spread)}", max(spread) < 1.5


def _choices_on_norm_sub(world: World) -> tuple[str, bool]:
    costs = {task: np.mean([over for _, over in world.choices("norm_sub", metric)]) for metric, task in TASKS.items()}
    shown = ", ".join(f"{task} {100 * (cost - 1):.0f} %" for task, cost in costs.items())
    return f"extra error of the choice: {shown}", max(costs.values()) < CLOSE


def _choices_on_power_ns(world: World) -> tuple[str, bool]:
    made = {task: [name for name, _ in world.choices("power_ns", metric)] for metric, task in TASKS.items()}
    shown = ", ".join(f"{task} {chosen.count('power_ns')} of {len(chosen)}" for task, chosen in made.items())
    return f"PowerNS is chosen: {shown}", made["sets"].count("power_ns") > 5  # theirs were queries of sets


# Section, sentence, and how it is checked.
FINDINGS: tuple[tuple[str, str, Check], ...] = (
    ("IV-A", "Base-Pos introduces a positive bias (on rare values).", _biased_up),
    ("IV-B", "Norm is unbiased.", _unbiased),
    ("IV-B", "Norm does nothing for GRR, subset selection and Hadamard response.", _sums),
    ("IV-F", "All methods preserve the order of the values.", _ordered),
    ("V-C", "All values: Base performs very close to Norm.", _ratio("none", "norm", 0.98, 1.02)),
    ("V-C", "All values: the error of Base-Pos is around half that of Base.", _ratio("base_pos", "none", 0.4, 0.6)),
    ("V-C", "All values: Norm-Sub lowers the error of Base about ten times.", _ratio("none", "norm_sub", *AN_ORDER)),
    ("V-C", "All values: the error of Norm-Mul falls much slower with ε.", _slow),
    (
        "V-C",
        "All values: Norm-Sub and MLE-Apx perform almost exactly the same.",
        _ratio("mle_apx", "norm_sub", 0.95, 1.05),
    ),
    ("V-C", "All values: Norm-Sub, MLE-Apx, Power, PowerNS, Base-Cut are very similar.", _alike),
    ("V-C", "All values: PowerNS performs best.", _best("power_ns", ("mse",))),
    ("V-D", "Sets: the error of methods that sum to 1 is symmetric.", _symmetric),
    ("V-D", "Large sets: PowerNS beats those that do not sum to 1 by orders of magnitude.", _summing),
    ("V-D", "Sets: Base-Pos is the worst.", _worst("base_pos", SETS)),
    ("V-D", "Sets: Post-Pos is slightly better than Base.", _ratio("post_pos", "none", 0.5, 1.0, SETS)),
    ("V-D", "Sets: Base-Cut is better than Base.", _ratio("base_cut", "none", 0.0, 1.0, SETS)),
    ("V-D", "Sets: PowerNS is the best.", _best("power_ns", SETS)),
    (
        "V-D",
        "Sets up to 10 %: errors grow with the size.",
        _grows(("none", "norm", "norm_sub", "power_ns"), SMALL_SETS),
    ),
    ("V-D", "Sets up to 10 %: Norm-Cut is better than Base-Cut.", _ratio("norm_cut", "base_cut", 0, 1, SMALL_SETS)),
    ("V-D", "Sets up to 10 %: Norm-Mul is worse than Norm-Sub.", _ratio("norm_sub", "norm_mul", 0, 1, SMALL_SETS)),
    ("V-D", "Synthetic data made by Norm-Sub finds the best method quite accurately.", _choices_on_norm_sub),
    ("V-D", "Synthetic data made by PowerNS selects PowerNS.", _choices_on_power_ns),
    ("V-E", "Frequent values: Base, Base-Pos, Post-Pos, Norm do equally well for all sizes.", _steady),
    ("V-E", "Frequent values: Norm-Mul is worse than any other.", _worst("norm_mul", FREQUENT)),
    ("V-E", "Frequent values: Norm-Sub is worse than Base.", _ratio("none", "norm_sub", 0, 1, FREQUENT)),
    (
        "V-E",
        "Frequent values: Base-Cut, Norm-Cut, Power, PowerNS get worse with the size.",
        _grows(("base_cut", "norm_cut", "power", "power_ns"), FREQUENT),
    ),
    ("V-E", "Frequent values: Norm-Cut is better than Base-Cut.", _ratio("norm_cut", "base_cut", 0, 1, FREQUENT)),
    ("V-E", "Frequent values: Power and PowerNS are similar.", _ratio("power", "power_ns", 0.8, 1.25, FREQUENT)),
    ("V-E", "Frequent values: Power is worse than Base-Cut.", _ratio("base_cut", "power", 0, 1, FREQUENT)),
)


def guidelines(repetitions: int, exponent: float) -> Iterator[tuple[str, str, int, int, float, float]]:
    """Yield for their data and for others, and each task: settings, how often the advice is best, its cost, the worst.

    Best is what lies within 5 % of the lowest error of the eleven; the cost is a geometric mean of error over lowest.
    """
    own = [("zipf", exponent, CATEGORIES, USERS, epsilon) for epsilon in EPSILONS]
    other = [(*shape, n, epsilon) for shape in OTHERS for n in OTHER_USERS for epsilon in OTHER_EPSILONS]
    for title, settings in (("their Zipf data", own), ("eight other shapes", other)):
        made: dict[str, list[float]] = {metric: [] for metric in ADVICE}
        for name, parameter, k, n, epsilon in settings:
            errors = mean_errors(apportion(frequencies(name, k, parameter), n), epsilon, repetitions)
            for metric, method in ADVICE.items():
                made[metric].append(errors[metric][method] / min(errors[metric].values()))
        for metric, over in made.items():
            best = sum(one <= CLOSE for one in over)
            yield title, metric, len(over), best, geometric_mean(over), max(over)


def check(
    repetitions: Annotated[int, typer.Option("--reps", min=10, help="collections per setting")] = 200,
    exponent: Annotated[float, typer.Option(min=0.0, help="of their Zipf data")] = EXPONENT,
) -> None:
    """Print two Markdown tables: findings one by one, and the guidelines on other shapes."""
    world, holds = World(repetitions, exponent), 0
    typer.echo(head("section", "finding", "what we measure", "holds"))
    for section, sentence, measure in FINDINGS:
        measured, kept = measure(world)
        holds += kept
        typer.echo(line(section, sentence, measured, "yes" if kept else "**no**"))
    typer.echo(f"\n{holds} of {len(FINDINGS)} findings hold.\n")
    typer.echo(head("on", "task", "advice", "settings:", "best, within 5 %:", "error over the best:", "worst:"))
    for title, metric, *counts, cost, worst in guidelines(max(10, repetitions // 5), exponent):
        advice = POSTPROCESSORS[ADVICE[metric]].title
        typer.echo(line(title, TASKS[metric], advice, *counts, f"{cost:.2f}", f"{worst:.3g}"))
    typer.echo(f"\nExponent {exponent:g}, {repetitions} collections per setting; {footer()}")


if __name__ == "__main__":
    run(check)
