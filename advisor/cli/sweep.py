"""``ldp-advise sweep``: its options."""

from __future__ import annotations

from typing import Annotated

import typer

from advisor.cli.options import format_for, option
from advisor.errors import InputError
from advisor.numerals import real_number, whole_number

FORMATS = ("table", "json", "csv", "markdown", "plain")
Text = str | None
Names = list[str] | None


def sweep_command(
    sample: Annotated[
        Text, typer.Argument(metavar="SAMPLE", help="as for the main command; or --n and --k", show_default=False)
    ] = None,
    eps: Annotated[Text, option("--eps", "-e", metavar="ε,ε,…", help="budgets, for example 0.5,1,2,4")] = None,
    n: Annotated[Text, option("--n", metavar="N,N,…", help="numbers of users, for example 1e4,1e5,1e6")] = None,
    k: Annotated[Text, option("--k", metavar="N,N,…", help="numbers of categories")] = None,
    # A list, so that a second one can be refused instead of replacing the first.
    metric: Annotated[Names, option("--metric", "-m", metavar="NAME", help="error metric (l1)")] = None,
    protocol: Annotated[Names, option("--protocol", "-p", metavar="NAME", help="only this one; repeatable")] = None,
    method: Annotated[Names, option("--method", metavar="NAME", help="only this one; repeatable")] = None,
    per_protocol: Annotated[bool, option("--per-protocol", help="the best method for each protocol")] = False,
    skew: Annotated[Text, option("--skew", metavar="S", help="without SAMPLE: Zipf exponent (1)")] = None,
    shape: Annotated[Text, option("--shape", metavar="NAME[:X]", help="without SAMPLE: a named shape")] = None,
    ordered: Annotated[bool | None, option("--ordered/--unordered", help="have the categories an order")] = None,
    column: Annotated[Text, option("--column", metavar="NAME", help="column of the values")] = None,
    counts: Annotated[Text, option("--counts", metavar="NAME", help="column of counts")] = None,
    header: Annotated[bool | None, option("--header/--no-header", help="is the first line a header")] = None,
    reps: Annotated[Text, option("--reps", metavar="N", help="simulated collections for each cell (20)")] = None,
    seed: Annotated[str, option("--seed", metavar="N", help="same seed, same numbers (0)")] = "0",
    jobs: Annotated[Text, option("--jobs", metavar="N", help="processes (all cores); change no number")] = None,
    resume: Annotated[
        Text, option("--resume", metavar="FILE", help="keep finished cells here, and go on from those in it")
    ] = None,
    output_format: Annotated[Text, option("--format", metavar="FORMAT", help=", ".join(FORMATS))] = None,
    output: Annotated[Text, option("--output", "-o", metavar="FILE", help="write the answer to this file")] = None,
    plot: Annotated[Text, option("--plot", metavar="FILE", help="map of winners: .png, .svg or .pdf")] = None,
    plot_curves: Annotated[
        Text, option("--plot-curves", metavar="FILE", help="error of each method: .png, .svg or .pdf")
    ] = None,
    force: Annotated[bool, option("--force", help="replace files that exist")] = False,
    quiet: Annotated[bool, option("--quiet", "-q", help="the tables, nothing else")] = False,
) -> None:
    """Say which protocol and method win for each ε, n and k, how often, and by how much."""
    from advisor.sweeps.run import sweep_file

    sweep_file(
        sample,
        settings={
            "epsilons": [real_number("eps", one) for one in several("eps", eps)],
            "users": [whole_number("n", one) for one in several("n", n)],
            "sizes": [whole_number("k", one) for one in several("k", k)],
            "metrics": metric or ["l1"],
            "protocols": protocol or [],
            "methods": method or [],
            "repetitions": whole_number("reps", reps),
            "seed": whole_number("seed", seed),
        },
        reading={"column": column, "counts": counts, "header": header},
        skew=real_number("skew", skew),
        shape=shape,
        ordered=ordered,
        per_protocol=per_protocol,
        jobs=whole_number("jobs", jobs, at_least=1, at_most=1024),
        resume=resume,
        output_format=format_for(output_format, output, FORMATS),
        output=output,
        plot=plot,
        plot_curves=plot_curves,
        force=force,
        quiet=quiet,
    )


def several(name: str, text: Text) -> list[str]:
    """Return the parts of a list with commas.

    >>> several("eps", "0.5, 1,2"), several("n", None)
    (['0.5', '1', '2'], [])
    """
    if text is None:
        return []
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise InputError(f"{name} must be numbers with commas between them, got {text!r}")
    return parts
