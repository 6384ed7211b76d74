"""The golden corpus: exit codes and figures of many command lines and Python calls, and what has changed in them.

``python -m tests.golden compare [WORDS...]`` runs all of them, or those whose text holds all the words, and prints each
difference that `changes.toml` does not list with its reason. ``python -m tests.golden write`` adds those that are new
and forgets those that are gone; ``write --all`` writes everything anew and empties the list, at a release.
``python -m tests.golden documents [NAMES...]`` writes what answers look like (`test_documents.py`) anew.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tomllib
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

from tests.golden.calls import CALLS
from tests.golden.corpus import Outcome, outcome
from tests.golden.figures import differences
from tests.golden.test_documents import COMMANDS, FOLDER, HELP, document, help_text

HERE = Path(__file__).parent
FIGURES, CHANGES, LINES = HERE / "figures.json", HERE / "changes.toml", HERE / "commands.txt"


def command_lines() -> list[str]:
    lines = LINES.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def outcomes(cases: list[str], jobs: int) -> dict[str, Outcome]:
    if jobs == 1:
        return {case: outcome(case) for case in cases}
    with ProcessPoolExecutor(jobs) as pool:
        return dict(zip(cases, pool.map(outcome, cases, chunksize=4), strict=True))


def compare(cases: list[str], jobs: int) -> int:
    """Print each difference that is not listed, and each listed one that is none; return how many there are."""
    kept, listed = json.loads(FIGURES.read_text(encoding="utf-8")), _changes()
    used: set[int] = set()
    wrong = 0
    for case, now in outcomes(cases, jobs).items():
        found = differences(kept[case], now) if case in kept else {"all of it": "nothing is kept: write it"}
        unlisted = {}
        for place, words in found.items():
            reasons = [index for index, one in enumerate(listed) if covers(one, case, place)]
            used.update(reasons)
            if not reasons:
                unlisted[place] = words
        wrong += len(unlisted)
        if unlisted:
            print("\n    ".join([case, *(f"{place}: {words}" for place, words in unlisted.items())]))
    everything = set(cases) == {*command_lines(), *CALLS}
    for index, one in enumerate(listed):
        if everything and index not in used:
            wrong += 1
            print(f"listed, and no difference: {one}")
    print(f"{len(cases)} cases, {wrong} differences that are not listed")
    return wrong


def _changes() -> list[dict[str, str]]:
    changes: list[dict[str, str]] = tomllib.loads(CHANGES.read_text(encoding="utf-8")).get("change", [])
    for one in changes:
        if not one.get("reason") or "command" not in one:
            raise SystemExit(f"{CHANGES.name}: a change needs a command and a reason, got {one}")
    return changes


def covers(change: Mapping[str, str], case: str, place: str) -> bool:
    # Brackets are part of places, and no pattern.
    return all(
        fnmatchcase(text.replace("[", "("), pattern.replace("[", "("))
        for text, pattern in ((case, change["command"]), (place, change.get("figure", "*")))
    )


def write(everything: bool, jobs: int) -> None:
    """Keep the figures of cases that are new, or of all."""
    cases = [*command_lines(), *CALLS]
    kept = {} if everything or not FIGURES.exists() else json.loads(FIGURES.read_text(encoding="utf-8"))
    made = outcomes([case for case in cases if case not in kept], jobs)
    if crashed := [case for case, found in made.items() if "crash" in found]:
        raise SystemExit("\n".join(["nothing is written, as these crash:", *crashed]))
    lines = (f"{json.dumps(case)}: {json.dumps({**kept, **made}[case], ensure_ascii=False)}" for case in cases)
    FIGURES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    if everything:
        head = [line for line in CHANGES.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
        CHANGES.write_text("\n".join(head) + "\n", encoding="utf-8")
    print(f"wrote {len(made)} of {len(cases)} cases")


def write_documents(names: list[str]) -> None:
    """Write what answers and help look like now; all of them, or those that are named."""
    FOLDER.mkdir(exist_ok=True)
    for name in names or COMMANDS:
        for suffix, text in document(name).items():
            (FOLDER / f"{name}{suffix}").write_text(text, encoding="utf-8")
    for command in () if names else HELP:
        (FOLDER / f"help_{command or 'main'}.txt").write_text(help_text(command), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("what", choices=("compare", "write", "documents"))
    parser.add_argument("words", nargs="*", help="compare: only cases that hold all of these; documents: names")
    parser.add_argument("--all", action="store_true", help="write: everything anew")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    if given.what == "write":
        write(given.all, given.jobs)
        return 0
    if given.what == "documents":
        write_documents(given.words)
        return 0
    cases = [case for case in (*command_lines(), *CALLS) if all(word in case for word in given.words)]
    return 1 if compare(cases, given.jobs) else 0


if __name__ == "__main__":
    sys.exit(main())
