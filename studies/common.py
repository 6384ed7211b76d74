"""What the studies share: how they are run, files, experiments, tables in Markdown, and their last line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from advisor.errors import InputError
from advisor.inputs.domain import build_domain
from advisor.inputs.histogram import RawHistogram, read_histogram
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS, __version__
from simulator._types import IntArray
from simulator.benchmark import Experiment, simulate
from simulator.domain import Domain
from simulator.methods import possible
from simulator.ranking import Pair

PUBLISHED = ("none", "base_pos", "base_cut", "norm", "norm_mul", "norm_sub", "norm_cut", "mle_apx", "power", "power_ns")

Files = Annotated[list[str] | None, typer.Argument(help="histograms to judge on, beside the named shapes")]
Repetitions = Annotated[int, typer.Option("--reps", min=2, help="collections per setting")]
Every = Annotated[int, typer.Option(min=1, help="only every N-th setting")]
Jobs = Annotated[int, typer.Option(min=1, help="processes; change no number")]


def run(study: Callable[..., None]) -> None:
    """Run a study as a script: what is wrong with its options or files, or not installed, is one line."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command()(study)
    try:
        app(prog_name=f"python studies/{Path(sys.argv[0]).name}")
    except (InputError, ModuleNotFoundError) as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)


def stored(path: str) -> RawHistogram:
    """Return the histogram in a file."""
    return build_domain(read_histogram(path))


def metrics_for(names: Sequence[str], *, ordered: bool) -> list[str]:
    """Return the metrics that such a domain has."""
    return [name for name in names if ordered or not METRICS[name].ordered_only]


def possible_pairs(key: str, k: int, epsilon: float, n: int, *, ordered: bool) -> list[Pair]:
    """Return a protocol with every method that estimates frequencies from it."""
    protocol, domain = PROTOCOLS[key](k, epsilon), Domain(ordered)
    methods = [(name, one) for name, one in POSTPROCESSORS.items() if not one.queries_only]
    return [(key, name) for name, one in methods if possible(one, protocol, domain, n)]


def experiment(
    counts: IntArray,
    epsilon: float,
    pairs: Sequence[Pair],
    metrics: Sequence[str],
    *,
    ordered: bool = False,
    seed: int = 0,
) -> Experiment:
    """Return the experiment of these pairs and metrics, with the protocols and methods that they name."""
    return Experiment(
        counts=counts,
        oracles={key: PROTOCOLS[key](counts.shape[-1], epsilon) for key in dict.fromkeys(key for key, _ in pairs)},
        methods=POSTPROCESSORS,
        metrics={name: METRICS[name] for name in metrics},
        pairs=tuple(pairs),
        seed=seed,
        domain=Domain(ordered),
    )


def mean_errors(simulated: Experiment, repetitions: int) -> dict[str, dict[Pair, float]]:
    """Return the mean error of each pair by metric."""
    runs = simulate(simulated, 0, repetitions)
    return {name: {pair: float(own.mean()) for pair, own in runs.of(name).items()} for name in runs.metrics}


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.log(values).mean()))


def line(*cells: object) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def head(*columns: str) -> str:
    """Return the two lines above a table; the columns of figures are those that end in a colon."""
    rule = "".join("--:|" if column.endswith(":") else "---|" for column in columns)
    titles = line(*(column.removesuffix(":") for column in columns)).replace("|  |", "| |")
    return f"{titles}\n|{rule}"


def footer(seed: object = 0) -> str:
    """Return version, seed, day, and CPU seconds of this process and of those it waited for.

    seed: the seed, or several and what they are for.
    """
    times = os.times()
    seconds = times.user + times.system + times.children_user + times.children_system
    return f"ldp-advise {__version__}, seed {seed}, {datetime.now(UTC):%Y-%m-%d}, {seconds:,.0f} CPU seconds"
