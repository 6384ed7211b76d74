"""Tally files for parts of the reports: content, writing, checking, reading and merging."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from advisor.checks import shown
from advisor.errors import InputError, printable
from advisor.inputs.numbers import LARGEST_TOTAL
from advisor.inputs.reports.categories import check_labels
from advisor.inputs.reports.counting import Counted
from advisor.inputs.reports.settings import PARAMETERS, ReportSettings, check_parameters
from advisor.inputs.saved import read_json
from simulator import __version__

FORMAT, VERSION = "ldp-advise tally", 1
SETTINGS = ("protocol", "epsilon", "k", "domain", "domain_given", "hash", "steps")  # beside the parameters


@dataclass(frozen=True)
class ReportFile:
    """Name and digest of a file of reports."""

    name: str  # for people
    sha256: str  # of all its bytes; "" if not requested
    reports: int


@dataclass(frozen=True)
class Counts:
    """The counts of some reports, with the settings that must agree before counts are added."""

    settings: ReportSettings  # with k and the domain, as far as the reports determine them
    counted: Counted
    files: tuple[ReportFile, ...]  # the counted files, in order
    assumptions: tuple[str, ...] = ()  # what was decided for the user, one sentence each
    warnings: tuple[str, ...] = ()  # what the user should look at, one sentence each

    @property
    def n(self) -> int:
        """Number of counted reports."""
        return self.counted.n

    @property
    def name(self) -> str:
        """What the files are called together."""
        return self.files[0].name if len(self.files) == 1 else f"{len(self.files)} files"


def difference(one: ReportSettings, other: ReportSettings) -> str | None:
    """Return the difference between two settings that prevents adding their counts; None if they agree."""
    parameters = (("protocol", "protocol"), ("eps", "epsilon"), ("k", "k"), ("hash", "hash"), ("steps", "steps"))
    pairs = [(name, getattr(one, at), getattr(other, at)) for name, at in parameters]
    pairs += [(flag, one.parameters.get(at), other.parameters.get(at)) for at, flag in PARAMETERS.items()]
    for name, first, second in pairs:
        if first != second:
            first, second = ("not given" if value is None else value for value in (first, second))
            return f"{name} is {first} in the one and {second} in the other"
    if (one.domain, one.domain_given) != (other.domain, other.domain_given):
        return "they name the categories, or their order, differently; give both the same --domain FILE"
    return None


def tally_text(counts: Counts) -> str:
    """Return counts as the text of a file: a JSON object, equal for equal counts."""
    settings, counted = counts.settings, counts.counted
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "made_by": f"ldp-advise {__version__}",
        **{field: getattr(settings, field) for field in SETTINGS},
        "parameters": dict(sorted(settings.parameters.items())),
        "n": counts.n,
        "unit": "2^-64" if settings.kind == "cells" else "reports",
        # Some languages cannot represent integers of more than 53 bits.
        "counts": [count if abs(count) < 1 << 53 else str(count) for count in counted.counts.tolist()]
        if isinstance(counted.counts, np.ndarray)
        else dict(sorted(counted.counts.items())),
        "files": [asdict(file) for file in counts.files],
    }
    content["check"] = _check(content)
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n"


def _check(content: Mapping[str, Any]) -> str:
    """Return the digest of all other fields of a tally."""
    rest = {key: value for key, value in content.items() if key != "check"}
    text = json.dumps(rest, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def is_tally(path: str) -> bool:
    """Return whether a file begins like the output of `tally_text`."""
    begin = f'{{"format":"{FORMAT}"'.encode()
    with suppress(OSError, ValueError), Path(path).open("rb") as file:
        return file.read(len(begin)) == begin if Path(path).is_file() else False
    return False


def read_tally(path: str) -> Counts:
    """Return the counts in a file made by `tally_text`.

    Raises InputError if the file cannot be read, is not a tally, or was changed.
    """
    content, name = read_json(path), printable(path)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(
            f"{name}: is no tally, or was cut short; --merge adds up what --tally wrote, without it reports are read"
        )
    if content.get("version") != VERSION:
        version = shown(content.get("version"))
        raise InputError(f"{name}: is a tally of version {version}, version {VERSION} is read; make it again")
    if content.get("check") != _check(content):
        raise InputError(f"{name}: was changed after it was written (its check does not fit); make it again")
    try:
        return _counts(content)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"{name}: is no tally that can be: {error}") from None


def _counts(content: Mapping[str, Any]) -> Counts:
    counts = content["counts"]
    settings = ReportSettings(**{field: content[field] for field in (*SETTINGS, "parameters")})
    settings = settings.checked()
    check_parameters(settings.protocol, settings.parameters)
    files = tuple(ReportFile(**file) for file in content["files"])
    if isinstance(counts, dict):
        return Counts(settings, Counted(content["n"], Counter(counts)), files)
    oracle = settings.oracle(settings.k or 2)
    size = oracle.sample_tally(np.bincount([0], minlength=oracle.k), np.random.default_rng(0)).counts.shape[-1]
    if len(counts) != size:
        raise ValueError(f"a tally of {settings.protocol} with k={settings.k} has {size} counts, got {len(counts)}")
    whole = list(map(int, counts))  # sums of steps may be texts
    kind = object if oracle.report_kind == "cells" else np.int64
    return Counts(settings, Counted(content["n"], np.array(whole, dtype=kind)), files)


def merge_tallies(paths: Sequence[str]) -> Counts:
    """Return the sum of the tallies in files; their order does not matter.

    Raises InputError for a file that is not a tally, for tallies with different settings, and for reports that are in
    two tallies.
    """
    parts = {printable(path): read_tally(path) for path in paths}
    first = next(iter(parts))
    settings = parts[first].settings
    total, source = Counted(), f"{len(parts)} tallies"
    owner: dict[str, str] = {}
    for name, part in parts.items():
        why = difference(settings, part.settings)
        if why is not None:
            raise InputError(f"{first} and {name} are tallies of different collections: {why}")
        for file in part.files:
            if file.sha256 in owner:
                raise InputError(
                    f"{owner[file.sha256]} and {name} both hold the reports of {file.name}: leave one of them out"
                )
        owner.update((file.sha256, name) for file in part.files)
        total.add(part.counted, source)
    if isinstance(total.counts, Counter):
        check_labels(settings, total.counts, source)
    if total.n > LARGEST_TOTAL:
        raise InputError(f"{source}: have more than {LARGEST_TOTAL} (2^53) reports together")
    files = sorted((file for part in parts.values() for file in part.files), key=lambda file: (file.name, file.sha256))
    note = f"{len(parts)} tallies of {len(files)} files added up"
    return Counts(settings, total, tuple(files), (note,))
