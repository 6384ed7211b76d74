"""Cards: for every member of the tables its formula, when it is a good choice, and what to look out for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    """What is known of one member.

    Attributes
    ----------
    formula
        The definition. k categories, n users; e: raw estimate of a frequency, s: its noise sd at frequency 0, f̃: the
        result, f: the truth.
    good_for
        When it is a good choice.
    pitfalls
        What goes wrong with it, or with the ways it is often written.
    """

    formula: str
    good_for: str
    pitfalls: str


CARDS: dict[str, Card] = {
    "grr": Card(
        "Report the true value with probability p = e^ε / (e^ε + k − 1), each other value with q = p / e^ε.",
        "Small domains (roughly k < 3 e^ε + 2) and large ε: there it has the lowest variance and the shortest report.",
        "Its variance grows with k. With small k or a dominating value the variance depends on the frequency, so the "
        "variance at frequency 0 is not enough. A value that nobody reports has a negative estimate, not 0.",
    ),
    "rappor": Card(
        "One bit per value; each is sent truthfully with p = e^(ε/2) / (e^(ε/2) + 1) and flipped otherwise.",
        "Where every bit must be treated alike; at small ε it is close to OUE.",
        "This is the one-time basic form: no Bloom filter, no permanent and instantaneous step. k bits per report.",
    ),
    "oue": Card(
        "One bit per value: the own bit is 1 with p = 1/2, any other with q = 1 / (e^ε + 1).",
        "Large domains at moderate ε where k bits per report are acceptable.",
        "Far from optimal at large ε, because the own bit is lost half of the time whatever ε is. A client that draws "
        "the own bit twice leaks.",
    ),
    "blh": Card(
        "A random hash to g = 2 symbols per user, then randomised response on it: p = e^ε / (e^ε + 1), q = 1/2.",
        "One-bit reports (beside the hash seed) at small ε.",
        "At large ε its error stops falling, because a report never says more than half of the domain.",
    ),
    "olh": Card(
        "As BLH with g = round(e^ε) + 1 symbols: p = e^ε / (e^ε + g − 1), q = 1/g.",
        "Large domains: OUE's accuracy at a few bytes per report.",
        "The server hashes every value for every report, n times k. A linear hash with a small prime is biased. Far "
        "from optimal at large ε.",
    ),
    "ss": Card(
        "Report ω values: the own one is among them with p = ω e^ε / (ω e^ε + k − ω), the rest is an even draw; ω is "
        "the better of the two integers around k / (e^ε + 1).",
        "Lowest variance of all at any ε, if a report of ω values is acceptable; equals GRR where ω = 1.",
        "Always rounding ω up costs up to 1.8 times the variance at small k. The counts of one report depend on one "
        "another, so drawing them independently is wrong.",
    ),
    "none": Card(
        "The unbiased estimate as it is.",
        "Sums over many categories, averages over many collections: its errors cancel, biased ones do not.",
        "Negative values, and a sum other than 1. With many rare categories most of its error is noise around 0.",
    ),
    "base_pos": Card(
        "max(e, 0).",
        "A quick repair for display.",
        "Biased upwards for every rare value, and the biases add up in sums: the total lies well above 1.",
    ),
    "post_pos": Card(
        "max(answer, 0) for every query answer; the estimate itself is left alone.",
        "Set and range queries whose true answers may be near 0.",
        "Answers of overlapping queries need not add up. It changes nothing in other metrics, so it is offered for the "
        "metrics set and range only.",
    ),
    "base_cut": Card(
        "e where e ≥ T, else 0, with T = quantile(1 − 2/k) · s: about two values of frequency 0 survive.",
        "Error per category when most categories are rare.",
        "The sum may lie far from 1. For k ≤ 4 the threshold is 0.",
    ),
    "norm": Card(
        "e + (1 − sum e) / k.",
        "The most frequent values: unbiased, and slightly less noise than the raw estimate.",
        "Keeps negative values. Changes nothing for GRR and SS, whose estimates sum to 1 already.",
    ),
    "norm_mul": Card(
        "max(e, 0) divided by its sum.",
        "Near-uniform data.",
        "Shrinks frequent values by a factor, often badly: it is the repair several libraries apply unasked.",
    ),
    "norm_sub": Card(
        "max(e + δ, 0) with δ such that the sum is 1: the nearest point of the simplex, by one sort.",
        "A safe default: proper frequencies, small bias, no parameters. Also published as constrained least squares.",
        "Subtracts the same amount from frequent and rare values, which costs accuracy at the top of skewed data. "
        "Iterative versions stop at a tolerance; this one is exact.",
    ),
    "norm_cut": Card(
        "If the positive estimates sum to at most 1, keep those; else keep the largest ones as far as they sum to at "
        "most 1, and set the rest to 0.",
        "Sparse and strongly skewed data.",
        "The sum may stay below 1. One estimate above 1 leaves nothing at all. Another benchmark platform keeps one "
        "value more and rescales.",
    ),
    "mle_apx": Card(
        "Minimise the sum of (f − e)² / Var(f) over the simplex, Var(f) = a + b f: f = max(e − t, 0) / (1 + t b / a).",
        "Protocols whose variance grows with the frequency (GRR with small k).",
        "Where the variance does not depend on f it is Norm-Sub.",
    ),
    "power": Card(
        "Posterior mean of each count under Pr[x] ∝ x^(−a), x = 1..n, and Gaussian noise of sd s; a is fitted so that "
        "the prior mean is n/k.",
        "Data that look like a power law: error per category.",
        "The prior has no mass at 0, so nothing is ever 0; the sum is not 1. A published implementation feeds it a "
        "variance that is wrong by a factor of about k.",
    ),
    "power_ns": Card(
        "Norm-Sub after Power.",
        "Data that look like a power law: also sums over sets.",
        "Inherits the prior: on data of another shape (flat, bell-shaped) a method without prior may be better.",
    ),
    "l1": Card(
        "Σ |f̃ − f|.",
        "Overall error; half of it is the share of users put in a wrong category, if the estimate sums to 1.",
        "Published tables sometimes print l1 / k under this name; that is mae.",
    ),
    "mae": Card(
        "Σ |f̃ − f| / k.", "Error of a typical category.", "Small for large k whatever the method: compare ratios."
    ),
    "mse": Card(
        "Σ (f̃ − f)² / k.", "Theory: its value for the raw estimate is a formula.", "Ruled by the frequent values."
    ),
    "l2": Card(
        "√ Σ (f̃ − f)².",
        "As mse, in the unit of a frequency.",
        "The mean over repetitions is not the root of the mean mse.",
    ),
    "kl": Card(
        "Σ f ln(f / f̃), truth against estimate.",
        "Rare values count: missing one is expensive.",
        "Estimates have zeros: they are clipped, renormalised and mixed with the uniform distribution at weight 1e-4 "
        "(--kl-mix), and the figure depends on that weight. Leaving zeros out rewards zeroing.",
    ),
    "js": Card("(KL(f‖m) + KL(f̃‖m)) / 2, m = (f + f̃) / 2.", "A bounded kl.", "Same repair as kl; at most ln 2."),
    "emd": Card(
        "Σ_j |CDF of f̃ − CDF of f|.",
        "Ordered domains: how far mass is put from its place, in bins.",
        "Equals the transport cost only when the estimate sums to 1. Meaningless without an order.",
    ),
    "topk": Card(
        "Mean squared error over the truly most frequent values (5 % of the domain; --top-values).",
        "Heavy hitters.",
        "Run-to-run spread is large: few values are averaged.",
    ),
    "set": Card(
        "Mean squared error of the total of a random subset (10 % of the domain; --set-share).",
        "Questions about groups of categories.",
        "Rewards unbiasedness and a right total over accuracy per category.",
    ),
    "range": Card(
        "Mean absolute error of the total of a random range.",
        "Ordered domains: questions between two bounds.",
        "Meaningless without an order.",
    ),
}
