"""The ``pareto`` command: what it takes on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from advisor.cli.options import Names, Text, format_named, option
from advisor.numerals import real_number, whole_number

FORMATS = ("table", "json", "csv", "markdown")
SUFFIXES = {".json": "json", ".csv": "csv", ".md": "markdown"}


def pareto_command(
    sample: Annotated[Text, typer.Argument(metavar="[SAMPLE]", help="file of values, - for standard input")] = None,
    eps: Annotated[Text, option("--eps", "-e", metavar="X", help="privacy budget of one report")] = None,
    k: Annotated[Text, option("--k", metavar="N", help="domain size; without SAMPLE the answer is looked up")] = None,
    n: Annotated[Text, option("--n", metavar="N", help="users who will report (default: the sample's)")] = None,
    metric: Annotated[Names, option("--metric", "-m", metavar="NAME", help="error metric, one (l1)")] = None,
    protocol: Annotated[Names, option("--protocol", "-p", metavar="NAME", help="only this one; repeatable")] = None,
    method: Annotated[Names, option("--method", metavar="NAME", help="only this one; repeatable")] = None,
    column: Annotated[Text, option("--column", metavar="NAME", help="column of the values, by name or number")] = None,
    counts: Annotated[Text, option("--counts", metavar="NAME", help="column of counts: SAMPLE is a histogram")] = None,
    ordered: Annotated[
        bool | None, option("--ordered/--unordered", help="have the categories an order (default: numbers have)")
    ] = None,
    skew: Annotated[Text, option("--skew", metavar="S", help="without SAMPLE: Zipf exponent (1)")] = None,
    shape: Annotated[Text, option("--shape", metavar="NAME[:X]", help="without SAMPLE: a named shape")] = None,
    instant: Annotated[bool, option("--instant", help="look the answer up for SAMPLE instead of simulating")] = False,
    max_bits: Annotated[Text, option("--max-bits", metavar="N", help="only reports of at most N bits")] = None,
    max_attack: Annotated[Text, option("--max-attack", metavar="X", help="only attack success of at most X")] = None,
    proper: Annotated[bool, option("--proper", help="only results without negatives that sum to 1")] = False,
    unbiased: Annotated[bool, option("--unbiased", help="only results that are right on average")] = False,
    server_cost: Annotated[
        Text, option("--server-cost", metavar="N", help="only if N operations aggregate all")
    ] = None,
    reps: Annotated[Text, option("--reps", metavar="N", help="simulated collections to start with (20)")] = None,
    max_reps: Annotated[Text, option("--max-reps", metavar="N", help="at most, for the leading pairs (400)")] = None,
    seed: Annotated[str, option("--seed", metavar="N", help="same seed, same numbers (0)")] = "0",
    jobs: Annotated[Text, option("--jobs", metavar="N", help="threads; changes no number")] = None,
    plot: Annotated[Text, option("--plot", metavar="FILE", help="draw the frontier: .png, .svg or .pdf")] = None,
    output_format: Annotated[Text, option("--format", metavar="FORMAT", help="table, json, csv or markdown")] = None,
    output: Annotated[Text, option("--output", "-o", metavar="FILE", help="write the frontier to this file")] = None,
    force: Annotated[bool, option("--force", help="replace files that exist")] = False,
    quiet: Annotated[bool, option("--quiet", "-q", help="the frontier, nothing else")] = False,
) -> None:
    """Show the pairs that no other beats in error, attack success and bits per report at once."""
    from advisor import pareto_run

    pareto_run.run(
        sample,
        settings={
            "epsilon": real_number("eps", eps),
            "metrics": metric or ["l1"],
            "protocols": protocol or [],
            "methods": method or [],
            "k": whole_number("k", k),
            "n": whole_number("n", n),
            "seed": whole_number("seed", seed),
            "repetitions": whole_number("reps", reps),
            "max_repetitions": whole_number("max-reps", max_reps),
            "max_bits": whole_number("max-bits", max_bits),
            "max_attack": real_number("max-attack", max_attack),
            "proper": proper,
            "unbiased": unbiased,
            "server_cost": whole_number("server-cost", server_cost),
        },
        reading={"column": column, "counts": counts, "header": None, "drop_missing": False, "transactions": False},
        ordered=ordered,
        skew=real_number("skew", skew),
        shape=shape,
        instant=instant,
        jobs=whole_number("jobs", jobs, at_least=1, at_most=1024),
        plot=plot,
        output_format=format_named(output_format or SUFFIXES.get(Path(output or "").suffix.lower(), "table"), FORMATS),
        output=output,
        force=force,
        quiet=quiet,
    )
