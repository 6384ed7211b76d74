"""The page for people who decide: what will be known, what is promised, what it costs; no ε but at its end."""

from __future__ import annotations

import datetime
import math
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from advisor.answers.dice import Device, device_for
from advisor.answers.plan.result import PlanResult
from advisor.answers.rank.result import Ranking
from advisor.answers.rank.verdict import MARGINAL, NOT_CERTAIN, USELESS
from advisor.figures import lower_end, percent, points, rounded, users, whole_percent
from advisor.members.names import method_text, protocol_in_full
from advisor.question.frequencies import Frequencies
from advisor.question.request import Request
from advisor.show.model import Badge, Document
from advisor.show.rank.answer import enough
from advisor.show.sentences import unit_text
from simulator import METRICS
from simulator.detection import detectable

NAMED = 12  # answers that a sentence names
NO_PAIR = ("", "")
PER_ANSWER = ("l1", "mae")  # metrics that are the error of a share, or k times that


@dataclass(frozen=True, eq=False)  # holds an array
class Decision:
    """An answer as people who decide read it."""

    badge: Badge  # collect, almost, or do not
    reason: str  # follows the badge; it has no ε and no protocol
    _: KW_ONLY
    people: int
    shares: NDArray[np.float64]  # ``(k,)``, of a sample or assumed
    labels: tuple[str, ...]  # of the answers; none without a sample, or along an order
    basis: str  # where the shares come from, in a sentence
    origin: str = "Predicted, not simulated"  # of the figures
    epsilon: float = math.inf  # of one report
    pair: tuple[str, str] = NO_PAIR
    error: float | None = None  # of a share, on average; None if only another error is known
    interval: tuple[float, float] | None = None  # of it, 95 %
    least: float | None = None  # smallest share that is told from 0; None if unknown
    wanted: str = ""  # the accuracy asked for, in a sentence
    takes: str = ""  # number of people that is enough, in a sentence
    times: int = 1  # how often the same people are asked

    @property
    def collects(self) -> bool:
        """Whether a collection is an option, and known."""
        return self.badge != Badge.DO_NOT_COLLECT and self.pair != NO_PAIR

    @property
    def off(self) -> str:
        """The error of a share in points and in people."""
        error = rounded(self.error or 0.0, 2)
        ends = [] if self.interval is None else [lower_end(*self.interval), self.interval[1]]
        between = f" ({'–'.join(f'{100 * end:.2g}' for end in ends)})" if ends else ""
        off = users(rounded((self.error or 0.0) * self.people, 2))
        return f"{points(error)}{between} on average, that is {off} of {self.people:,} people"

    def named(self, *, seen: bool) -> tuple[int, str]:
        """Return how many answers of a sample are told from none, or are not, and the first of their labels."""
        order = np.argsort(-self.shares, kind="stable").tolist() if self.labels else []
        names = [self.labels[at] for at in order if (self.shares[at] >= (self.least or 0.0)) == seen]
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        return len(names), ", ".join(names[:NAMED]) + more

    @property
    def cases(self) -> int:
        """Of 100, those in which a guess between two answers is right at most, from all reports of a person."""
        return math.ceil(100 / (1 + math.exp(-self.epsilon * self.times)) - 1e-9)

    @property
    def openly(self) -> int | None:
        """Number of people, drawn from all, whose open answers have the same error; None if that is unknown."""
        spread = 2 / math.pi * float(np.sqrt(self.shares * (1 - self.shares)).mean()) ** 2
        return int(rounded(1 / (self.error**2 / spread + 1 / self.people), 2)) if self.error and spread else None

    @property
    def device(self) -> Device | None:
        """A device that does the same on paper."""
        return device_for(len(self.shares), self.epsilon, self.people)

    @property
    def protocol(self) -> str:
        """Protocol and method."""
        return f"{protocol_in_full(self.pair[0])} with {method_text(self.pair[1])}"


def decision_html(decision: Decision, title: str, document: Document, command: str) -> str:
    """Return the page; `title` is the reader's own, or "", and `document` is for the people who build."""
    from advisor.show.page import DECISION  # only for pages

    today = datetime.datetime.now(datetime.UTC).date()
    date, percents = f"{today.day} {today:%B %Y}", {"percent": percent, "points": points, "users": users}
    return DECISION.render(d=decision, title=title, document=document, command=command, date=date, **percents)


