"""Who works beside this process, for all commands that can share out their work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import ClassVar

from advisor.checks import choice, path, text
from advisor.errors import InputError
from advisor.question.option import Settings, option, refuse
from knowledge.making.workers import BACKENDS, Workers, WorkersError


@dataclass(frozen=True, kw_only=True)
class Cluster(Settings):
    """On what work is shared out."""

    panel: ClassVar[str] = "Simulation"

    backend: str = option(
        "--backend",
        read=choice(BACKENDS),
        metavar="NAME",
        default=BACKENDS[0],
        advanced=True,
        help=f"{', '.join(BACKENDS)} [default: {BACKENDS[0]}, processes]",
    )
    scheduler: str | None = option(
        "--scheduler",
        read=text,
        metavar="URL",
        advanced=True,
        help="of --backend dask: tcp://host:8786 [default: a cluster on this machine]",
    )

    def check(self) -> None:
        """Refuse a backend without what it needs."""
        if self.backend != "dask":
            refuse(self.given("scheduler"), "is for --backend dask")
        elif find_spec("distributed") is None:
            raise InputError("--backend dask needs Dask: pip install 'ldp-advise[cluster]'")

    @property
    def is_dask(self) -> bool:
        """Whether the work is sent to a cluster, however little it is."""
        return self.backend == "dask"

    def workers(self, jobs: int | None) -> Workers:
        """Return who works, so many of them on this machine: None for all of its cores."""
        return Workers(jobs or os.cpu_count() or 1, self.backend, self.scheduler)


@dataclass(frozen=True, kw_only=True)
class Resumption(Settings):
    """Where what is finished is kept."""

    panel: ClassVar[str] = "Output"

    resume: str | None = option(
        "--resume", read=path, metavar="FILE", help="keep what is finished here, and go on from it"
    )


@contextmanager
def refusals() -> Iterator[None]:
    """Say in one line what became of a cluster; raises InputError."""
    try:
        yield
    except WorkersError as error:
        raise InputError(f"--backend dask: {error}") from None
