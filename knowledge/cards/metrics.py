"""Cards of the metrics."""

from __future__ import annotations

from knowledge.cards.card import Card

METRIC_CARDS: dict[str, Card] = {
    "l1": Card(
        formula="Σ |f̃ − f|.",
        good_for="Overall error; half of it is the share of users put in a wrong category, if the estimate sums to 1.",
        pitfalls="Published tables sometimes print l1 / k under this name; that is mae.",
        cost="one pass",
    ),
    "mae": Card(
        formula="Σ |f̃ − f| / k.",
        good_for="Error of a typical category.",
        pitfalls="Small for large k whatever the method: compare ratios.",
        cost="one pass",
    ),
    "mse": Card(
        formula="Σ (f̃ − f)² / k.",
        good_for="Theory: its value for the raw estimate is a formula.",
        pitfalls="Ruled by the frequent values.",
        cost="one pass",
    ),
    "l2": Card(
        formula="√ Σ (f̃ − f)².",
        good_for="As mse, in the unit of a frequency.",
        pitfalls="The mean over repetitions is not the root of the mean mse.",
        cost="one pass",
    ),
    "kl": Card(
        formula="Σ f ln(f / f̃), truth against estimate.",
        good_for="Rare values count: missing one is expensive.",
        pitfalls="Estimates have zeros: they are clipped, renormalised and mixed with the uniform distribution at "
        "weight 1e-4 (--kl-mix), and the figure depends on that weight. Leaving zeros out rewards zeroing.",
        cost="one pass",
    ),
    "js": Card(
        formula="(KL(f‖m) + KL(f̃‖m)) / 2, m = (f + f̃) / 2.",
        good_for="A bounded kl.",
        pitfalls="Same repair as kl; at most ln 2.",
        cost="one pass",
    ),
    "emd": Card(
        formula="Σ_j |CDF of f̃ − CDF of f|.",
        good_for="Ordered domains: how far mass is put from its place, in bins.",
        pitfalls="Equals the transport cost only when the estimate sums to 1. Meaningless without an order.",
        cost="one pass",
    ),
    "topk": Card(
        formula="Mean squared error over the truly most frequent values (5 % of the domain; --top-values).",
        good_for="Heavy hitters.",
        pitfalls="Run-to-run spread is large: few values are averaged.",
        cost="one sort of the truth",
    ),
    "set": Card(
        formula="Mean squared error of the total of a random subset (10 % of the domain; --set-share).",
        good_for="Questions about groups of categories.",
        pitfalls="Rewards unbiasedness and a right total over accuracy per category.",
        cost="one pass; 256 sampled sets with post_pos",
    ),
    "range": Card(
        formula="Mean absolute error of the total of a random range.",
        good_for="Ordered domains: questions between two bounds.",
        pitfalls="Meaningless without an order.",
        cost="one sort; 1,024 sampled ranges with post_pos",
    ),
    "mean": Card(
        formula="|Σ_v v (f̃_v − f_v)|, v = 0 … k − 1.",
        good_for="Ordered domains: averages and totals, in bins.",
        pitfalls="One figure of the whole: errors cancel, and a good mean says little of the shape. Where the true "
        "mean lies in the middle of the domain, equal frequencies have no error. An estimate that does not sum to 1 "
        "is not rescaled. Meaningless without an order.",
        cost="one pass",
    ),
    "quantiles": Card(
        formula="Mean of |Q̃(p) − Q(p)|, p = 0.1 … 0.9; Q̃(p) is the first bin where the running sum of f̃ reaches p.",
        good_for="Ordered domains: medians and deciles, in bins.",
        pitfalls="Moves in steps of 1/9 bin, and a stretch of rare values is crossed at once. In raw estimates noise "
        "reaches a level too early. Meaningless without an order.",
        cost="one pass",
    ),
    "ks": Card(
        formula="max_j |CDF of f̃ − CDF of f|.",
        good_for="Ordered domains: the worst error of “how many are at most x”.",
        pitfalls="The place of the error is lost, and its width. Meaningless without an order.",
        cost="one pass",
    ),
}
