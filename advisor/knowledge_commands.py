"""``ldp-advise knowledge ...``: text and JSON about the grid behind look-ups."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from advisor.cli.progress import DelayedProgress
from advisor.errors import InputError, listed
from advisor.formats import envelope
from advisor.names import resolve
from knowledge import grid, tree


def info(*, as_json: bool) -> str:
    """Return what the shipped grid covers and how it was made."""
    known: dict[str, Any] = dict(grid.load().provenance)
    if as_json:
        return json.dumps(envelope() | {"knowledge": known}, indent=2, ensure_ascii=False, allow_nan=False)
    covers, simulated = (
        "; ".join(f"{name.replace('_', '-')} {_plain(low)} to {_plain(high)}" for name, (low, high) in of.items())
        for of in (known["covers"], known["simulated"])
    )
    return "\n".join(
        [
            f"Made by version {known['tool_version']} on {known['finished']}, seed {known['seed']}, in "
            f"{known['seconds']:,} seconds (of its last run, if it was resumed).",
            f"Simulated: {known['cells']:,} noise settings, {known['populations']:,} populations, "
            f"repetitions {known['repetitions']}; {simulated}.",
            f"Covers: {covers}.",
            *_of_skews(known.get("skews")),
            f"Shapes: {', '.join(known['shapes'])}.",
            f"Methods: {', '.join(known['methods'])}.",
            f"Metrics: {', '.join(known['metrics'])}.",
        ]
    )


def _of_skews(learned: dict[str, Any] | None) -> list[str]:
    if learned is None:
        return []
    off = learned["off_by"]
    return [
        f"Skews: what is said of the four shapes of {learned['questions']:,} skews, each under {learned['noises']} "
        "noises, was learned, but for a twentieth; on those it is off by "
        f"{100 * off['median']:.1f} % (median; 95 %: {100 * off['95 %']:.0f} %), and choosing a method by it costs "
        f"{100 * off['regret']:.1f} % more error; {100 * off['outside']:.1f} % of the noises lie a little outside of "
        "what was simulated, which a look-up of a skew does not notice.",
    ]


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def rules(metric: str, *, ordered: bool) -> str:
    """Return the decision tree of a metric as rules.

    Raises
    ------
    InputError
        If the metric is unknown, has no tree, or needs an order.
    """
    key = resolve("metric", metric)
    try:
        text = tree.rules(key, ordered=ordered)
    except ValueError as error:
        raise InputError(str(error)) from None
    return f"# {key}, categories {'with' if ordered else 'without'} an order\n{text}"


def evaluate(
    files: Sequence[str], *, repetitions: int, jobs: int, quiet: bool, full: bool = False, closer: bool = False
) -> str:
    """Return Markdown tables of the regret of look-ups: on shapes left out of training, and on the files given.

    Raises
    ------
    InputError
        If a file cannot be read.
    """
    from advisor.inputs.domain import build_domain
    from advisor.inputs.reading import read_histogram
    from knowledge.evaluate import settings
    from knowledge.score_table import to_full_markdown, to_markdown
    from knowledge.scores import evaluate as scored
    from knowledge.unseen import Histogram, unseen

    given = []
    for path in files:
        read = read_histogram(path)
        domain = build_domain(read.labels, read.counts, from_histogram=read.from_histogram)
        given.append(Histogram(Path(path).name, domain.counts, domain.ordered))
    parts = []
    for title, histograms in (("Shapes left out of training", unseen()), ("Files", tuple(given))):
        if histograms:
            with DelayedProgress("simulating", enabled=not quiet) as progress:
                asked = settings(histograms, repetitions=repetitions, jobs=jobs, progress=progress)
            with DelayedProgress("telling choices apart", enabled=not quiet and closer) as progress:
                scores = scored(asked, closer=closer, jobs=jobs, progress=progress)
            write = to_full_markdown if full else to_markdown
            parts.append(f"{title}: {len(asked)} settings\n\n{write(scores)}")
    return "\n\n".join(parts)


def build(folder: str, *, jobs: int, backend: str, scheduler: str | None, quick: bool, seed: int, quiet: bool) -> str:
    """Build a grid in a folder, going on where an earlier build there was stopped; return where it is.

    Raises
    ------
    InputError
        If the backend is unknown or not installed, the folder holds another build, or cannot be written.
    """
    from knowledge.collect import BACKENDS

    if backend not in BACKENDS:
        raise InputError(f"--backend must be one of {listed(BACKENDS)}, got {backend!r}")
    try:
        from knowledge import build as builder
    except ImportError as error:
        raise InputError(f"building needs scikit-learn: pip install 'ldp-advise[build]' ({error})") from None
    try:
        with DelayedProgress("simulating", enabled=not quiet) as progress:
            made = builder.build(
                Path(folder),
                size=builder.QUICK if quick else builder.FULL,
                jobs=jobs,
                backend=backend,
                scheduler=scheduler,
                seed=seed,
                progress=progress,
            )
    except (ValueError, OSError, ImportError) as error:
        raise InputError(str(error)) from None
    return f"Built in {folder}: {made['populations']:,} populations in {made['seconds']:,} seconds."
