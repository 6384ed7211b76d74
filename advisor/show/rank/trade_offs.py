"""What a choice gives up, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.answers.rank.result import Ranking
from advisor.answers.rank.trade_offs import NAMED, NEAR, compromise
from advisor.figures import number
from advisor.names import pair_text
from advisor.show.model import Role, Sentence


def single_category_sentences(ranking: Ranking) -> list[Sentence]:
    """Return what the first pair gives up of single categories for the distribution as a whole."""
    single = ranking.single_categories
    if single is None:
        return []
    return [
        Sentence(
            "This is for the distribution as a whole. For single categories use "
            f"{pair_text(single.protocol, single.method)}: its error per category is "
            f"{100 * (1 - 1 / single.ratio):.0f} % lower."
        )
    ]


def compromise_sentences(rankings: Sequence[Ranking]) -> list[Sentence]:
    """Return which pair is good at all metrics that were asked for."""
    best = compromise(rankings)
    if best is None:
        return []
    every = "both" if len(rankings) == 2 else f"all {len(rankings)} metrics"
    pair, (metric, worst) = pair_text(best.protocol, best.method), best.worst
    if best.first:
        return [Sentence(f"{pair} is the first choice for {every}.", Role.ANSWER)]
    if len(rankings) <= NAMED:
        *others, last = (f"{number(ratio, 3)} times the lowest {name} error" for name, ratio in best.ratios)
        figures = f"{', '.join(others)} and {last}"
    else:
        figures = f"at most {number(worst, 3)} times the lowest error of each (that much for {metric})"
    if best.in_first_tier:
        verdict = f"In the first tier for {every}: {pair}"
    elif worst <= NEAR:
        verdict = f"Good at {every}: {pair}"
    else:
        verdict = f"No pair is within {100 * (NEAR - 1):.0f} % of the lowest error for {every}. Nearest to it: {pair}"
    return [Sentence(f"{verdict}, {figures}.", Role.ANSWER)]
