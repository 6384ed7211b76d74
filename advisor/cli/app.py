"""The command line: parse, call, print. Errors become exit codes here and nowhere else.

Exit codes: 0 advice given (a tie is advice), 2 bad usage or bad data, or the answer cannot be written, 130 interrupted.
"""

# Annotations are not postponed here: Typer would evaluate each option's several times at every start.

import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from advisor.cli.options import FORMATS, HELP, PRIVACY_NOTICE, SUFFIX_FORMATS, typed
from advisor.cli.options import format_named as _format
from advisor.cli.options import option as _option
from advisor.errors import InputError
from advisor.light import LightCommand
from advisor.numerals import real_number, whole_number
from simulator._version import __version__

if TYPE_CHECKING:
    from advisor.run_collected import CollectedOptions

# Typer's own errors of usage (unknown option, missing value) share this base, which it does not export by name.
USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]

advise_app = typer.Typer(add_completion=True, pretty_exceptions_enable=False, rich_markup_mode=None)

EPILOG = (
    "Other commands: 'ldp-advise list' shows every protocol, method and metric; 'ldp-advise explain NAME' tells more "
    "of one; 'ldp-advise plan' says how many users or which ε an error takes; 'ldp-advise sweep' who wins where; "
    "'ldp-advise pareto' the trade-offs of one request; 'ldp-advise audit' measures what reports give away; "
    "'ldp-advise epsilon' says what ε means; 'ldp-advise knowledge' is about the grid behind look-ups. A sample file "
    "called like a command is reached as ./list. Places (--grid, --cell-km, --privacy metric) are ranked with options "
    "of their own: --report, --runs, --max-reps, --threat, --instant, --plot-frequencies and others that are about "
    "categories are refused with them. Every option can be set from the environment, for example "
    "LDP_ADVISE_FORMAT=json. Exit codes: 0 advice given (a tie is advice), 2 bad usage or bad data."
)

INTERRUPTED = 130
COMMANDS = ("list", "explain", "knowledge", "plan", "sweep", "pareto", "audit", "epsilon")


def _complete_command(incomplete: str) -> list[str]:
    """Complete a first word to a command; where none fits, the shell completes file names."""
    return [command for command in COMMANDS if command.startswith(incomplete)]


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"ldp-advise {__version__}")
        raise typer.Exit


Text = str | None
Names = list[str] | None


