"""The files of a deployment, and how they come into their directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from advisor.errors import InputError, listed, reason
from advisor.extensions.code.readme import readme
from knowledge.recipes import BROWSER_CHECK, CHECK, Collection, browser_client, postprocessing, python_client, server
from knowledge.recipes.vectors import vectors

MEANINGS = {
    "README.md": "the promise, what it does not cover, and how to use the files",
    "client.py": "client in Python, without dependencies",
    "client.mjs": "client in JavaScript, for browsers and Node, without dependencies",
    "server.py": "server in Python with numpy: reads reports, estimates frequencies",
    "postprocessing.py": "the post-processing method, which the server imports",
    "test_vectors.json": "reports from known random bytes, and the frequencies from these reports",
    "check.py": "checks client.py and server.py against the test vectors",
    "check.mjs": "checks client.mjs against the test vectors",
}


@dataclass(frozen=True)
class Deployed:
    """What was written."""

    collection: Collection
    directory: str
    sizes: dict[str, int]  # bytes of each file, by name


def files_of(collection: Collection) -> dict[str, str]:
    """Return the files of a deployment by name."""
    made = {
        "README.md": readme(collection),
        "client.py": python_client(collection),
        "client.mjs": browser_client(collection),
        "server.py": server(collection),
        "postprocessing.py": postprocessing(collection),
        "test_vectors.json": vectors(collection),
        "check.py": CHECK,
        "check.mjs": BROWSER_CHECK,
    }
    return {name: text for name, text in made.items() if text is not None}


def check_directory(name: str, *, force: bool) -> None:
    """Refuse a directory that cannot be written, or that holds anything, unless its files may be replaced.

    Raises InputError for the first thing that is wrong.
    """
    folder = Path(name)
    try:
        if folder.exists() and not folder.is_dir():
            raise InputError(f"--to {name}: this is a file; name a directory, new or empty")
        if not folder.exists():
            if not folder.resolve().parent.is_dir():
                raise InputError(f"--to {name}: there is no directory {folder.resolve().parent}")
            return
        there = sorted(each.name for each in folder.iterdir())
    except OSError as error:
        raise InputError(f"--to {name}: cannot be written ({reason(error)})") from None
    if there and not force:
        raise InputError(
            f"--to {name}: the directory has files ({listed(there, most=3)}); name another one, or give --force to "
            f"replace {listed(MEANINGS, most=9)} there and leave the rest"
        )
