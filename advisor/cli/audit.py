"""The ``audit`` command: what it takes on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from advisor.cli.options import Names, Text, format_named, option
from advisor.numerals import real_number, whole_number

FORMATS = ("table", "json", "csv", "markdown")
SUFFIXES = {".json": "json", ".csv": "csv", ".md": "markdown"}


def audit_command(
    eps: Annotated[
        Text, option("--eps", "-e", metavar="LIST", help="budget of one report; several with commas")
    ] = None,
    k: Annotated[Text, option("--k", metavar="LIST", help="domain size; several with commas")] = None,
    protocol: Annotated[Names, option("--protocol", "-p", metavar="NAME", help="audit this one; repeatable")] = None,
    every: Annotated[bool, option("--all", help="audit all protocols")] = False,
    trials: Annotated[
        Text, option("--trials", metavar="N", help="reports of each of the two values (1e6; 2e4 of a --target)")
    ] = None,
    alpha: Annotated[Text, option("--alpha", metavar="X", help="probability that a bound is wrong (0.01)")] = None,
    attack: Annotated[
        Text,
        option("--attack", metavar="NAME", help="guess (one value) or pair (v1 against v2); --target: both (default)"),
    ] = None,
    values: Annotated[Text, option("--values", metavar="V1,V2", help="the two values to tell apart (0,1)")] = None,
    target: Annotated[
        Text, option("--target", metavar="MODULE:FUNCTION", help="audit a client f(value, k, epsilon) -> report")
    ] = None,
    reports: Annotated[
        Text, option("--reports", metavar="PROTOCOL", help="for --target: whose reports it makes: grr, oue, ss, olh, …")
    ] = None,
    support: Annotated[
        Text,
        option("--support", metavar="MODULE:FUNCTION", help="for --target: f(report, k, epsilon) -> values supported"),
    ] = None,
    hash_name: Annotated[Text, option("--hash", metavar="NAME", help="for --reports blh, olh: xxh32 or mix64")] = None,
    symbols: Annotated[Text, option("--symbols", metavar="G", help="for --reports blh, olh: number of symbols")] = None,
    rounds: Annotated[
        Text, option("--rounds", metavar="LIST", help="collections of the same value with fresh noise (1)")
    ] = None,
    attributes: Annotated[
        Text, option("--attributes", metavar="LIST", help="attributes of a user, each with k values")
    ] = None,
    solution: Annotated[
        Names, option("--solution", metavar="NAME", help="for --attributes: spl, smp, rsfd (all); repeatable")
    ] = None,
    hashing_only: Annotated[
        Text, option("--lho", metavar="LIST", help="local hashing to so many symbols, without perturbation")
    ] = None,
    seed: Annotated[str, option("--seed", metavar="N", help="same seed, same numbers (0)")] = "0",
    jobs: Annotated[Text, option("--jobs", metavar="N", help="threads; changes no number")] = None,
    output_format: Annotated[Text, option("--format", metavar="FORMAT", help="table, json, csv or markdown")] = None,
    output: Annotated[Text, option("--output", "-o", metavar="FILE", help="write the result to this file")] = None,
    force: Annotated[bool, option("--force", help="replace a file that exists")] = False,
    quiet: Annotated[bool, option("--quiet", "-q", help="the result, nothing else")] = False,
) -> None:
    """Attack reports, and bound from below how much privacy they lose.

    Users who hold v1 and users who hold v2 report; an attacker names a value for each report. How often v1 is named in
    the two cases bounds the privacy loss, with confidence 1 - alpha, whatever is promised (Arcolezi and Gambs).
    """
    from advisor.audits import answer as audit_run

    audit_run.run(
        audit_run.AuditOptions(
            eps=audit_run.numbers("eps", eps),
            k=audit_run.whole_numbers("k", k, at_least=2),
            protocols=tuple(protocol or ()),
            every=every,
            trials=whole_number("trials", trials, at_least=1, at_most=10**10),
            alpha=real_number("alpha", alpha),
            attack=attack,
            values=audit_run.whole_numbers("values", values, at_least=0),
            target=target,
            reports=reports,
            support=support,
            hash=hash_name,
            symbols=whole_number("symbols", symbols, at_least=2, at_most=2**31),
            rounds=audit_run.whole_numbers("rounds", rounds, at_least=1),
            attributes=audit_run.whole_numbers("attributes", attributes, at_least=2),
            solutions=tuple(solution or ()),
            hashing_only=audit_run.whole_numbers("lho", hashing_only, at_least=2),
            seed=whole_number("seed", seed, at_least=0) or 0,
            jobs=whole_number("jobs", jobs, at_least=1, at_most=1024),
        ),
        output_format=format_named(output_format or SUFFIXES.get(Path(output or "").suffix.lower(), "table"), FORMATS),
        output=output,
        force=force,
        quiet=quiet,
    )
