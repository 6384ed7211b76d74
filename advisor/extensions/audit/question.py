"""The question of an audit: protocols or the user's client, budgets and domain sizes, and the attack."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from advisor.checks import choice, path, several, share, text, whole
from advisor.errors import InputError, listed
from advisor.members.names import mechanism
from advisor.question.option import Bundle, Settings, option, refuse, require
from advisor.question.question import BUDGET
from advisor.question.settings import AnyProtocol, Cells, Grid, Memoisation, Named, Simulation, member
from simulator import PROTOCOLS, frequency_oracles
from simulator.attributes import SOLUTIONS
from simulator.audit import ALPHA, ATTACKS, LIKELIHOOD, REPORTS, TRIALS
from simulator.audit.client import CLIENT_TRIALS
from simulator.audit.several import FAKES, HIDDEN
from simulator.hashing import DEFAULT_HASH, HASHES
from simulator.memoisation import MEMOISED

SYMBOLS_MAX, TRIALS_MAX, ROUNDS_MAX, ATTRIBUTES_MAX, RUNS_MAX = 2**31, 10**10, 10**6, 1000, 1000
CELLS_MAX = 10**8  # maximum of numbers that a user sends
BOTH, GUESS = "both", ATTACKS[0]


def function(name: str, value: object) -> object:
    """Return a function from a Python call, or the name of a function."""
    return value if callable(value) else text(name, value)


def numbers(flag: str, metavar: str, least: int, most: int | None = None, *, meaning: str) -> Any:
    """Return the option of several whole numbers."""
    return option(flag, read=several(whole(least, most)), metavar=metavar, default=(), help=meaning)


@dataclass(frozen=True, kw_only=True)
class Subjects(Settings):
    """Subjects of an audit other than single reports of protocols by name."""

    panel: ClassVar[str] = "What is audited"

    every: bool = option("--all", help="audit all protocols")
    rounds: tuple[int, ...] = numbers(
        "--rounds",
        "R,R,…",
        1,
        ROUNDS_MAX,
        meaning="collect the same value R times, with fresh noise unless --memoize is given [default: 1]",
    )
    attributes: tuple[int, ...] = numbers(
        "--attributes", "D,D,…", 2, ATTRIBUTES_MAX, meaning="several attributes of each user, k values each"
    )
    solution: tuple[str, ...] = option(
        "--solution",
        read=choice(SOLUTIONS),
        metavar="NAME",
        repeated=True,
        help=f"for --attributes: {', '.join(SOLUTIONS)} [default: all that apply]; repeatable",
    )
    attribute_sizes: tuple[int, ...] = numbers(
        "--sizes", "K,K,…", 2, meaning="instead of --k and --attributes: attributes with so many values"
    )
    amplified: bool = option("--amplified", help="rsfd, rsrfd as published: the attribute at ε′ = ln(d (e^ε - 1) + 1)")
    hashing_only: tuple[int, ...] = numbers(
        "--lho", "G,G,…", 2, SYMBOLS_MAX, meaning="local hashing to G symbols without perturbation"
    )


@dataclass(frozen=True, kw_only=True)
class AttackSettings(Settings):
    """How reports are attacked."""

    panel: ClassVar[str] = "Attack"

    attack: str | None = option(
        "--attack",
        read=choice((*ATTACKS, LIKELIHOOD, BOTH)),
        metavar="NAME",
        help="guess (name one value), pair (v1 against v2), likelihood (of all reports of a user); for --target also "
        "both of the first two [default: guess; likelihood for --memoize, rsfd, rsrfd; both for --target]",
    )
    values: tuple[int, ...] = numbers(
        "--values", "V1,V2", 0, meaning="two values to tell apart [default: 0,1; for --target the two that look worst]"
    )
    trials: int | None = option(
        "--trials",
        read=whole(1, TRIALS_MAX),
        metavar="N",
        help=f"reports of each of the two values [default: {TRIALS:,}; for --target {CLIENT_TRIALS:,}, half of them to "
        "find the two]",
    )
    alpha: float = option(
        "--alpha",
        read=share,
        metavar="X",
        default=ALPHA,
        help=f"probability that a bound is wrong [default: {ALPHA:g}]",
    )
    runs: int = option(
        "--runs",
        read=whole(1, RUNS_MAX),
        metavar="N",
        default=1,
        help="repeat with N seeds: mean and standard deviation of the bounds [default: 1]",
    )


@dataclass(frozen=True, kw_only=True)
class Leaks(Settings):
    """How a pipeline learns of a client or protocol that leaks."""

    panel: ClassVar[str] = "Output"

    fail_if_leaks: bool = option(
        "--fail-if-leaks", advanced=True, help="exit code 3 if an audit finds more than is promised"
    )


@dataclass(frozen=True, kw_only=True)
class ForeignClient(Settings):
    """A client from outside this package, and how its reports are read."""

    panel: ClassVar[str] = "A client of your own"

    target: Named | None = option(
        "--target", read=function, metavar="MODULE:FUNCTION", help="audit a client: f(value, k, epsilon) -> report"
    )
    files: tuple[str, ...] = option(
        "--files",
        read=path,
        metavar="FILE",
        repeated=True,
        undivided=True,
        help="instead: reports that it wrote, one per line, a file for each true value: --files v0.txt v1.txt",
    )
    reports: str | None = option(
        "--reports",
        read=partial(member, "protocol"),
        metavar="PROTOCOL",
        help="protocol whose reports it makes: grr, oue, ss, olh, …; without it, lines of --files are opaque",
    )
    support: Named | None = option(
        "--support",
        read=function,
        metavar="MODULE:FUNCTION",
        help="instead: f(report, k, epsilon) -> values that a report supports",
    )
    hash: str | None = option(
        "--hash",
        read=choice(HASHES),
        metavar="NAME",
        help=f"for --reports blh, olh: {' or '.join(HASHES)} [default: {DEFAULT_HASH}]",
    )
    symbols: int | None = option(
        "--symbols",
        read=whole(2, SYMBOLS_MAX),
        metavar="G",
        help="for --reports blh, olh: number of symbols [default: the protocol's]",
    )

    @property
    def foreign(self) -> bool:
        """Whether a client from outside this package is audited."""
        return self.target is not None or bool(self.files)

    @property
    def name(self) -> str | None:
        """The name of the client to call."""
        target = self.target
        return target if isinstance(target, str | None) else getattr(target, "__name__", type(target).__name__)

    @property
    def readable(self) -> bool:
        """Whether the meaning of a report is known."""
        return self.reports is not None or self.support is not None

    @property
    def hashes(self) -> bool:
        """Whether reports are read with a hash function."""
        return REPORTS.get(self.reports or "") == "hash"


@dataclass(frozen=True, kw_only=True)
class AuditQuestion(Bundle):
    """A question for audits: an audit for each combination of the listed values."""

    grid: Grid = Grid()
    menu: AnyProtocol = AnyProtocol()
    cells: Cells = Cells()
    subjects: Subjects = Subjects()
    attack: AttackSettings = AttackSettings()
    client: ForeignClient = ForeignClient()
    memoisation: Memoisation = Memoisation()
    simulation: Simulation = Simulation()

    def check(self) -> None:
        """Raise InputError if an option is missing or contradicts another."""
        client = self.client
        if self.planar:
            others = [name for name in self.menu.protocol if name not in self.planar]
            others += self.given("grid:sizes", "subjects", "memoisation", "client")
            refuse(others, f"does not go with {listed(self.planar)}, audited report by report on the cells of --grid")
        else:
            self.cells.refuse_for("other protocols")
        if not client.foreign:
            refuse(client.given(), "needs --target MODULE:FUNCTION, a client to audit, or --files FILE FILE …")
        if not self.memoisation.memoize:
            refuse(self.memoisation.given(), "needs --memoize, which says that devices remember their values")
        self._require()
        if client.foreign:
            self._check_client()
        else:
            self._check_protocols()
        if self.attack.attack not in (None, *self.attacks):
            raise InputError(
                f"--attack {self.attack.attack} does not go with such reports: give {' or '.join(self.attacks)} "
                "(likelihood is for --memoize and --attributes, both for --target)",
                ("--attack",),
            )
        self._check_sizes()

    @property
    def sizes(self) -> tuple[int, ...]:
        """Domain sizes, of unequal attributes the largest; if only lines in files are known, the number of files."""
        if self.planar:
            return (self.cells.places.k,)
        if self.subjects.attribute_sizes:
            return (max(self.subjects.attribute_sizes),)
        return self.grid.sizes if self.client.readable or not self.client.files else (len(self.client.files),)

    @property
    def planar(self) -> tuple[str, ...]:
        """The mechanisms for places among the protocols."""
        return tuple(filter(mechanism, self.menu.protocol))

    @property
    def attributes(self) -> tuple[int, ...]:
        """Numbers of attributes of a user."""
        return (len(self.subjects.attribute_sizes),) if self.subjects.attribute_sizes else self.subjects.attributes

    @property
    def values(self) -> tuple[int, int]:
        """The two values to distinguish; for a client, only if they were given."""
        return (self.attack.values[0], self.attack.values[1]) if self.attack.values else (0, 1)

    @property
    def attacks(self) -> tuple[str, ...]:
        """The attacks on reports of this kind, the usual one first."""
        if self.client.foreign:
            return (BOTH, *ATTACKS)
        if self.memoisation.memoize:
            return (LIKELIHOOD,)
        if self.attributes:
            return (LIKELIHOOD, GUESS)
        return (GUESS,) if self.subjects.rounds or self.subjects.hashing_only else ATTACKS

    @property
    def trials(self) -> int:
        """Number of reports per value; for a client, half of them serve to find the two values."""
        return self.attack.trials or (CLIENT_TRIALS if self.client.foreign else TRIALS)

    @property
    def protocols(self) -> tuple[str, ...]:
        """Protocols to audit; none for a client, or if only hashing is audited."""
        if not self.subjects.every:
            return self.planar or (self.menu.protocols if self.menu.protocol else ())
        if self.memoisation.memoize:
            return tuple(MEMOISED)
        return tuple(frequency_oracles() if self.subjects.rounds or self.subjects.attributes else PROTOCOLS)

    @property
    def solutions(self) -> tuple[str, ...]:
        """How several attributes are collected."""
        return self.subjects.solution or (HIDDEN if self._whole_tuples() else SOLUTIONS)

    @property
    def bit_flips(self) -> int | None:
        """Number of bits of a device of dbitflip; None if it is not audited."""
        bits = self.memoisation.bits
        return bits or 1 if self.memoisation.memoize and (self.subjects.every or bits) else None

    def _whole_tuples(self) -> tuple[str, ...]:
        """Return the options about all reports of a user with several attributes."""
        likelihood = ("--attack likelihood",) if self.attack.attack == LIKELIHOOD else ()
        return (*self.subjects.given("attribute_sizes", "amplified"), *likelihood)

    def _require(self) -> None:
        subjects, memoisation = self.subjects, self.memoisation
        named = self.menu.protocol or subjects.every or self.client.foreign or None
        subject = named or self.bit_flips
        hashing = None if subject else subjects.hashing_only or None  # its reports have no budget
        what = "what to audit: --protocol NAME, --all for every protocol, or --target MODULE:FUNCTION for a client"
        forever = "the budget of all reports of a value, for example --eps-forever 2"
        fresh = not memoisation.memoize or None
        require(
            *(self.cells.missing() if self.planar else [("--k", self.sizes, "the domain size, for example --k 100")]),
            ("--eps", self.grid.epsilons or hashing, BUDGET),
            ("--protocol", subject or hashing, what),
            ("--eps-forever", fresh or memoisation.epsilon_forever or (None if named else self.bit_flips), forever),
            ("--rounds", fresh or subjects.rounds, "collections of the same value, for example --rounds 1,10,100"),
        )

    def _check_sizes(self) -> None:
        least, most = min(self.subjects.attribute_sizes or self.sizes), max(self.sizes)
        values, attributes = self.attack.values or (0, 1), max(self.attributes, default=1)
        if len(values) != 2 or max(values) >= least:
            pair = " and ".join(map(str, values))
            raise InputError(f"values must be two different ones of 0..{least - 1}, such as 0,1, got {pair}")
        if attributes * most > CELLS_MAX:
            raise InputError(f"attributes times k must be at most {CELLS_MAX:,}, got {attributes * most:,}")

    def _check_client(self) -> None:
        client, attack = self.client, self.attack
        if client.target is not None and client.files:
            raise InputError("give either --target, a client to call, or --files, reports that it wrote")
        if client.reports is not None and client.support is not None:
            raise InputError("give either --reports or --support: both say how reports are read")
        if not client.hashes:
            refuse(client.given("hash", "symbols"), "is for reports of blh or olh: --reports olh")
        refuse(
            self.given("menu", "subjects", "memoisation", "attack:runs", "simulation:jobs"),
            f"does not go with {'--files' if client.files else '--target'}, which audits one client",
        )
        if len(client.files) == 1:
            raise InputError("--files needs at least two files, the reports of one true value in each")
        if client.files:
            refuse(attack.given("values", "trials"), "does not go with --files: the files have the reports there are")
        if not client.readable:
            refuse(client.given("target"), "needs --reports PROTOCOL or --support MODULE:FUNCTION to read its reports")
            refuse(
                self.given("grid:sizes", "attack:attack"),
                "needs --reports PROTOCOL or --support with --files, whose lines are opaque without them",
            )

    def _check_protocols(self) -> None:
        subjects, memoisation = self.subjects, self.memoisation
        several = subjects.given("rounds", "attributes", "attribute_sizes")
        if subjects.every and self.menu.protocol:
            raise InputError("give either --all or --protocol, not both")
        if not self.attributes:
            refuse(subjects.given("solution", "amplified"), "needs --attributes, for example --attributes 2")
        if subjects.attribute_sizes and (subjects.attributes or self.grid.sizes or len(subjects.attribute_sizes) < 2):
            raise InputError("give --sizes for at least two attributes, such as 3,5,12, without --k and --attributes")
        if len(several) > 1:
            raise InputError("give either --rounds or --attributes: no attack on both together is implemented")
        if self.attributes or memoisation.memoize:
            refuse(subjects.given("hashing_only"), "is about single reports of --k values: audit it by itself")
        known = MEMOISED if memoisation.memoize else frequency_oracles()
        strangers = [name for name in self.protocols if name not in known]
        if several and strangers:
            raise InputError(
                f"{several[0]}: no attack on several such reports of {listed(strangers)} is implemented; give "
                f"--protocol one of {listed(known)}"
            )
        if memoisation.memoize:
            for epsilon in self.grid.epsilons:
                memoisation.check_budgets(epsilon)
            if not self.protocols:
                refuse(memoisation.given("epsilon_forever"), "is not for dbitflip alone, whose one budget is --eps")
        if self.attributes:
            self._check_fakes()

    def _check_fakes(self) -> None:
        solutions, protocols = self.solutions, self.protocols
        single = [name for name in solutions if name not in HIDDEN]
        if single:
            refuse(self._whole_tuples(), f"does not go with --solution {listed(single)}, where one report is attacked")
        if not single and not any(name in FAKES for name in protocols):
            raise InputError(
                f"solution {listed(solutions)} has fake data for {listed(FAKES)} only, got {listed(protocols)}"
            )
