"""What an audit is asked: protocols or a client of one's own, budgets and domain sizes, and how to attack."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from advisor.checks import choice, path, several, share, text, whole
from advisor.errors import InputError, listed
from advisor.question.memoisation import Memoisation
from advisor.question.option import Settings, option, refuse, require
from advisor.question.settings import Grid, Menu, Simulation, member
from simulator import PROTOCOLS, frequency_oracles
from simulator.audit import ALPHA, ATTACKS, REPORTS, SOLUTIONS, TRIALS
from simulator.audit.attributes import FAKES, HIDDEN
from simulator.audit.client import CLIENT_TRIALS, Client
from simulator.audit.client_reports import SupportFunction
from simulator.audit.memoised import ROUNDS_MAX as MEMOISED_ROUNDS_MAX
from simulator.audit.run import check_audit
from simulator.hashing import DEFAULT_HASH, HASHES
from simulator.memoisation import MEMOISED
from simulator.protocols import EPSILON_MIN

SIZE_MAX, SYMBOLS_MAX, TRIALS_MAX, ROUNDS_MAX, ATTRIBUTES_MAX = 1_000_000, 2**31, 10**10, 10**6, 1000
CELLS_MAX = 10**8  # numbers that one user may send
BOTH = "both"


@dataclass(frozen=True, kw_only=True)
class Subjects(Settings):
    """What is audited besides single reports of protocols by name."""

    panel: ClassVar[str] = "What is audited"

    every: bool = option("--all", help="audit all protocols")
    rounds: tuple[int, ...] = option(
        "--rounds", read=several(whole(1, ROUNDS_MAX)), metavar="R,R,…", default=(),
        help="collect the same value R times, with fresh noise unless --memoize is given [default: 1]",
    )  # fmt: skip
    attributes: tuple[int, ...] = option(
        "--attributes", read=several(whole(2, ATTRIBUTES_MAX)), metavar="D,D,…", default=(),
        help="several attributes of each user, k values each",
    )  # fmt: skip
    solution: tuple[str, ...] = option(
        "--solution", read=choice(SOLUTIONS), metavar="NAME", repeated=True,
        help=f"for --attributes: {', '.join(SOLUTIONS)} [default: all]; repeatable",
    )  # fmt: skip
    hashing_only: tuple[int, ...] = option(
        "--lho", read=several(whole(2, SYMBOLS_MAX)), metavar="G,G,…", default=(),
        help="local hashing to G symbols without perturbation",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Attack(Settings):
    """How reports are attacked."""

    panel: ClassVar[str] = "Attack"

    attack: str | None = option(
        "--attack", read=choice((*ATTACKS, BOTH)), metavar="NAME",
        help="guess (name one value) or pair (v1 against v2); for --target also both, its default [default: guess]",
    )  # fmt: skip
    values: tuple[int, ...] = option(
        "--values", read=several(whole(0)), metavar="V1,V2", default=(),
        help="two values to tell apart [default: 0,1; for --target the two that look worst]",
    )  # fmt: skip
    trials: int | None = option(
        "--trials", read=whole(1, TRIALS_MAX), metavar="N",
        help=f"reports of each of the two values [default: {TRIALS:,}; for --target {CLIENT_TRIALS:,}, half of them to "
        "find the two]",
    )  # fmt: skip
    alpha: float | None = option(
        "--alpha", read=share, metavar="X", help=f"probability that a bound is wrong [default: {ALPHA:g}]"
    )

    @property
    def pair(self) -> tuple[int, int]:
        """The two values that are told apart."""
        return (self.values[0], self.values[1]) if self.values else (0, 1)

    @property
    def level(self) -> float:
        """Probability that a bound is wrong."""
        return ALPHA if self.alpha is None else self.alpha

    def check(self) -> None:
        """Refuse anything but two values."""
        if self.values and len(self.values) != 2:
            shown = listed(map(str, self.values))
            raise InputError(f"values must be two different numbers such as 0,1, got {shown}")


@dataclass(frozen=True, kw_only=True)
class Leaks(Settings):
    """What a pipeline is told of a client or protocol that leaks."""

    panel: ClassVar[str] = "Output"

    fail_if_leaks: bool = option(
        "--fail-if-leaks", advanced=True, help="exit code 3 if an audit finds more than is promised"
    )


@dataclass(frozen=True, kw_only=True)
class ForeignClient(Settings):
    """A client that is not ours, and how its reports are read."""

    panel: ClassVar[str] = "A client of your own"

    target: str | None = option(
        "--target", read=text, metavar="MODULE:FUNCTION", help="audit a client: f(value, k, epsilon) -> report"
    )
    files: tuple[str, ...] = option(
        "--files", read=path, metavar="FILE", repeated=True, undivided=True,
        help="instead: reports that it wrote, one per line, a file for each true value: --files v0.txt v1.txt",
    )  # fmt: skip
    reports: str | None = option(
        "--reports", read=partial(member, "protocol"), metavar="PROTOCOL",
        help="protocol whose reports it makes: grr, oue, ss, olh, …; without it, lines of --files are opaque",
    )  # fmt: skip
    support: str | None = option(
        "--support", read=text, metavar="MODULE:FUNCTION",
        help="instead: f(report, k, epsilon) -> values that a report supports",
    )  # fmt: skip
    hash: str | None = option(
        "--hash", read=choice(HASHES), metavar="NAME",
        help=f"for --reports blh, olh: {' or '.join(HASHES)} [default: {DEFAULT_HASH}]",
    )  # fmt: skip
    symbols: int | None = option(
        "--symbols", read=whole(2, SYMBOLS_MAX), metavar="G",
        help="for --reports blh, olh: number of symbols [default: the protocol's]",
    )  # fmt: skip

    @property
    def foreign(self) -> bool:
        """Whether a client that is not ours is audited."""
        return self.target is not None or bool(self.files)

    @property
    def readable(self) -> bool:
        """Whether it is known what a report says."""
        return self.reports is not None or self.support is not None

    @property
    def hashes(self) -> bool:
        """Whether reports are read with a hash function."""
        return REPORTS.get(self.reports or "") == "hash"

    @property
    def hash_name(self) -> str:
        """The hash function that was named, or the default."""
        return self.hash or DEFAULT_HASH

    def check(self) -> None:
        """Refuse what does not say how the reports of the client are read.

        Raises InputError if there is nothing to read, no way to read it, or more than one.
        """
        if not self.foreign:
            refuse(self.given(), "needs --target MODULE:FUNCTION, a client to audit, or --files FILE FILE …")
            return
        if self.target is not None and self.files:
            raise InputError("give either --target, a client to call, or --files, reports that it wrote")
        if self.reports is not None and self.support is not None:
            raise InputError("give either --reports or --support: both say how reports are read")
        if self.target is not None and not self.readable:
            raise InputError(
                "--target needs --reports PROTOCOL or --support MODULE:FUNCTION, one of the two, to read its reports"
            )
        if self.reports is not None and self.reports not in REPORTS:
            raise InputError(f"--reports must be one of {listed(REPORTS)}, got {self.reports!r}")
        if not self.hashes:
            refuse(self.given("hash", "symbols"), "is for reports of blh or olh: --reports olh")


@dataclass(frozen=True)
class Functions:
    """Functions that a Python caller hands over, instead of their names."""

    target: Client | None = None
    support: SupportFunction | None = None


@dataclass(frozen=True)
class AuditQuestion:
    """A complete question for audits: one for each combination of what is listed.

    Raises InputError if something is missing or does not go together.
    """

    grid: Grid
    menu: Menu = field(default_factory=Menu)
    subjects: Subjects = field(default_factory=Subjects)
    attack: Attack = field(default_factory=Attack)
    client: ForeignClient = field(default_factory=ForeignClient)
    simulation: Simulation = field(default_factory=Simulation)
    functions: Functions = field(default_factory=Functions)
    memoisation: Memoisation = field(default_factory=Memoisation)

    def __post_init__(self) -> None:
        memoisation = self.memoisation
        if not memoisation.memoize:
            refuse(memoisation.given(), "needs --memoize, which says that devices remember their values")
        named = self.menu.protocol or self.subjects.every or self.client.foreign or None
        alone = self.subjects.hashing_only and not named  # its reports have no budget
        require(
            ("--k", self.sizes, "the domain size, for example --k 100"),
            ("--eps", self.grid.epsilons or alone or None, "the privacy budget of one report, for example --eps 1"),
            (
                "--protocol",
                named or alone or None,
                "what to audit: --protocol NAME, --all for every protocol, or --target MODULE:FUNCTION for a client",
            ),
            (
                "--eps-forever",
                memoisation.epsilon_forever or not memoisation.memoize or None,
                "the budget of all reports of a value, for example --eps-forever 2",
            ),
            (
                "--rounds",
                self.subjects.rounds or not memoisation.memoize or None,
                "collections of the same value, for example --rounds 1,10,100",
            ),
        )
        if max(self.sizes) > SIZE_MAX:
            raise InputError(f"k must be at most {SIZE_MAX:,}, got {max(self.sizes):,}")
        several, least = max(self.subjects.attributes, default=1), min(self.grid.epsilons, default=1.0)
        if several > 1 and "spl" in self.solutions and least / several < EPSILON_MIN:
            raise InputError(
                f"eps / attributes must be at least {EPSILON_MIN:g} where the budget is split, got {least:g} / "
                f"{several:,}: give a larger --eps, or --solution smp"
            )
        cells = several * max(self.sizes)
        if cells > CELLS_MAX:
            raise InputError(f"attributes times k must be at most {CELLS_MAX:,}, got {cells:,}: give a smaller --k")
        self._check_subjects()
        kind = ATTACKS[0] if self.attack.attack == BOTH else self.attack.attack or ATTACKS[0]
        for k in self.sizes:
            try:
                check_audit(k, self.attack.pair, kind, self.trials, self.attack.level)
            except ValueError as error:
                raise InputError(str(error)) from None

    @property
    def sizes(self) -> tuple[int, ...]:
        """Domain sizes; where lines in files are all that is known, the number of files."""
        return self.grid.sizes if self.client.readable or not self.client.files else (len(self.client.files),)

    @property
    def trials(self) -> int:
        """Reports of each of the two values; of a client, half of them to find the two."""
        return self.attack.trials or (CLIENT_TRIALS if self.client.foreign else TRIALS)

    @property
    def protocols(self) -> tuple[str, ...]:
        """Protocols to audit; none where a client is, or hashing alone."""
        if self.memoisation.memoize and self.subjects.every:
            return tuple(MEMOISED)
        every = frequency_oracles() if self.subjects.rounds or self.subjects.attributes else PROTOCOLS
        return tuple(every) if self.subjects.every else self.menu.protocols if self.menu.protocol else ()

    @property
    def solutions(self) -> tuple[str, ...]:
        """How several attributes are collected."""
        return self.subjects.solution or SOLUTIONS

    def _check_subjects(self) -> None:
        subjects, menu = self.subjects, self.menu
        if self.client.foreign:
            refuse(
                [*menu.given(), *subjects.given(), *self.memoisation.given(), *self.simulation.given("jobs")],
                f"does not go with {self.client.given('target', 'files')[0]}, which audits one client",
            )
            self._check_files()
            return
        if self.attack.attack == BOTH:
            raise InputError(f"attack both needs --target: give one of {listed(ATTACKS)}, and run it for each")
        if subjects.every and menu.protocol:
            raise InputError("give either --all or --protocol, not both")
        if subjects.solution and not subjects.attributes:
            raise InputError("--solution needs --attributes, for example --attributes 2")
        if subjects.rounds and subjects.attributes:
            raise InputError("give either --rounds or --attributes: no attack on both together is implemented")
        if self.memoisation.memoize:
            self._check_memoised()
        several = "rounds" if subjects.rounds else "attributes"
        oracles = frequency_oracles()
        strangers = [name for name in self.protocols if name not in oracles]
        if strangers and (subjects.rounds or subjects.attributes):
            raise InputError(
                f"--{several}: no attack on several reports of {listed(strangers)} is implemented; leave it out, or "
                f"give --protocol one of {listed(oracles)}"
            )
        if self.attack.attack == "pair":
            refuse(
                subjects.given("rounds", "attributes", "hashing_only"),
                "does not go with --attack pair, which looks at one report of a protocol",
            )
        hidden, faked = [name for name in self.solutions if name in HIDDEN], set(self.protocols) & set(FAKES)
        if subjects.attributes and len(hidden) == len(self.solutions) and not faked:
            asked = listed(self.solutions)
            raise InputError(f"solution {asked} has fake data for {listed(FAKES)} only, got {listed(self.protocols)}")
        if subjects.attributes and hidden and faked and self.attack.attack is not None:
            raise InputError(
                f"--attack {self.attack.attack} does not go with --solution {listed(hidden)}, where all reports of a "
                "user are attacked by their likelihood ratio; leave it out, or give --solution spl,smp"
            )

    def _check_files(self) -> None:
        files = self.client.files
        if not files:
            return
        if len(files) == 1:
            raise InputError(
                f"--files needs at least two files, the reports of one true value in each, got {files[0]} alone"
            )
        refuse(self.attack.given("values", "trials"), "does not go with --files: the files have the reports there are")
        if not self.client.readable:
            refuse(
                [*self.grid.given("sizes"), *self.attack.given("attack")],
                "needs --reports PROTOCOL or --support with --files, whose lines are opaque without them",
            )

    def _check_memoised(self) -> None:
        strangers = [name for name in self.protocols if name not in MEMOISED]
        if strangers:
            raise InputError(f"--memoize: give --protocol one of {listed(MEMOISED)}, got {listed(strangers)}")
        for epsilon in self.grid.epsilons:
            self.memoisation.check_budgets(epsilon)
        if max(self.subjects.rounds) > MEMOISED_ROUNDS_MAX:
            raise InputError(
                f"rounds must be at most {MEMOISED_ROUNDS_MAX:,} with --memoize, got {max(self.subjects.rounds):,}: "
                "the loss has reached --eps-forever long before"
            )
        refuse(
            [*self.attack.given("attack"), *self.subjects.given("hashing_only")],
            "does not go with --memoize, where all reports of a device are attacked by their likelihood ratio",
        )
