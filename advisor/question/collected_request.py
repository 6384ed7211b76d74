"""The request for what was collected: an estimate, or the reports themselves, read from a file."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from advisor.checks import text, whole
from advisor.errors import InputError
from advisor.inputs.domain import read_domain
from advisor.inputs.estimates import RawEstimates, read_estimates
from advisor.inputs.labels import shortened
from advisor.inputs.reports import count_reports, total_bytes, with_categories
from advisor.inputs.reports.settings import MOST_STEPS, PARAMETERS, RATES, Parameters, ReportSettings, check_parameters
from advisor.inputs.reports.tallies import Counts
from advisor.question.cluster import refusals
from advisor.question.collected import collect, collect_tally
from advisor.question.estimate_request import build_estimate_request, check_surrogate
from advisor.question.option import Settings, like, option
from advisor.question.question import BUDGET, Question
from advisor.question.request import Request
from advisor.question.rules import check_menu
from advisor.question.sample import sample_name
from advisor.question.settings import Columns, Menu, require_one
from advisor.question.spread import Origin
from advisor.question.statement import ROUNDING, Statement, convert, is_uneven
from simulator.protocols.hadamard import HadamardResponse

MANY_HASHES, BYTES = 2e10, 13  # hashes from which processes are worth their start, and bytes of a report of one


@dataclass(frozen=True, kw_only=True)
class Collection(Settings):
    """The settings of a collection, and the substitute for the truth behind it."""

    panel: ClassVar[str] = "Question"

    used: tuple[str, ...] = like(Menu, "protocol", help="the protocol that was used")
    surrogate: str | None = option(
        "--surrogate",
        read=text,
        metavar="NAME",
        advanced=True,
        help="what stands for the truth: ensemble, norm_sub, … [default: ensemble]",
    )
    subset_size: int | None = option(
        "--subset-size", read=whole(1), metavar="N", advanced=True, help="values in a subset of ss [default: the best]"
    )
    hash_range: int | None = option(
        "--hash-range", read=whole(2), metavar="G", advanced=True, help="symbols of olh [default: e^ε + 1]"
    )
    block_count: int | None = option(
        "--blocks",
        read=whole(1),
        metavar="N",
        advanced=True,
        help="blocks of hr; pure-ldp has 1 up to ε = 1 [default: the best]",
    )

    own_rate: float | None = like(Statement, "p", help="instead of --eps: probability that a report has the own value")
    other_rate: float | None = like(Statement, "q")
    flip_prob: float | None = like(Statement, "flip_prob", help="instead of both: probability of a wrong bit or value")
    uneven: bool = False  # whether p and q of grr are those of two answers that are forced unevenly

    @property
    def parameters(self) -> Parameters:
        """The parameters of the protocol that were given; p and q of grr follow from its budget, unless uneven."""
        names = [name for name in PARAMETERS if self.protocol != "grr" or name not in RATES or self.uneven]
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    @property
    def statement(self) -> Statement:
        """What was given instead of a budget."""
        return Statement(p=self.own_rate, q=self.other_rate, flip_prob=self.flip_prob)

    def check(self) -> None:
        """Refuse parameters that the protocol does not have."""
        if self.protocol is not None:
            check_parameters(self.protocol, self.parameters)

    @property
    def protocol(self) -> str | None:
        """The protocol, or None if none was named.

        Raises InputError if there are several.
        """
        return require_one("protocol", self.used)


@dataclass(frozen=True, kw_only=True)
class EstimateColumns(Settings):
    """Where the estimates stand in a file."""

    panel: ClassVar[str] = "Data"

    estimates: str | None = option("--estimates", read=text, metavar="NAME", help="column of the estimates")


@dataclass(frozen=True, kw_only=True)
class ReportFormat(Settings):
    """How reports are written."""

    panel: ClassVar[str] = "Data"

    counts: str | None = like(
        Columns, "counts", help="column with the number of reports: rows are values, or sums of bits"
    )
    skip_bad: bool = option("--skip-bad", advanced=True, help="leave out rows that are no reports, up to 1 %")
    hash: str | None = option("--hash", read=text, metavar="NAME", help="hash of blh and olh reports: mix64 or xxh32")
    steps: int | None = option(
        "--steps",
        read=whole(1, MOST_STEPS),
        metavar="N",
        advanced=True,
        help="reports of she are whole steps of 1/N, as clients of `code` send",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class CollectedQuestion(Question):
    """What is asked about a collection that is over; the protocols of the menu are those of the next round."""

    collection: Collection = Collection()
    estimate_columns: EstimateColumns = EstimateColumns()
    report_format: ReportFormat = ReportFormat()

    @property
    def origin(self) -> Origin:
        """What is stated of the collection."""
        protocol, parameters = self.collection.protocol or "", self.collection.parameters
        return Origin(protocol, self.terms.epsilon, self.terms.n or 0, parameters)

    @property
    def needs(self) -> tuple[tuple[str, object, str], ...]:
        """What any answer needs besides the data, see `advisor.question.option.require`."""
        stated = self.collection.statement.given() or None
        return (
            ("--protocol", self.collection.protocol, "the protocol that was used, for example --protocol oue"),
            ("--eps", self.terms.epsilon or stated, BUDGET),
        )

    @property
    def is_predicted(self) -> bool:
        """Whether the answer is predicted: never, what was collected is judged by draws or simulated."""
        return False

    def with_budget(self) -> Self:
        """Return the question with the budget that p and q promise, or the probability of a flip, if they were given.

        Raises InputError if they are none of the protocol, or --eps is another budget.
        """
        collection, k, given = self.collection, self.domain.k, self.terms.epsilon
        name, p, q, flip = collection.protocol, collection.own_rate, collection.other_rate, collection.flip_prob
        if name is None or not collection.statement.given():
            return self
        if flip is not None and name not in ("grr", "rappor"):
            raise InputError(f"flip-prob is for grr and rappor, whose bits all flip alike; for {name} give --p and --q")
        if k is None and name == "grr" and self.cleaning.domain not in (None, "-"):
            k = len(read_domain(self.cleaning.domain))
        if k is None and name == "grr" and p and q and (1 - p) / q < 0.5 / ROUNDING:  # rounding leaves one number
            k = max(2, 1 + round((1 - p) / q))
        # Bits may have any p and q, not just those that are usual for the protocol.
        epsilon = convert(collection.statement, protocol=None if flip is None and name != "grr" else name, k=k).epsilon
        if given is not None and abs(given - epsilon) > ROUNDING * epsilon:
            raise InputError(
                f"eps is {given:g}, and {epsilon:.4g} is what the probabilities say: leave --eps out, or them"
            )
        p, q = (p, q) if flip is None else (1 - flip, flip / ((k or 2) - 1 if name == "grr" else 1))
        uneven = name == "grr" and is_uneven(p or 0.0, q or 0.0, k or 0)
        if uneven and self.cleaning.domain is None:
            raise InputError(
                f"p={p:g} and q={q:g} do not sum to 1, so the two answers differ: give --domain FILE, a text with the "
                "answer that p and q are about on its first line, and the other on the second"
            )
        return replace(
            self,
            terms=replace(self.terms, epsilon=epsilon),
            domain=replace(self.domain, k=k),
            collection=replace(collection, own_rate=p, other_rate=q, flip_prob=None, uneven=uneven),
        )


def _budget_note(question: CollectedQuestion, labels: Sequence[str]) -> tuple[str, ...]:
    p, q = question.collection.own_rate, question.collection.other_rate
    if p is None:
        return ()
    about = f" of a report {shortened(labels[0])}" if question.collection.uneven else ""
    return (f"ε = {question.epsilon:.5g}, the largest log-ratio with p = {p:.6g} and q = {q:.6g}{about}",)


def _check_answers(question: CollectedQuestion, labels: Sized) -> None:
    """Refuse two answers where p and q of grr alone say that there are more."""
    p, q, k = question.collection.own_rate, question.collection.other_rate, question.domain.k
    unnamed = question.collection.protocol == "grr" and question.cleaning.domain is None
    if unnamed and p is not None and len(labels) == 2 < (k or 2):
        raise InputError(
            f"p={p:g} and q={q:g} fit {k} answers, and there are two: give --domain FILE with all of them, one per "
            "line; of two, first that which p and q are about"
        )


def check_collected(question: CollectedQuestion) -> None:
    """Refuse what does not go together, before anything is read.

    Raises InputError for the first that does not fit.
    """
    check_menu(question)
    if question.simulation.max_repetitions is not None:
        message = "max-reps is for a sample: an estimate is answered with the same repetitions for every method"
        raise InputError(message, ("--max-reps",))
    collection = question.collection
    ordered = question.domain.ordered is not False
    check_surrogate(collection.surrogate, collection.protocol or "", ordered=ordered)


def estimate_request(question: CollectedQuestion) -> Request:
    """Read an estimate and build the request that it is for.

    Raises InputError if the file, or its stated content, is invalid.
    """
    columns = question.columns
    domain = None if question.cleaning.domain is None else read_domain(question.cleaning.domain)
    estimates = question.estimate_columns.estimates
    read = read_estimates(question.path, column=columns.label, estimates=estimates, layout=columns.layout)
    _check_answers(question, read.labels)
    return request_of_estimate(question, read, domain=domain, name=sample_name(question.path))


def request_of_estimate(
    question: CollectedQuestion, read: RawEstimates, *, domain: Sequence[str] | None, name: str
) -> Request:
    """Check an estimate that was read, and build the request that it is for.

    domain, name: all labels in order, if they are known; what the estimate is called.

    Raises InputError if its stated origin is wrong.
    """
    read = replace(read, assumptions=(*_budget_note(question, domain or read.labels), *read.assumptions))
    categories = question.domain
    collected = collect(read, question.origin, k=categories.k, domain=domain, ordered=categories.ordered)
    surrogate = question.collection.surrogate
    return build_estimate_request(question, collected, name=name, surrogate=surrogate, column=read.column)


def counts_of_reports(
    paths: Sequence[str],
    question: CollectedQuestion,
    *,
    jobs: int | None = None,
    digests: bool = False,
    domain: tuple[str, ...] | None = None,
) -> Counts:
    """Count reports, as the options say how they are written; the rest is as in `count_reports`.

    jobs: how many work, None for as many as pay.
    domain: instead of the file of the domain.

    Raises InputError if a file, or its stated content, is invalid.
    """
    how, cleaning, n = question.report_format, question.cleaning, question.terms.n
    settings = ReportSettings(
        question.collection.protocol or "",
        question.epsilon,
        k=question.domain.k,
        domain=domain if cleaning.domain is None else read_domain(cleaning.domain),
        column=question.columns.label,
        hash=how.hash,
        parameters=question.collection.parameters,
        steps=how.steps,
        counts=how.counts,
        n=None if how.counts is None else n,
        missing=cleaning.missing_codes,
        skip_bad=how.skip_bad,
    )
    if jobs is None and not question.cluster.is_dask:
        hashes = (settings.k or len(settings.domain or ())) if settings.kind == "hash" else 0
        jobs = None if total_bytes(paths) / BYTES * hashes > MANY_HASHES else 1
    workers = question.cluster.workers(jobs)
    with refusals():
        counts = count_reports(paths, settings, layout=question.columns.layout, workers=workers, digests=digests)
    _check_answers(question, counts.counted.counts)
    if n not in (None, counts.n):
        raise InputError(
            f"the {'file holds' if len(counts.files) == 1 else 'files hold'} {counts.n:,} reports, --n {n:,} "
            "was given: leave --n out"
        )
    return counts


def reports_request(counts: Counts, question: CollectedQuestion) -> Request:
    """Turn the counts of reports into an estimate, and build the request that it is for.

    Raises InputError if reports of the protocol hardly count so.
    """
    origin, read = question.origin, with_categories(counts)
    given = counts.settings.domain if counts.settings.domain_given else None
    note = (f"{read.tally.n:,} reports read", *_budget_note(question, read.labels))
    read = replace(read, assumptions=(*note, *read.assumptions))
    try:
        collected = collect_tally(read, origin, domain=given, ordered=question.domain.ordered)
    except InputError as error:
        oracle = origin.oracle(len(read.labels))
        pure = isinstance(oracle, HadamardResponse) and oracle.blocks > 1 and question.epsilon <= 1
        hint = "; reports of pure-ldp have one block here: --blocks 1" if pure else ""
        # That the reports are odd is the reason why their estimate is.
        raise InputError((str(error) if read.plausible else read.warnings[0]) + hint) from None
    return build_estimate_request(question, collected, name=counts.name, surrogate=question.collection.surrogate)
