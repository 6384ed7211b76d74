"""The answers to one question at several budgets."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.answers.rank.result import Answer, Ranking


@dataclass(frozen=True, eq=False)
class Priced:
    """What one budget buys: the pair to use there, and what it costs users."""

    epsilon: float  # as it was asked for: of all attributes of a user, where there are several
    ranking: Ranking  # the ranking of one metric there; it has rows

    @property
    def off(self) -> float | None:
        """Users by which the estimate of a category is off, on average; None where that is not known."""
        error = self.ranking.best.mean_absolute_error
        return None if error is None else error * self.ranking.request.n

    @property
    def detectable(self) -> float | None:
        """Users in the smallest category that the raw estimate of the protocol detects; None where it has none."""
        share = self.ranking.detectable_frequency
        return None if share is None else share * self.ranking.request.n

    @property
    def attack(self) -> float:
        """How often the best guess from one report is right."""
        return self.ranking.best.attack_success

    @property
    def verdict(self) -> str | None:
        """Whether collecting with this budget says more than no data."""
        return self.ranking.verdict


@dataclass(frozen=True, eq=False)
class Budgets:
    """The answer at each of several budgets, as each would be given alone."""

    epsilons: tuple[float, ...]
    answers: tuple[Answer, ...]  # one for each ε

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that are answered for at every ε, in their order."""
        return tuple(ranking.metric for ranking in self.answers[0].rankings)

    @property
    def first(self) -> Ranking:
        """The ranking for the first metric at the first ε."""
        return self.answers[0].first

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should worry about, each once."""
        return tuple(dict.fromkeys(text for answer in self.answers for text in answer.first.warnings))

    def priced(self, metric: str) -> tuple[Priced, ...]:
        """Return what each ε buys; nothing for one where constraints leave no pair."""
        return tuple(
            Priced(epsilon, ranking)
            for epsilon, answer in zip(self.epsilons, self.answers, strict=True)
            for ranking in answer.rankings
            if ranking.metric == metric and ranking.recommendations
        )
