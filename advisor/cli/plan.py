"""``ldp-advise plan``: its options."""

from __future__ import annotations

from typing import Annotated

import typer

from advisor.cli.options import format_for, option
from advisor.numerals import real_number, whole_number

FORMATS = ("table", "json", "csv", "markdown", "plain", "value")
Text = str | None


def plan_command(
    sample: Annotated[
        Text,
        typer.Argument(metavar="SAMPLE", help="as for the main command; or --k, --skew, --shape", show_default=False),
    ] = None,
    target: Annotated[Text, option("--target", metavar="X", help="mean error to be reached")] = None,
    detect: Annotated[
        Text, option("--detect", metavar="F", help="frequency to be told from 0: power 0.8, level 0.05")
    ] = None,
    # A list, so that a second one can be refused instead of replacing the first.
    metric: Annotated[list[str] | None, option("--metric", "-m", metavar="NAME", help="error metric (l1)")] = None,
    eps: Annotated[Text, option("--eps", "-e", metavar="ε", help="privacy budget: the answer is n")] = None,
    n: Annotated[Text, option("--n", metavar="N", help="users who will report: the answer is ε")] = None,
    k: Annotated[Text, option("--k", metavar="N", help="number of categories")] = None,
    protocol: Annotated[
        list[str] | None, option("--protocol", "-p", metavar="NAME", help="only this; repeatable")
    ] = None,
    method: Annotated[list[str] | None, option("--method", metavar="NAME", help="only this one; repeatable")] = None,
    skew: Annotated[Text, option("--skew", metavar="S", help="without SAMPLE: Zipf exponent (1)")] = None,
    shape: Annotated[Text, option("--shape", metavar="NAME[:X]", help="without SAMPLE: a named shape")] = None,
    ordered: Annotated[bool | None, option("--ordered/--unordered", help="have the categories an order")] = None,
    column: Annotated[Text, option("--column", metavar="NAME", help="column of the values")] = None,
    counts: Annotated[Text, option("--counts", metavar="NAME", help="column of counts")] = None,
    header: Annotated[bool | None, option("--header/--no-header", help="is the first line a header")] = None,
    instant: Annotated[bool, option("--instant", help="the grid's answer alone, at once")] = False,
    max_reps: Annotated[Text, option("--max-reps", metavar="N", help="repetitions at most (2000)")] = None,
    seed: Annotated[str, option("--seed", metavar="N", help="same seed, same numbers (0)")] = "0",
    jobs: Annotated[Text, option("--jobs", metavar="N", help="threads; changes no number")] = None,
    top: Annotated[Text, option("--top", metavar="N", help="rows to show (10)")] = None,
    show_all: Annotated[bool, option("--all", help="show every row")] = False,
    output_format: Annotated[Text, option("--format", metavar="FORMAT", help=", ".join(FORMATS))] = None,
    output: Annotated[Text, option("--output", "-o", metavar="FILE", help="write the answer to this file")] = None,
    plot: Annotated[Text, option("--plot", metavar="FILE", help="picture of the curve: .png, .svg or .pdf")] = None,
    force: Annotated[bool, option("--force", help="replace files that exist")] = False,
    quiet: Annotated[bool, option("--quiet", "-q", help="the answer and the table, nothing else")] = False,
) -> None:
    """Say how many users, or which ε, an error takes, or a small frequency to be told from 0.

    Give --target (or --detect), and one of --eps and --n; the other is the answer.
    """
    from advisor.plans.run import plan_file

    plan_file(
        sample,
        settings={
            "metric": metric,
            "target": real_number("target", target),
            "detect": real_number("detect", detect),
            "epsilon": real_number("eps", eps),
            "n": whole_number("n", n),
            "k": whole_number("k", k),
            "protocols": protocol or [],
            "methods": method or [],
            "seed": whole_number("seed", seed),
            "max_repetitions": whole_number("max-reps", max_reps),
        },
        reading={"column": column, "counts": counts, "header": header},
        skew=real_number("skew", skew),
        shape=shape,
        ordered=ordered,
        instant=instant,
        jobs=whole_number("jobs", jobs, at_least=1, at_most=1024) or 1,
        top=None if show_all else whole_number("top", top, at_least=1) or 10,
        output_format=format_for(output_format, output, FORMATS),
        output=output,
        plot=plot,
        force=force,
        quiet=quiet,
    )
