"""One run of the main command on places: check, read, simulate, write."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

from advisor.cli.progress import DelayedProgress, delayed_status
from advisor.errors import InputError
from advisor.places.options import PlacesOptions
from advisor.places.request import (
    REPETITIONS,
    PlacesRequest,
    check_options,
    fitting_metrics,
    known,
)
from advisor.question.request import check_settings, metric_assumptions, metric_settings
from advisor.rank.table import TOP
from simulator.places import Places


def advise_places(
    sample: str | None,
    options: PlacesOptions,
    *,
    settings: dict[str, Any],
    reading: dict[str, Any],
    unsupported: dict[str, Any],
    top: int | None,
    show_all: bool,
    output_format: str,
    output: str | None,
    force: bool,
    quiet: bool,
    verbose: bool,
    notice: str,
) -> None:
    """Answer a question about places; everything that can be refused is refused before the simulation.

    Raises
    ------
    InputError
        If an option, the sample, a channel or an output file is wrong.
    """
    from advisor.cli import outputs as files

    privacy = check_options(options, unsupported)
    if settings["epsilon"] is None:
        raise InputError("--eps is missing: give the privacy budget of one report, for example --eps 1")
    if sample is None:
        raise InputError("no sample given: places need a file with coordinates, or - for standard input")
    target = None if output is None else files.check_writable("--output", output, force=force, sample=sample)
    picture = None
    if options.plot is not None:
        from advisor.places.plot import check_plot

        check_plot(options.plot)
        picture = files.check_writable("--plot", options.plot, force=force, sample=sample)
        if picture == target:
            raise InputError(f"--output and --plot name the same file, {output}")
    with delayed_status("reading the sample", enabled=not quiet):
        request = build_request(sample, options, privacy, settings, reading)
    if not quiet:
        _tell(notice)
    from advisor.places.answer import answer_places

    with DelayedProgress("simulating", enabled=not quiet) as progress:
        advice = answer_places(request, progress)
    if not quiet:
        for warning in advice.request.warnings:
            _tell(f"warning: {warning}")
    if picture is not None:
        from advisor.places.plot import draw

        files.write_atomically(picture, partial(draw, advice, suffix=Path(options.plot or "").suffix.lower()))
    from advisor.places import formats

    if top is None and not show_all and privacy == "ldp":
        top = TOP  # channels are few: all of them are shown, so that the trade-off is in one table
    if output_format == "table" and target is None:
        from advisor.render import console_for

        formats.print_advice(advice, console_for(), top=top, quiet=quiet, verbose=verbose)
        return
    text = {
        "table": lambda: formats.to_text(advice, top),
        "plain": lambda: formats.to_text(advice, top),
        "markdown": lambda: formats.to_markdown(advice, top),
        "json": lambda: formats.to_json(advice),
        "csv": lambda: formats.to_csv(advice),
        "value": lambda: formats.to_value(advice),
    }[output_format]()
    if target is None:
        sys.stdout.write(text)
    else:
        files.write_text(target, text)


def _tell(words: str) -> None:
    print(words, file=sys.stderr)  # noqa: T201 - the only package that prints


def build_request(
    sample: str, options: PlacesOptions, privacy: str, settings: dict[str, Any], reading: dict[str, Any]
) -> PlacesRequest:
    """Join checked options and the sample.

    Raises
    ------
    InputError
        If a setting or the sample is wrong.
    """
    from advisor.places.menu import CHANNEL_ALIASES, CHANNEL_METHODS, CHANNELS, METHOD_ALIASES, METHODS
    from simulator import PROTOCOLS

    protocols, methods, asked = settings["protocols"], settings["methods"], settings["metrics"]
    checked = check_settings(**settings | {"protocols": [], "methods": [], "metrics": asked or ["emd"]})
    repetitions = checked["repetitions"] if checked["repetitions_named"] else REPETITIONS
    metrics = fitting_metrics(checked, bool(asked))
    if privacy == "metric":
        chosen = known("protocol", protocols, CHANNELS, CHANNEL_ALIASES)
        wanted = known("method", methods, CHANNEL_METHODS, METHOD_ALIASES)
    else:
        chosen = known("protocol", protocols, PROTOCOLS, {"krr": "grr", "sue": "rappor"})
        wanted = known("method", methods, METHODS, METHOD_ALIASES)
    places, counts, unit, assumed, warnings = _read(sample, options, reading)
    if checked["n"] is not None and checked["n"] != int(counts.sum()):
        from simulator.populations import apportion

        assumed.append(f"the frequencies of the sample's {int(counts.sum()):,} users stand for those of n")
        counts = apportion(counts, checked["n"])
    channel = None
    if options.channel is not None:
        from advisor.inputs.channel_file import read_channel

        channel, notes = read_channel(options.channel, places.k)
        assumed += notes
    given = metric_settings(checked["metric_options"], places.k)
    assumed += metric_assumptions(metrics, given)
    return PlacesRequest(
        privacy=privacy,
        epsilon=checked["epsilon"],
        radius=options.radius,
        places=places,
        counts=counts,
        unit=unit,
        metrics=metrics,
        metric_options=given | {"seed": checked["seed"]},
        protocols=chosen,
        methods=wanted,
        seed=checked["seed"],
        repetitions=repetitions,
        sample="standard input" if sample == "-" else sample,
        channel=channel,
        assumptions=tuple(assumed),
        warnings=tuple(warnings),
        constraints=checked["constraints"],
    )


def _read(
    sample: str, options: PlacesOptions, reading: dict[str, Any]
) -> tuple[Places, Any, str, list[str], list[str]]:
    ground = (options.distance or "euclidean").lower()
    if options.columns is not None:
        from advisor.inputs.places import read_places

        if reading["column"] is not None:
            raise InputError("--column names one column of values; places have two: --columns row,col")
        found = read_places(
            sample,
            columns=options.columns,
            grid=options.grid,
            cell_km=options.cell_km,
            ground=ground,
            counts=reading["counts"],
            header=reading["header"],
        )
        return found.places, found.counts, found.unit, list(found.assumptions), list(found.warnings)
    from advisor.inputs.domain import build_domain
    from advisor.inputs.places import MOST_CELLS
    from advisor.inputs.reading import read_histogram

    read = read_histogram(sample, **{name: reading[name] for name in ("column", "counts", "header")})
    domain = build_domain(
        read.labels, read.counts, from_histogram=read.from_histogram, k=reading["k"], ordered=reading["ordered"]
    )
    if not domain.ordered:
        raise InputError(
            "--privacy metric needs places: --grid and --columns, or an ordered domain (--ordered if the order of the "
            "categories means something)"
        )
    if len(domain.labels) > MOST_CELLS:
        raise InputError(f"--privacy metric takes at most {MOST_CELLS:,} categories, got {len(domain.labels):,}")
    notes = [*read.assumptions, *domain.assumptions, "neighbouring categories are one step apart"]
    return Places(1, len(domain.labels), ground), domain.counts, "steps", notes, [*read.warnings, *domain.warnings]
