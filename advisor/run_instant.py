"""The part of a run that looks up instead of simulating: which options fit, and the request."""

from __future__ import annotations

from typing import Any, NamedTuple

from advisor.errors import InputError


class InstantOptions(NamedTuple):
    """Options of a look-up.

    Attributes
    ----------
    skew, shape
        What is assumed of the frequencies where there is no sample.
    instant
        Whether a sample is to be looked up.
    why
        Whether the answer is to be explained.
    """

    skew: float | None
    shape: str | None
    instant: bool
    why: bool


def check_instant_options(
    options: InstantOptions,
    checked: dict[str, Any],
    reading: dict[str, Any],
    *,
    sample: str | None,
    collected: bool,
    others: dict[str, Any],
) -> bool:
    """Return whether the answer is to be looked up; refuse options that do not go with that, or with a simulation.

    Raises
    ------
    InputError
        For the first option that does not fit.
    """
    if sample is None:
        if checked["k"] is None:
            raise InputError(
                "no sample given: name a file with public, synthetic or pilot data of the kind to be collected, or - "
                "for standard input; without one, --k with the number of categories looks an answer up"
            )
        for name, given in {**reading_options(reading), **others}.items():
            if given:
                raise InputError(f"{name} needs a file: without one the answer is looked up")
    else:
        for name, given in (("--skew", options.skew is not None), ("--shape", options.shape is not None)):
            if given:
                raise InputError(f"{name} is for a look-up without a file: the frequencies are those of {sample}")
    if options.instant and collected:
        raise InputError("--instant is for a sample: what was collected is answered by simulation")
    looks_up = sample is None or options.instant
    if options.why and not looks_up:
        raise InputError("--why explains a look-up: leave the file out, or add --instant")
    if looks_up:
        named = {
            "--reps": checked["repetitions_named"],
            "--max-reps": checked["max_repetitions_named"],
            "--runs": others.get("--runs"),
        }
        for name, given in named.items():
            if given:
                raise InputError(f"{name} is for a simulation, and this answer is looked up")
    return looks_up


def reading_options(reading: dict[str, Any]) -> dict[str, Any]:
    """Return the options about a file by their names on the command line."""
    return {f"--{name.replace('_', '-')}": value for name, value in reading.items() if name != "header"}
