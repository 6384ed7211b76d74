"""The answers to a question at several budgets."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.answers.rank.result import Answer, Ranking


@dataclass(frozen=True, eq=False)
class Priced:
    """The result at a budget: the pair to use, and the privacy cost for users."""

    epsilon: float  # as requested: for all attributes of a user, if there are several
    ranking: Ranking  # the ranking of a metric at this budget; it has rows

    @property
    def off(self) -> float | None:
        """Mean error of a category in users; None if unknown."""
        error = self.ranking.best.mean_absolute_error
        return None if error is None else error * self.ranking.sampling * self.ranking.request.users

    @property
    def detectable(self) -> float | None:
        """Users in the smallest category that the protocol's raw estimate detects; None without a raw estimate."""
        share = self.ranking.detectable_frequency
        return None if share is None else share * self.ranking.request.users


@dataclass(frozen=True, eq=False)
class Budgets:
    """The answer at each of several budgets, equal to separate answers."""

    epsilons: tuple[float, ...]
    answers: tuple[Answer, ...]  # one for each ε

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics with answers at all ε, in order."""
        return tuple(ranking.metric for ranking in self.answers[0].rankings)

    @property
    def first(self) -> Ranking:
        """The ranking for the first metric at the first ε."""
        return self.answers[0].first

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for the reader, each once."""
        return tuple(dict.fromkeys(text for answer in self.answers for text in answer.first.warnings))

    def priced(self, metric: str) -> tuple[Priced, ...]:
        """Return the result at each ε; none for an ε where no pair satisfies the constraints."""
        return tuple(
            Priced(epsilon, ranking)
            for epsilon, answer in zip(self.epsilons, self.answers, strict=True)
            for ranking in answer.rankings
            if ranking.metric == metric and ranking.recommendations
        )
