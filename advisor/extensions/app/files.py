"""Files of a page, all in memory: dropped, assumed for a shape, or made up to try a page with."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import hashlib
from collections import Counter, UserDict
from contextlib import suppress
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import PurePath

from advisor.cli.options import COMMANDS
from advisor.errors import InputError, printable
from advisor.figures import csv_of
from advisor.inputs.held import HeldFile, holding
from advisor.inputs.histogram import read_head
from advisor.question.frequencies import assumed_frequencies
from advisor.question.question import Question
from advisor.question.settings import Categories, Shape

MEGABYTE = 1_000_000
LARGEST = 50 * MEGABYTE  # maximum size of a file
MOST = 200 * MEGABYTE  # of all that are held: what was not asked for longest is forgotten first
RELOAD_SECONDS = 20  # that a file is held after its last page, so that a reload finds it
MOST_COLUMNS = 200  # of a file that are offered to choose from
DIGEST = 16  # characters of the digest by which an address names a file
LABEL, PEOPLE = "answer", "people"  # columns of the file of a shape
STATIC = files("advisor.extensions.app") / "static"  # templates, words and examples of the page


class Uploads(UserDict[str, HeldFile]):
    """The files that are held, by digest, in bounded amounts, as long as a page shows them."""

    def __init__(self) -> None:
        super().__init__()
        self._pages: Counter[str] = Counter()  # number that show each file

    def __getitem__(self, digest: str) -> HeldFile:
        """Return a file, which is forgotten last from now on."""
        self.data[digest] = self.data.pop(digest)
        return self.data[digest]

    def add(self, content: bytes) -> str:
        """Hold a file, and return its digest; what does not fit beside it is forgotten."""
        digest = hashlib.sha256(content).hexdigest()[:DIGEST]
        self.data[digest] = self[digest] if digest in self else HeldFile(content)
        while sum(len(file.content) for file in self.data.values()) > MOST:
            del self.data[next(iter(self.data))]
        return digest

    def keep(self, digest: str) -> None:
        """Hold a file for one more page."""
        self._pages[digest] += 1

    def release(self, digest: str) -> None:
        """Forget a file that a page no longer shows, unless one shows it again soon, or another one does."""
        asyncio.get_running_loop().call_later(RELOAD_SECONDS, self._release, digest)

    def _release(self, digest: str) -> None:
        self._pages[digest] -= 1
        if not self._pages[digest]:
            del self._pages[digest]
            self.data.pop(digest, None)
        give_back()


def columns_of(file: HeldFile | None) -> list[tuple[str, str]]:
    """Return what options name each column of a file by, and its first values; none if there is nothing to choose."""
    try:
        with holding({} if file is None else {"file": file}):
            table = read_head("file")
    except InputError:  # which the answer says
        return []
    several = 1 < len(table.values) <= MOST_COLUMNS
    return [(table.reference(at), table.preview(at)) for at in table.values if several]


def safe_name(name: str) -> str:
    """Return the name of a file that is no command, no option and no folder.

    >>> safe_name("../a b.csv"), safe_name("plan"), safe_name("-x.csv")
    ('a b.csv', './plan', './-x.csv')
    """
    bare = printable(PurePath(name.replace("\\", "/")).name)[:200] or "file"
    return f"./{bare}" if bare in COMMANDS or bare.startswith("-") else bare


@lru_cache(maxsize=4)
def assumed_file(shape: Shape, k: int, n: int, ordered: bool | None) -> tuple[HeldFile, bool]:
    """Return a file with `n` people whose answers have the frequencies of a shape, and whether these have an order."""
    assumed = assumed_frequencies(Question(domain=Categories(k=k, ordered=ordered), shape=shape))
    rows = [*enumerate(assumed.counts(n).tolist(), start=1)]
    # The most common answer stands between the others: at an end, one that half of the people give is read as a total.
    return HeldFile(csv_of([(LABEL, PEOPLE), *rows[k // 2 :], *rows[: k // 2]]).encode()), assumed.ordered


@cache
def example_file(name: str) -> HeldFile:
    """Return the example of a page by its name, made up.

    The estimate is by optimised unary encoding at ε = 1, from 100,000 people whose answers have a skew of 1; the town
    has two parts.
    """
    return HeldFile((STATIC / name).read_bytes())


M_ARENA_MAX = -8  # of malloc.h


def set_up_memory() -> None:
    """Prepare this process before its threads start: `give_back` will return more, and sooner."""
    _glibc("mallopt", M_ARENA_MAX, 1)  # one heap for all threads: each would have its own, with holes
    gc.freeze()  # what is imported stays: a collection passes over it


def give_back() -> None:
    """Return to the system what ended sessions have left: their objects refer to each other."""
    gc.collect()
    _glibc("malloc_trim", 0)


def _glibc(name: str, *numbers: int) -> None:
    with suppress(OSError, AttributeError, TypeError):  # other systems have no such function
        getattr(ctypes.CDLL(None), name)(*numbers)
