"""Cards of the metrics."""

from __future__ import annotations

from knowledge.cards.card import Card

METRIC_CARDS: dict[str, Card] = {
    "l1": Card(
        "Σ |f̃ − f|.",
        "Overall error; half of it is the share of users put in a wrong category, if the estimate sums to 1.",
        "Published tables sometimes print l1 / k under this name; that is mae.",
        "one pass",
    ),
    "mae": Card(
        "Σ |f̃ − f| / k.",
        "Error of a typical category.",
        "Small for large k whatever the method: compare ratios.",
        "one pass",
    ),
    "mse": Card(
        "Σ (f̃ − f)² / k.",
        "Theory: its value for the raw estimate is a formula.",
        "Ruled by the frequent values.",
        "one pass",
    ),
    "l2": Card(
        "√ Σ (f̃ − f)².",
        "As mse, in the unit of a frequency.",
        "The mean over repetitions is not the root of the mean mse.",
        "one pass",
    ),
    "kl": Card(
        "Σ f ln(f / f̃), truth against estimate.",
        "Rare values count: missing one is expensive.",
        "Estimates have zeros: they are clipped, renormalised and mixed with the uniform distribution at weight 1e-4 "
        "(--kl-mix), and the figure depends on that weight. Leaving zeros out rewards zeroing.",
        "one pass",
    ),
    "js": Card(
        "(KL(f‖m) + KL(f̃‖m)) / 2, m = (f + f̃) / 2.", "A bounded kl.", "Same repair as kl; at most ln 2.", "one pass"
    ),
    "emd": Card(
        "Σ_j |CDF of f̃ − CDF of f|.",
        "Ordered domains: how far mass is put from its place, in bins.",
        "Equals the transport cost only when the estimate sums to 1. Meaningless without an order.",
        "one pass",
    ),
    "topk": Card(
        "Mean squared error over the truly most frequent values (5 % of the domain; --top-values).",
        "Heavy hitters.",
        "Run-to-run spread is large: few values are averaged.",
        "one sort of the truth",
    ),
    "set": Card(
        "Mean squared error of the total of a random subset (10 % of the domain; --set-share).",
        "Questions about groups of categories.",
        "Rewards unbiasedness and a right total over accuracy per category.",
        "one pass; 256 sampled sets with post_pos",
    ),
    "range": Card(
        "Mean absolute error of the total of a random range.",
        "Ordered domains: questions between two bounds.",
        "Meaningless without an order.",
        "one sort; 1,024 sampled ranges with post_pos",
    ),
    "mean": Card(
        "|Σ_v v (f̃_v − f_v)|, v = 0 … k − 1.",
        "Ordered domains: averages and totals, in bins.",
        "One figure of the whole: errors cancel, and a good mean says little of the shape. Where the true mean lies in "
        "the middle of the domain, equal frequencies have no error. An estimate that does not sum to 1 is not "
        "rescaled. Meaningless without an order.",
        "one pass",
    ),
    "quantiles": Card(
        "Mean of |Q̃(p) − Q(p)|, p = 0.1 … 0.9; Q̃(p) is the first bin where the running sum of f̃ reaches p.",
        "Ordered domains: medians and deciles, in bins.",
        "Moves in steps of 1/9 bin, and a stretch of rare values is crossed at once. In raw estimates noise "
        "reaches a level too early. Meaningless without an order.",
        "one pass",
    ),
    "ks": Card(
        "max_j |CDF of f̃ − CDF of f|.",
        "Ordered domains: the worst error of “how many are at most x”.",
        "The place of the error is lost, and its width. Meaningless without an order.",
        "one pass",
    ),
}