@advise_app.command(cls=LightCommand, epilog=EPILOG, context_settings=HELP)
def advise_command(
    sample: Annotated[
        Text,
        typer.Argument(
            metavar="SAMPLE",
            help="CSV, TSV, text or Parquet (or gzip) with values or counts; - is stdin",
            show_default=False,
            autocompletion=_complete_command,
        ),
    ] = None,
    eps: Annotated[Text, _option("--eps", "-e", metavar="ε", help="privacy budget of one report")] = None,
    k: Annotated[Text, _option("--k", metavar="N", help="domain size, if larger than what the sample shows")] = None,
    n: Annotated[Text, _option("--n", metavar="N", help="users who will report (default: the sample's)")] = None,
    metric: Annotated[
        Names, _option("--metric", "-m", metavar="NAME", help="error metric (default: l1); repeatable, or 'all'")
    ] = None,
    protocol: Annotated[Names, _option("--protocol", "-p", metavar="NAME", help="only this one; repeatable")] = None,
    method: Annotated[Names, _option("--method", metavar="NAME", help="only this one; repeatable")] = None,
    column: Annotated[Text, _option("--column", metavar="NAME", help="column of the values, by name or number")] = None,
    counts: Annotated[Text, _option("--counts", metavar="NAME", help="column of counts: SAMPLE is a histogram")] = None,
    header: Annotated[
        bool | None, _option("--header/--no-header", help="is the first line a header (default: detected)")
    ] = None,
    ordered: Annotated[
        bool | None, _option("--ordered/--unordered", help="have the categories an order (default: numbers have)")
    ] = None,
    estimate: Annotated[
        Text, _option("--estimate", metavar="PROTOCOL", help="SAMPLE is a raw estimate (value,estimate) of --n users")
    ] = None,
    reports: Annotated[
        Text, _option("--reports", metavar="PROTOCOL", help="SAMPLE holds the reports: grr, rappor, oue, blh, olh, ss")
    ] = None,
    estimates: Annotated[Text, _option("--estimates", metavar="NAME", help="for --estimate: column of values")] = None,
    hash_name: Annotated[Text, _option("--hash", metavar="NAME", help="of blh, olh reports: mix64 or xxh32")] = None,
    surrogate: Annotated[
        Text, _option("--surrogate", metavar="NAME", help="truths behind an estimate: ensemble, norm_sub, … (ensemble)")
    ] = None,
    skew: Annotated[
        Text, _option("--skew", metavar="S", help="without SAMPLE: Zipf exponent of the frequencies, 0 = even (1)")
    ] = None,
    shape: Annotated[
        Text, _option("--shape", metavar="NAME[:X]", help="without SAMPLE: a named shape, for example gaussian:0.1")
    ] = None,
    instant: Annotated[bool, _option("--instant", help="look the answer up for SAMPLE instead of simulating")] = False,
    why: Annotated[bool, _option("--why", help="for a look-up: the rules behind it, and what would change it")] = False,
    apply: Annotated[
        Text, _option("--apply", metavar="FILE", help="write the post-processed estimate: .csv with intervals")
    ] = None,
    grid: Annotated[
        Text, _option("--grid", metavar="ROWSxCOLS", help="SAMPLE holds places on a grid; --columns says where")
    ] = None,
    columns: Annotated[
        Text, _option("--columns", metavar="A,B", help="coordinates: row,col, or longitude,latitude with --cell-km")
    ] = None,
    cell_km: Annotated[Text, _option("--cell-km", metavar="KM", help="side of a cell of the grid")] = None,
    distance: Annotated[
        Text, _option("--distance", metavar="NAME", help="of places: euclidean or manhattan (euclidean)")
    ] = None,
    privacy: Annotated[
        Text, _option("--privacy", metavar="KIND", help="ldp, or metric: --eps only for places within --radius (ldp)")
    ] = None,
    radius: Annotated[
        Text, _option("--radius", metavar="R", help="for --privacy metric: in cells, or km with --cell-km")
    ] = None,
    channel: Annotated[
        Text, _option("--channel", metavar="FILE", help="for places: your own matrix as a protocol, .csv or .npy")
    ] = None,
    domain: Annotated[Text, _option("--domain", metavar="FILE", help="every possible category, one a line")] = None,
    keep_top: Annotated[Text, _option("--keep-top", metavar="N", help="keep the N most frequent categories")] = None,
    other: Annotated[bool, _option("--other", help="merge what --keep-top leaves out instead of dropping it")] = False,
    transactions: Annotated[
        bool, _option("--transactions", help="several items a row: users keep their most frequent one")
    ] = False,
    drop_missing: Annotated[bool, _option("--drop-missing", help="leave out rows without a value")] = False,
    top_values: Annotated[Text, _option("--top-values", metavar="N", help="for topk: how many (default: 5 %)")] = None,
    set_share: Annotated[Text, _option("--set-share", metavar="X", help="for set: share in a set (0.1)")] = None,
    kl_mix: Annotated[Text, _option("--kl-mix", metavar="X", help="for kl, js: weight of the uniform (1e-4)")] = None,
    max_bits: Annotated[Text, _option("--max-bits", metavar="N", help="only reports of at most N bits")] = None,
    max_attack: Annotated[
        Text, _option("--max-attack", metavar="X", help="only if the best guess of a value is right so often at most")
    ] = None,
    proper: Annotated[bool, _option("--proper", help="only results without negatives that sum to 1")] = False,
    unbiased: Annotated[bool, _option("--unbiased", help="only results that are right on average")] = False,
    server_cost: Annotated[
        Text, _option("--server-cost", metavar="N", help="only if N operations (k n for many) aggregate all")
    ] = None,
    attributes: Annotated[
        Text, _option("--attributes", metavar="D", help="attributes of a user, SAMPLE being one: --eps is for all")
    ] = None,
    solution: Annotated[
        Text, _option("--solution", metavar="NAME", help="for --attributes: smp (report one) or spl (split eps)")
    ] = None,
    rounds: Annotated[Text, _option("--rounds", metavar="R", help="collections of the same, --eps in each")] = None,
    threat: Annotated[
        Text,
        _option("--threat", metavar="SHARE", help="also simulate an attacker who controls this share of the users"),
    ] = None,
    reps: Annotated[Text, _option("--reps", metavar="N", help="simulated collections to start with (20)")] = None,
    max_reps: Annotated[Text, _option("--max-reps", metavar="N", help="at most, for the leading pairs (400)")] = None,
    seed: Annotated[str, _option("--seed", metavar="N", help="same seed, same numbers (0)")] = "0",
    jobs: Annotated[Text, _option("--jobs", metavar="N", help="threads; changes no number")] = None,
    top: Annotated[Text, _option("--top", metavar="N", help="rows to show (10)")] = None,
    show_all: Annotated[bool, _option("--all", help="show every row")] = False,
    output_format: Annotated[
        Text, _option("--format", metavar="FORMAT", help=f"{', '.join(FORMATS)} (default: table)")
    ] = None,
    output: Annotated[Text, _option("--output", "-o", metavar="FILE", help="write the answer to this file")] = None,
    runs: Annotated[Text, _option("--runs", metavar="FILE", help="every repetition's error: .csv or .parquet")] = None,
    plot: Annotated[
        Text, _option("--plot", metavar="FILE", help="picture of the ranking; for places maps: .png, .svg or .pdf")
    ] = None,
    plot_frequencies: Annotated[
        Text, _option("--plot-frequencies", metavar="FILE", help="picture of raw and post-processed frequencies")
    ] = None,
    report: Annotated[Text, _option("--report", metavar="FILE", help="one page with everything: .html")] = None,
    force: Annotated[bool, _option("--force", help="replace files that exist")] = False,
    quiet: Annotated[bool, _option("--quiet", "-q", help="the answer and the table, nothing else")] = False,
    verbose: Annotated[bool, _option("--verbose", "-v", help="also tell what columns mean and protocols do")] = False,
    version: Annotated[  # noqa: ARG001 - handled by its callback
        bool, typer.Option("--version", callback=_version, is_eager=True, help="show the version")
    ] = False,
) -> None:
    """Say which LDP protocol and post-processing method to use for data like SAMPLE, and how large the error will be.

    Simulates the whole collection for every protocol with every post-processing method, and ranks them. With --estimate
    or --reports, SAMPLE is what an LDP collection has given already, and the methods for its protocol are ranked. With
    --k and no SAMPLE, the answer is looked up at once.
    """
    from advisor import run
    from advisor.places.options import PlacesOptions
    from advisor.run_instant import InstantOptions
    from advisor.run_shown import ShownOptions

    on_places = PlacesOptions(
        privacy, real_number("radius", radius), grid, columns, real_number("cell-km", cell_km), distance, channel, plot
    )
    about = collected_options(estimate, reports, estimates, hash_name, surrogate, apply)
    chosen = _format(output_format or SUFFIX_FORMATS.get(Path(output or "").suffix.lower(), "table"))
    settings = {
        "epsilon": real_number("eps", eps),
        "metrics": metric or ["l1"],
        "protocols": protocol or [],
        "methods": method or [],
        "k": whole_number("k", k),
        "n": whole_number("n", n),
        "seed": whole_number("seed", seed),
        "repetitions": whole_number("reps", reps),
        "max_repetitions": whole_number("max-reps", max_reps),
        "top_values": whole_number("top-values", top_values),
        "set_share": real_number("set-share", set_share),
        "kl_mix": real_number("kl-mix", kl_mix),
        "max_bits": whole_number("max-bits", max_bits),
        "max_attack": real_number("max-attack", max_attack),
        "proper": proper,
        "unbiased": unbiased,
        "server_cost": whole_number("server-cost", server_cost),
        "threat": real_number("threat", threat),
        "attributes": whole_number("attributes", attributes),
        "rounds": whole_number("rounds", rounds),
        "solution": solution,
    }
    reading = {
        "column": column,
        "counts": counts,
        "header": header,
        "drop_missing": drop_missing,
        "transactions": transactions,
    }
    most_rows = whole_number("top", top, at_least=1)
    if on_places.any:
        from advisor.places.run import advise_places

        unsupported = {
            "--estimate": estimate,
            "--reports": reports,
            "--skew": skew,
            "--shape": shape,
            "--instant": instant,
            "--why": why,
            "--domain": domain,
            "--keep-top": keep_top,
            "--other": other,
            "--transactions": transactions,
            "--drop-missing": drop_missing,
            "--max-reps": max_reps,
            "--runs": runs,
            "--k": k if columns else None,
            "--server-cost": server_cost,
            "--threat": threat,
            "--attributes": attributes,
            "--rounds": rounds,
            "--solution": solution,
            "--plot-frequencies": plot_frequencies,
            "--report": report,
        }
        advise_places(
            sample,
            on_places,
            settings=settings | {"metrics": metric or []},
            reading=reading | {"k": settings["k"], "ordered": ordered},
            unsupported=unsupported,
            top=None if show_all else most_rows,
            show_all=show_all,
            output_format=chosen,
            output=output,
            force=force,
            quiet=quiet,
            verbose=verbose,
            notice=PRIVACY_NOTICE,
        )
        return
    run.advise_file(
        sample,
        settings=settings,
        reading=reading,
        ordered=ordered,
        domain=domain,
        about=about,
        instantly=InstantOptions(real_number("skew", skew), shape, instant=instant, why=why),
        keep_top=whole_number("keep-top", keep_top, at_least=1),
        other=other,
        jobs=whole_number("jobs", jobs, at_least=1, at_most=1024),
        top=None if show_all else most_rows or run.TOP,
        output_format=chosen,
        output=output,
        runs=runs,
        shown=ShownOptions(plot, plot_frequencies, report),
        force=force,
        quiet=quiet,
        verbose=verbose,
        notice=PRIVACY_NOTICE,
    )


