"""Command lines of the release before, for one more release: options of the main command that are commands now."""

from __future__ import annotations

import os

from advisor.cli.arguments import COMMANDS
from advisor.cli.options import ENVIRONMENT
from advisor.errors import InputError

ESTIMATE, REPORTS = "--estimate", "--reports"
RENAMED = {"--protocol": "--next-protocol", "-p": "--next-protocol"}  # what --estimate and --reports name now
PLACES = ("--grid", "--cell-km", "--channel", "--distance", "--radius", "--columns")


def modern(args: list[str]) -> list[str]:
    """Return the words of a command line as they are written today.

    Raises InputError if two questions are asked at once.

    >>> modern(["--estimate", "oue", "--n", "1e5", "raw.csv", "--eps=1"])
    ['estimate', '--protocol=oue', '--n', '1e5', 'raw.csv', '--eps=1']
    >>> modern(["map.csv", "--grid", "8x8", "--columns", "row,col", "--eps", "1"])[0]
    'places'
    """
    if args[:1] and args[0] in COMMANDS:
        return args
    if all(_taken(args, option)[0] is not None for option in (ESTIMATE, REPORTS)):
        raise InputError("give either --estimate or --reports, or better: ldp-advise estimate, or ldp-advise reports")
    for option, command in ((ESTIMATE, "estimate"), (REPORTS, "reports")):
        protocol, rest = _taken(args, option)
        if protocol is not None:
            if (_taken(rest, "--privacy")[0] or "").lower() == "ldp":  # what all reports are about
                _, rest = _taken(rest, "--privacy")
            parts = (word.partition("=") for word in rest)
            rest = [RENAMED.get(flag, flag) + sign + value for flag, sign, value in parts]
            return [command, f"--protocol={protocol}", *rest]
    words = {word.partition("=")[0] for word in args}
    privacy, _ = _taken(args, "--privacy")
    if words & set(PLACES) or (privacy or "ldp").lower() != "ldp":
        return ["places", *args]
    return _taken(args, "--privacy")[1]  # local privacy is what all other questions are about


def _taken(args: list[str], option: str) -> tuple[str | None, list[str]]:
    """Return the value of an option, from the environment if it is not among the words, and the other words."""
    for place, word in enumerate(args):
        if word == "--":
            break
        if word == option and place + 1 < len(args):
            return args[place + 1], [*args[:place], *args[place + 2 :]]
        if word.startswith(f"{option}="):
            return word.partition("=")[2], [*args[:place], *args[place + 1 :]]
    name = ENVIRONMENT + option.lstrip("-").replace("-", "_").upper()
    return os.environ.get(name) or None, args
