"""Cards: for every member of the tables its formula, when it is a good choice, and what to look out for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    """What is known of one member."""

    # The definition. k categories, n users; e: raw estimate of a frequency, s: its noise sd at frequency 0, f̃: the
    # result, f: the truth.
    formula: str
    good_for: str  # when it is a good choice
    pitfalls: str  # what goes wrong with it, or with the ways it is often written
    # What it takes, in a few words: for a protocol the size of a report and the server's work for n of them, for a
    # method or a metric the work per estimate
    cost: str


CARDS: dict[str, Card] = {
    "grr": Card(
        "Report the true value with probability p = e^ε / (e^ε + k − 1), each other value with q = p / e^ε.",
        "Small domains (roughly k < 3 e^ε + 2) and large ε: there it has the lowest variance and the shortest report.",
        "Its variance grows with k. With small k or a dominating value the variance depends on the frequency, so the "
        "variance at frequency 0 is not enough. A value that nobody reports has a negative estimate, not 0.",
        "⌈log2 k⌉ bits; server: n counts",
    ),
    "rappor": Card(
        "One bit per value; each is sent truthfully with p = e^(ε/2) / (e^(ε/2) + 1) and flipped otherwise.",
        "Where every bit must be treated alike; at small ε it is close to OUE.",
        "This is the one-time basic form: no Bloom filter, no permanent and instantaneous step. k bits per report.",
        "k bits; server: n × k additions",
    ),
    "oue": Card(
        "One bit per value: the own bit is 1 with p = 1/2, any other with q = 1 / (e^ε + 1).",
        "Large domains at moderate ε where k bits per report are acceptable.",
        "Far from optimal at large ε, because the own bit is lost half of the time whatever ε is. A client that draws "
        "the own bit twice leaks.",
        "k bits; server: n × k additions",
    ),
    "blh": Card(
        "A random hash to g = 2 symbols per user, then randomised response on it: p = e^ε / (e^ε + 1), q = 1/2.",
        "One-bit reports (beside the hash seed) at small ε.",
        "At large ε its error stops falling, because a report never says more than half of the domain.",
        "33 bits; server: n × k hashes",
    ),
    "olh": Card(
        "As BLH with g = round(e^ε) + 1 symbols: p = e^ε / (e^ε + g − 1), q = 1/g.",
        "Large domains: OUE's accuracy at a few bytes per report.",
        "The server hashes every value for every report, n times k. A linear hash with a small prime is biased. Far "
        "from optimal at large ε.",
        "32 + ⌈log2 g⌉ bits; server: n × k hashes",
    ),
    "ss": Card(
        "Report ω values: the own one is among them with p = ω e^ε / (ω e^ε + k − ω), the rest is an even draw; ω is "
        "the better of the two integers around k / (e^ε + 1).",
        "Lowest variance of all at any ε, if a report of ω values is acceptable; equals GRR where ω = 1.",
        "Always rounding ω up costs up to 1.8 times the variance at small k. The counts of one report depend on one "
        "another, so drawing them independently is wrong.",
        "ω values or k bits; server: n × ω additions",
    ),
    "the": Card(
        "Laplace(2/ε) noise on every cell of the one-hot vector; a cell is sent as 1 if it exceeds θ: "
        "p = 1 − e^(ε(θ−1)/2) / 2, q = e^(−εθ/2) / 2, with e^(εθ/2) = (a + 1 + √(a² − a + 1)) / 3, a = e^(ε/2), "
        "which has the lowest variance.",
        "Hardly ever: where clients add Laplace noise already and k bits per report are acceptable.",
        "OUE has the lower variance with the same report. The k bits reveal less than ε allows (0.90 at ε = 1, about "
        "ε/2 + 1 at large ε): what is paid for is not used.",
        "k bits; server: n × k additions",
    ),
    "she": Card(
        "Report the one-hot vector plus Laplace(2/ε) noise on every cell; the estimate is the mean report, of variance "
        "8 / (n ε²) whatever the frequency.",
        "A baseline: noise of one variance, independent between values, whatever the frequencies and k.",
        "At least twice the variance of OUE at frequency 0, and 64 times its report; it falls with ε² only, that "
        "of most others exponentially. There are no p and q, and what is added up are real numbers, not counts. "
        "Floating-point Laplace noise leaks through its last digits.",
        "64 k bits; server: n × k additions",
    ),
    "hr": Card(
        "B blocks of b symbols, B the largest power of 2 below min(e^ε, 2k), b the smallest that is at least k/B + 1. "
        "A value is a row of the b x b Hadamard matrix in one block; the b/2 symbols where the row is 1 are e^ε times "
        "as likely as all others. e = (reports at 1 − reports at −1 in the block) / n · (e^ε − 1 + 2B) / (e^ε − 1).",
        "Short reports (log2 of at most 6k symbols) without hashing, and a fast server: one Walsh-Hadamard transform.",
        "For large k the variance is 1.06 times OUE's at ε = 0.5, 1.5 times at ε = 1, 1.7 at ε = 2 and 2 at ε = 3. "
        "With ε > ln 2 it depends on how many users hold values of the same block: next to a very frequent value it is "
        "up to (e^ε + 1) / 2 times as large, and what post-processing is told is a mean over assignments. Raw "
        "estimates do not sum to 1.",
        "⌈log2 B b⌉ bits; server: n counts, one transform",
    ),
    "pgr": Card(
        "Values and reports are points of the projective space of t coordinates over a field of prime order m; the c "
        "points orthogonal to the own value are e^ε times as likely as the others. With K points in all and d on two "
        "hyperplanes: p = e^ε c / (e^ε c + K − c), q = (e^ε d + c − d) / (e^ε c + K − c). m and t are chosen by "
        "the variance; value v is the point v s mod k, s being near 0.618 k, so that neighbours share little noise.",
        "Nearly the variance of SS with a report of about log2 k bits, and none of OLH's n times k hashing.",
        "m can only be a prime: for small ε up to 3 % more variance. Where k lies far between two spaces of that field "
        "the good one would have many times k points; very large ones are passed over, which costs up to 1.7 times the "
        "variance of SS at k = 5,000 (ε of 6.4 to 7.3), 16 times at k = 250,000 (ε of 5.2 to 11.2). For k below 5 or "
        "so GRR does the same with fewer symbols.",
        "⌈log2 K⌉ bits; server: n counts, t K m additions",
    ),
    "none": Card(
        "The unbiased estimate as it is.",
        "Sums over many categories, averages over many collections: its errors cancel, biased ones do not.",
        "Negative values, and a sum other than 1. With many rare categories most of its error is noise around 0.",
        "nothing",
    ),
    "base_pos": Card(
        "max(e, 0).",
        "A quick repair for display.",
        "Biased upwards for every rare value, and the biases add up in sums: the total lies well above 1.",
        "one pass",
    ),
    "post_pos": Card(
        "max(answer, 0) for every query answer; the estimate itself is left alone.",
        "Set and range queries whose true answers may be near 0.",
        "Answers of overlapping queries need not add up. It changes nothing in other metrics, so it is offered for the "
        "metrics set and range only.",
        "one comparison per query",
    ),
    "base_cut": Card(
        "e where e ≥ T, else 0, with T = quantile(1 − 2/k) · s: about two values of frequency 0 survive.",
        "Error per category when most categories are rare.",
        "The sum may lie far from 1. For k ≤ 4 the threshold is 0.",
        "one pass",
    ),
    "norm": Card(
        "e + (1 − sum e) / k.",
        "The most frequent values: unbiased, and slightly less noise than the raw estimate.",
        "Keeps negative values. Changes nothing for GRR and SS, whose estimates sum to 1 already.",
        "one pass",
    ),
    "norm_mul": Card(
        "max(e, 0) divided by its sum.",
        "Near-uniform data.",
        "Shrinks frequent values by a factor, often badly: it is the repair several libraries apply unasked.",
        "one pass",
    ),
    "norm_sub": Card(
        "max(e + δ, 0) with δ such that the sum is 1: the nearest point of the simplex, by one sort.",
        "A safe default: proper frequencies, small bias, no parameters. Also published as constrained least squares.",
        "Subtracts the same amount from frequent and rare values, which costs accuracy at the top of skewed data. "
        "Iterative versions stop at a tolerance; this one is exact.",
        "one sort",
    ),
    "norm_cut": Card(
        "If the positive estimates sum to at most 1, keep those; else keep the largest ones as far as they sum to at "
        "most 1, and set the rest to 0.",
        "Sparse and strongly skewed data.",
        "The sum may stay below 1. One estimate above 1 leaves nothing at all. Another benchmark platform keeps one "
        "value more and rescales.",
        "one sort",
    ),
    "mle_apx": Card(
        "Minimise the sum of (f − e)² / Var(f) over the simplex, Var(f) = a + b f: f = max(e − t, 0) / (1 + t b / a).",
        "Protocols whose variance grows with the frequency (GRR with small k).",
        "Where the variance does not depend on f it is Norm-Sub.",
        "one sort",
    ),
    "power": Card(
        "Posterior mean of each count under Pr[x] ∝ x^(−a), x = 1..n, and Gaussian noise of sd s; a is fitted so that "
        "the prior mean is n/k.",
        "Data that look like a power law: error per category.",
        "The prior has no mass at 0, so nothing is ever 0; the sum is not 1. A published implementation feeds it a "
        "variance that is wrong by a factor of about k.",
        "one table per (n, k, noise), one look-up per value",
    ),
    "power_ns": Card(
        "Norm-Sub after Power.",
        "Data that look like a power law: also sums over sets.",
        "Inherits the prior: on data of another shape (flat, bell-shaped) a method without prior may be better.",
        "as power, and one sort",
    ),
    "ibu": Card(
        "max(o / c − r, 0) with o the share of each value among the reports, r = q / (p − q), and c such that the sum "
        "is 1: the maximum of the exact likelihood, to which iterative Bayesian update converges.",
        "GRR: maximum likelihood by one sort. It is the raw estimate wherever that has no negative value; where it "
        "has, the values that stay are scaled rather than shifted.",
        "Only for reports that name a single value (GRR, and others where they come down to it); refused for the rest. "
        "Rare values become 0. An iteration that is stopped early gives another, smoother answer, which depends on the "
        "stopping rule; this one is the limit.",
        "one sort",
    ),
    "ibu_pseudo": Card(
        "The formula of ibu on the support counts divided by their sum, as if every support were a report of its own "
        "that names one value.",
        "Comparison with published results that feed support counts to iterative Bayesian update.",
        "Not the likelihood of the protocol, which treats the supports of one report together: what is known of "
        "maximum likelihood does not carry over. Not for SHE, which has no support counts; for Hadamard response the "
        "counts are rebuilt from the estimate with the mean q.",
        "one sort",
    ),
    "eb_ns": Card(
        "Posterior mean of f given e under Gaussian noise of variance a + b f; the prior, on 0 to 1 with mean 1/k, is "
        "fitted to all estimates together by 50 EM steps; then Norm-Sub. Estimates above 20 s stay as they are.",
        "Squared error (l2, mse) when the shape is unknown: it learns from the estimates how many values are rare, and "
        "how rare. Needs many categories to learn from.",
        "With few categories the prior is poorly fitted. Where the fit is hardly likelier than equal frequencies, the "
        "result is drawn towards 1/k. All categories are treated alike: with an order, wavelet_eb uses more. The "
        "number of EM steps is part of the method: it keeps the prior smooth.",
        "50 EM steps on at most 260 bins, whatever k; one sort",
    ),
    "wavelet_eb": Card(
        "Haar coefficients at every shift, each times a factor between 0 and 1 that depends on its size and level: the "
        "posterior mean under a prior per level (a spike at 0 and five Gaussians; coarse levels share one), fitted "
        "by marginal likelihood; inverse transform; Norm-Sub.",
        "Ordered domains whose neighbours resemble each other (ages, times, amounts): l1, l2, emd, range.",
        "Meaningless without an order: not for labels in alphabetical order, nor sorted by their own estimates. A lone "
        "spike that noise could have made is spread over its neighbours. It may change the order of the values. The "
        "noise is taken to be equal and independent for all categories, which GRR with a dominating value is not.",
        "transforms of k log k, 20 EM steps per level, one sort",
    ),
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
}