def collected_options(
    estimate: Text, reports: Text, estimates: Text, hash_name: Text, surrogate: Text, apply: Text
) -> "CollectedOptions | None":
    """Return the options that are about an estimate, or None; refuse those that mean nothing without one."""
    if estimate is not None and reports is not None:
        raise InputError("give either --estimate or --reports: one file holds one of the two")
    if estimate is None and reports is None:
        for name, given in (("--estimates", estimates), ("--hash", hash_name), ("--surrogate", surrogate)):
            if given is not None:
                raise InputError(f"{name} goes with {'--reports' if name == '--hash' else '--estimate'}")
        if apply is not None:
            raise InputError("--apply goes with --estimate or --reports: there is nothing to post-process in a sample")
        return None
    if estimates is not None and estimate is None:
        raise InputError("--estimates names the column of a file for --estimate")
    from advisor.run_collected import CollectedOptions  # its readers are many, and most runs have no use for them

    return CollectedOptions(
        estimate or reports or "",
        from_reports=reports is not None,
        estimates=estimates,
        hash=hash_name,
        surrogate=surrogate,
        apply=apply,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    args = list(sys.argv[1:] if arguments is None else arguments)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the caller has closed it: print() too writes nothing then
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - open to the end
    streams = sys.stdout, sys.stderr
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without ε or × shows ? instead of a traceback
    warnings.showwarning = _show_warning
    typed.set(tuple(args))
    try:
        code = _run(args)
        sys.stdout.flush()  # at exit it would be too late to say that it fails
    except BrokenPipeError:
        _muffle(*streams)
        return 0
    except SystemExit as left:
        if not isinstance(left.__context__, BrokenPipeError):
            raise
        # rich and Typer leave with 1 when the reader has gone, and Typer replaces the streams before.
        sys.stdout, sys.stderr = streams
        _muffle(*streams)
        return 0
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise  # not from writing to a stream, which has no file name
        with suppress(OSError):  # standard error may be as full
            typer.echo(f"ldp-advise: error: cannot write the answer: {error.strerror}", err=True)
        _muffle(*streams)
        return 2
    return code


def _run(args: list[str]) -> int:
    try:
        # Typer's completion hands over the words in the environment, not as arguments.
        words = os.environ.get("COMP_WORDS", "").split()[1:] if "_LDP_ADVISE_COMPLETE" in os.environ else args
        code = _app(words)(args, prog_name="ldp-advise", standalone_mode=False)
    except (InputError, USAGE_ERROR) as error:
        return _report(error, args)
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("ldp-advise: interrupted", err=True)
        return INTERRUPTED
    if code == INTERRUPTED:
        typer.echo("ldp-advise: interrupted", err=True)
    return code if isinstance(code, int) else 0


def _app(words: Sequence[str]) -> typer.Typer:
    """Return the commands if the first word is one of them, else the main command."""
    if words[:1] and words[0] in COMMANDS:
        from advisor.cli.groups import commands_app  # as many options again, which a look-up has no time for

        return commands_app
    return advise_app


def _muffle(*streams: TextIO) -> None:
    """Let what a stream still holds go nowhere: the interpreter would complain when it flushes at exit."""
    for stream in streams:
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def _show_warning(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    """Show a warning in one line: users have no use for the place in the code."""
    del category, where, more
    typer.echo(f"warning: {message}", err=True)


def _report(error: Exception, args: list[str]) -> int:
    message = " ".join((error.format_message() if hasattr(error, "format_message") else str(error)).split())
    if _wants_json(args):
        from advisor.formats import error_json

        typer.echo(error_json(message))
    typer.echo(f"ldp-advise: error: {message}", err=True)
    return 2


def _wants_json(args: list[str]) -> bool:
    """Tell whether JSON was asked for, from the raw words: they may be what could not be parsed."""
    formats = [os.environ.get("LDP_ADVISE_FORMAT", "")]
    formats += [word.partition("=")[2] for word in args if word.startswith("--format=")]
    formats += [after for word, after in pairwise(args) if word == "--format"]
    if not any(formats):
        formats = ["json" for word, after in pairwise(args) if word in ("-o", "--output") and after.endswith(".json")]
    return bool(formats) and formats[-1].lower() == "json"