def decision_of(ranking: Ranking, badge: Badge = Badge.NONE, reason: str = "", **more: Any) -> Decision:
    """Return the decision that a ranking leads to: its own, or another badge and reason, and further fields."""
    request = ranking.request
    if not ranking.recommendations:
        nothing = "no way to collect keeps the limits that were set"
        return Decision(Badge.DO_NOT_COLLECT, nothing, people=request.users, **_basis(request))
    best, without, worth = ranking.best, ranking.error_without_data, ranking.worth_it_with
    error, interval = best.mean_absolute_error, None
    error = None if error is None else error * ranking.sampling
    if error is not None and ranking.metric in PER_ANSWER and best.error:
        interval = error * best.error_low / best.error, error * best.error_high / best.error
    if not badge:
        badge = {USELESS: Badge.DO_NOT_COLLECT, MARGINAL: Badge.ALMOST}.get(ranking.verdict or "", Badge.COLLECT)
        parts = (
            f"a share will be off by about {points(rounded(error, 2))}" if error is not None else "",
            f"the error is {whole_percent(best.error / without)} of that of a guess without data" if without else "",
            "it is not certain that this is better than the guess" if NOT_CERTAIN in ranking.reasons else "",
        )
        reason = (
            "; ".join(filter(None, parts)) if badge != Badge.DO_NOT_COLLECT else "a guess without data may be as exact"
        )
    if worth is not None and worth.n is not None:
        more.setdefault("takes", f"{enough(int(rounded(worth.n, 2)))} people would be enough to make it worth it.")
    if ranking.source != "grid":
        more["origin"] = f"Simulated, seed {request.seed}"
    return Decision(
        badge,
        reason,
        people=request.users,
        epsilon=best.epsilon or request.epsilon,
        pair=best.pair,
        error=error,
        interval=interval,
        least=ranking.detectable_frequency,
        **_basis(request),
        **more,
    )


def decision_of_plan(plan: PlanResult) -> Decision:
    """Return the decision that a plan leads to."""
    question, best, frequencies = plan.question, plan.best, plan.question.frequencies
    value, what = best.value, "number of people" if question.unknown == "n" else "promise, however weak,"
    takes, scale = "", {"mae": 1.0, "l1": 1 / frequencies.k}.get(question.metric)
    if plan.needs_no_data:
        badge, reason = Badge.DO_NOT_COLLECT, "an answer without any data is exact enough"
    elif value is None:
        badge, reason = Badge.DO_NOT_COLLECT, f"no {what} that was looked at is enough"
    else:
        badge, reason = Badge.COLLECT, f"{users(question.users(value))} people are enough"
        if question.unknown == "n" and best.low and best.high:
            takes = f"The number is between {users(best.low)} and {users(best.high)}, with a certainty of 95 %."
    if question.detects:
        wanted = f"An answer that {percent(question.target)} of the people give is told from one that nobody gives."
    elif scale:
        wanted = f"A share may be off by {points(question.target * scale)} on average."
    else:
        unit = unit_text(question.metric, frequencies.bins)
        wanted = f"The {METRICS[question.metric].title} may be {question.target:g} ({unit})."
    more: dict[str, Any] = {"people": question.n or 0}
    if value is not None:
        people = int(rounded(question.users(value), 4)) if question.n is None else question.n
        more = {"people": people, "least": detectable(question.oracle(best.protocol, value), people)}
        more |= {"epsilon": question.budget(best.protocol, value), "pair": best.pair}
        if scale and best.error:
            more["error"] = scale * best.error
            if best.error_low is not None and best.error_high is not None:
                more["interval"] = scale * best.error_low, scale * best.error_high
    if best.source == "simulation":
        more["origin"] = f"Simulated, seed {question.simulation.seed}"
    return Decision(badge, reason, wanted=wanted, takes=takes, **more, **_basis(frequencies))


def _basis(source: Request | Frequencies) -> dict[str, Any]:
    """Return the shares of the answers, their labels, and where they come from."""
    weights, name = (source.counts, source.sample) if isinstance(source, Request) else (source.weights, source.name)
    basis = f"How common the answers are is taken from {name}."
    if not source.labels:
        basis = f"How common the answers are is assumed: {name}."
    if source.skew is not None:
        basis = "How common the answers are is assumed: a few are common, and many are rare."
    labels = () if source.ordered else source.labels
    return {"shares": np.asarray(weights, dtype=np.float64) / weights.sum(), "labels": labels, "basis": basis}
