"""Tally files for parts of the reports: content, writing, checking, reading and merging."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from advisor.errors import InputError, printable, reason
from advisor.inputs.reports.categories import joined
from advisor.inputs.reports.settings import (
    PARAMETERS,
    CellCounts,
    Counted,
    LabelCounts,
    ReportSettings,
    check_parameters,
    lowest_count,
)
from simulator import __version__

FORMAT, VERSION = "ldp-advise tally", 1
LARGEST = 1 << 28  # maximum of bytes of a tally file


@dataclass(frozen=True)
class ReportFile:
    """Name and digest of a file of reports."""

    name: str  # for people
    sha256: str  # of all its bytes; "" if not requested
    reports: int


@dataclass(frozen=True)
class Part:
    """The counts of some reports, with the settings that must agree before counts are added."""

    settings: ReportSettings  # with k and the domain, as far as the reports determine them
    counted: Counted
    files: tuple[ReportFile, ...]  # the counted files, in order

    @property
    def n(self) -> int:
        """Number of counted reports."""
        return self.counted.n


def added(settings: ReportSettings, total: Counted | None, part: Counted, source: str) -> Counted:
    """Return the sum of counts with the same settings; raise InputError if their labels contradict each other."""
    if isinstance(part, LabelCounts):
        return joined(settings, total if isinstance(total, LabelCounts) else LabelCounts(0, {}), part, source)
    return total + part if isinstance(total, CellCounts) else part


def difference(one: ReportSettings, other: ReportSettings) -> str | None:
    """Return the difference between two settings that prevents adding their counts; None if they agree."""
    pairs: list[tuple[str, object, object]] = [
        ("protocol", one.protocol, other.protocol),
        ("eps", one.epsilon, other.epsilon),
        ("k", one.k, other.k),
        ("hash", one.hash, other.hash),
        ("steps", one.steps, other.steps),
        *((flag, one.parameters.get(name), other.parameters.get(name)) for name, flag in PARAMETERS.items()),
    ]
    for name, first, second in pairs:
        if first != second:
            return f"{name} is {_shown(first)} in the one and {_shown(second)} in the other"
    if (one.domain, one.domain_given) != (other.domain, other.domain_given):
        return "they name the categories, or their order, differently; give both the same --domain FILE"
    return None


def _shown(value: object) -> str:
    return "not given" if value is None else f"{value:g}" if isinstance(value, float) else f"{value}"


def tally_text(part: Part) -> str:
    """Return a part as the text of a file: a JSON object, equal for equal counts."""
    settings, counted = part.settings, part.counted
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "made_by": f"ldp-advise {__version__}",
        "protocol": settings.protocol,
        "epsilon": settings.epsilon,
        "k": settings.k,
        "domain": None if settings.domain is None else list(settings.domain),
        "domain_given": settings.domain_given,
        "hash": settings.hash,
        "steps": settings.steps,
        "parameters": dict(sorted(settings.parameters.items())),
        "n": part.n,
        "unit": "2^-64" if settings.kind == "cells" else "reports",
        # Some languages cannot represent integers of more than 53 bits.
        "counts": [_written(count) for count in counted.cells.tolist()]
        if isinstance(counted, CellCounts)
        else dict(sorted(counted.users.items())),
        "files": [asdict(file) for file in part.files],
    }
    content["check"] = _check(content)
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n"


def _written(count: int) -> int | str:
    return count if abs(count) < 1 << 53 else str(count)


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


def read_tally(path: str) -> Part:
    """Return the part in a file made by `tally_text`.

    Raises InputError if the file cannot be read, is not a tally, was changed, or holds impossible values.
    """
    name = printable(path)
    try:
        content = json.loads(Path(path).read_bytes()) if Path(path).stat().st_size <= LARGEST else None
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({reason(error)})") from None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(
            f"{name}: is no tally, or was cut short; --merge adds up what --tally wrote, without it reports are read"
        )
    if content.get("version") != VERSION:
        raise InputError(
            f"{name}: is a tally of version {content.get('version')}, version {VERSION} is read; make it again"
        )
    if content.get("check") != _check(content):
        raise InputError(f"{name}: was changed after it was written (its check does not fit); make it again")
    try:
        return _part(content, name)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        why = str(error) if isinstance(error, InputError) else "it lacks something, or holds something else"
        raise InputError(f"{name}: is no tally that can be: {why}") from None


def _part(content: Mapping[str, Any], name: str) -> Part:
    domain = content["domain"]
    settings = ReportSettings(
        protocol=content["protocol"],
        epsilon=float(content["epsilon"]),
        k=content["k"],
        domain=None if domain is None else tuple(domain),
        column=None,
        hash=content["hash"],
        parameters=content["parameters"],
        steps=content["steps"],
        domain_given=bool(content["domain_given"]),
    )
    settings.check()
    check_parameters(settings.protocol, settings.parameters)
    files = tuple(ReportFile(str(file["name"]), str(file["sha256"]), int(file["reports"])) for file in content["files"])
    part = Part(settings, _counts(content, settings, name), files)
    if not isinstance(part.n, int) or part.n < 1 or part.n != sum(file.reports for file in files):
        raise InputError(f"n is {part.n}, but its files have {sum(file.reports for file in files)} reports")
    return part


def _counts(content: Mapping[str, Any], settings: ReportSettings, name: str) -> Counted:
    """Return the counts; raise InputError if no reports can have them."""
    n, counts = content["n"], content["counts"]
    if settings.kind in ("value", "subset"):
        users = {str(label): int(count) for label, count in counts.items()}
        if any(not 0 <= count <= n for count in users.values()):
            raise InputError(f"a count of n={n} reports is from 0 to {n}")
        return LabelCounts(n, users, dict.fromkeys(users, name))
    numbers = list(map(int, counts))
    oracle = settings.oracle(settings.k or 0)
    size = oracle.sample_tally(np.bincount([0], minlength=oracle.k), np.random.default_rng(0)).counts.shape[-1]
    if len(numbers) != size:
        raise InputError(f"a tally of {settings.protocol} with k={settings.k} has {size} counts, got {len(numbers)}")
    if settings.kind == "cells":
        return CellCounts(n, np.array(numbers, dtype=object))
    lowest = lowest_count(oracle, n)
    if min(numbers) < lowest or max(numbers) > n:
        raise InputError(f"a count of n={n} reports is from {lowest} to {n}")
    return CellCounts(n, np.array(numbers, dtype=np.int64))


def merge_tallies(paths: Sequence[str]) -> Part:
    """Return the sum of the tallies in files; their order does not matter.

    Raises InputError for a file that is not a tally, for tallies with different settings, and for reports that are in
    two tallies.
    """
    parts = {printable(path): read_tally(path) for path in paths}
    first = next(iter(parts))
    settings = parts[first].settings
    total: Counted | None = None
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
        total = added(settings, total, part.counted, f"{len(parts)} tallies")
    files = sorted((file for part in parts.values() for file in part.files), key=lambda file: (file.name, file.sha256))
    return replace(parts[first], counted=total or parts[first].counted, files=tuple(files))
