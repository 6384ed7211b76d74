"""Cards of the post-processing methods."""

from __future__ import annotations

from knowledge.cards.card import Card

METHOD_CARDS: dict[str, Card] = {
    "none": Card(
        formula="The unbiased estimate as it is.",
        good_for="Sums over many categories, averages over many collections: its errors cancel, biased ones do not.",
        pitfalls="Negative values, and a sum other than 1. With many rare categories most of its error is noise "
        "around 0.",
        cost="nothing",
    ),
    "base_pos": Card(
        formula="max(e, 0).",
        good_for="A quick repair for display.",
        pitfalls="Biased upwards for every rare value, and the biases add up in sums: the total lies well above 1.",
        cost="one pass",
    ),
    "post_pos": Card(
        formula="max(answer, 0) for every query answer; the estimate itself is left alone.",
        good_for="Set and range queries whose true answers may be near 0.",
        pitfalls="Answers of overlapping queries need not add up. It changes nothing in other metrics, so it is "
        "offered for the metrics set and range only.",
        cost="one comparison per query",
    ),
    "base_cut": Card(
        formula="e where e ≥ T, else 0, with T = quantile(1 − 2/k) · s: about two values of frequency 0 survive.",
        good_for="Error per category when most categories are rare.",
        pitfalls="The sum may lie far from 1. For k ≤ 4 the threshold is 0.",
        cost="one pass",
    ),
    "norm": Card(
        formula="e + (1 − sum e) / k.",
        good_for="The most frequent values: unbiased, and slightly less noise than the raw estimate.",
        pitfalls="Keeps negative values. Changes nothing for GRR and SS, whose estimates sum to 1 already.",
        cost="one pass",
    ),
    "norm_mul": Card(
        formula="max(e, 0) divided by its sum.",
        good_for="Near-uniform data.",
        pitfalls="Shrinks frequent values by a factor, often badly: it is the repair several libraries apply unasked.",
        cost="one pass",
    ),
    "norm_sub": Card(
        formula="max(e + δ, 0) with δ such that the sum is 1: the nearest point of the simplex, by one sort.",
        good_for="A safe default: proper frequencies, small bias, no parameters. Also published as constrained least "
        "squares.",
        pitfalls="Subtracts the same amount from frequent and rare values, which costs accuracy at the top of skewed "
        "data. Iterative versions stop at a tolerance; this one is exact.",
        cost="one sort",
    ),
    "norm_cut": Card(
        formula="If the positive estimates sum to at most 1, keep those; else keep the largest ones as far as they "
        "sum to at most 1, and set the rest to 0.",
        good_for="Sparse and strongly skewed data.",
        pitfalls="The sum may stay below 1. One estimate above 1 leaves nothing at all. Another benchmark platform "
        "keeps one value more and rescales.",
        cost="one sort",
    ),
    "mle_apx": Card(
        formula="Minimise the sum of (f − e)² / Var(f) over the simplex, Var(f) = a + b f: f = max(e − t, 0) / (1 + "
        "t b / a).",
        good_for="Protocols whose variance grows with the frequency (GRR with small k).",
        pitfalls="Where the variance does not depend on f it is Norm-Sub.",
        cost="one sort",
    ),
    "power": Card(
        formula="Posterior mean of each count under Pr[x] ∝ x^(−a), x = 1..n, and Gaussian noise of sd s; a is "
        "fitted so that the prior mean is n/k.",
        good_for="Data that look like a power law: error per category.",
        pitfalls="The prior has no mass at 0, so nothing is ever 0; the sum is not 1. A published implementation "
        "feeds it a variance that is wrong by a factor of about k.",
        cost="one table per (n, k, noise), one look-up per value",
    ),
    "power_ns": Card(
        formula="Norm-Sub after Power.",
        good_for="Data that look like a power law: also sums over sets.",
        pitfalls="Inherits the prior: on data of another shape (flat, bell-shaped) a method without prior may be "
        "better.",
        cost="as power, and one sort",
    ),
    "ibu": Card(
        formula="max(o / c − r, 0) with o the share of each value among the reports, r = q / (p − q), and c such "
        "that the sum is 1: the maximum of the exact likelihood, to which iterative Bayesian update converges.",
        good_for="GRR: maximum likelihood by one sort. It is the raw estimate wherever that has no negative value; "
        "where it has, the values that stay are scaled rather than shifted.",
        pitfalls="Only for reports that name a single value (GRR, and others where they come down to it); refused "
        "for the rest. Rare values become 0. An iteration that is stopped early gives another, smoother answer, "
        "which depends on the stopping rule; this one is the limit.",
        cost="one sort",
    ),
    "ibu_pseudo": Card(
        formula="The formula of ibu on the support counts divided by their sum, as if every support were a report of "
        "its own that names one value.",
        good_for="Comparison with published results that feed support counts to iterative Bayesian update.",
        pitfalls="Not the likelihood of the protocol, which treats the supports of one report together: what is "
        "known of maximum likelihood does not carry over. Not for SHE, which has no support counts; for Hadamard "
        "response the counts are rebuilt from the estimate with the mean q.",
        cost="one sort",
    ),
    "eb_ns": Card(
        formula="Posterior mean of f given e under Gaussian noise of variance a + b f; the prior, on 0 to 1 with "
        "mean 1/k, is fitted to all estimates together by 50 EM steps; then Norm-Sub. Estimates above 20 s stay as "
        "they are.",
        good_for="Squared error (l2, mse) when the shape is unknown: it learns from the estimates how many values "
        "are rare, and how rare. Needs many categories to learn from.",
        pitfalls="With few categories the prior is poorly fitted. Where the fit is hardly likelier than equal "
        "frequencies, the result is drawn towards 1/k. All categories are treated alike: with an order, wavelet_eb "
        "uses more. The number of EM steps is part of the method: it keeps the prior smooth.",
        cost="50 EM steps on at most 260 bins, whatever k; one sort",
    ),
    "wavelet_eb": Card(
        formula="Haar coefficients at every shift, each times a factor between 0 and 1 that depends on its size and "
        "level: the posterior mean under a prior per level (a spike at 0 and five Gaussians; coarse levels share "
        "one), fitted by marginal likelihood; inverse transform; Norm-Sub.",
        good_for="Ordered domains whose neighbours resemble each other (ages, times, amounts): l1, l2, emd, range.",
        pitfalls="Meaningless without an order: not for labels in alphabetical order, nor sorted by their own "
        "estimates. A lone spike that noise could have made is spread over its neighbours. It may change the order "
        "of the values. The noise is taken to be equal and independent for all categories, which GRR with a "
        "dominating value is not.",
        cost="transforms of k log k, 20 EM steps per level, one sort",
    ),
    "iso_cdf": Card(
        formula="Move e to sum to 1, take running sums, replace them by the nearest sequence that never falls "
        "(adjacent violators are pooled into their mean), clip to 0 … 1; the result is its steps.",
        good_for="Ordered domains: ranges, quantiles and emd, with trees and haar_hrr. No parameters, any noise.",
        pitfalls="Categories come out as many zeros between a few lumps: poor for single categories, where tree_eb "
        "is far better. Meaningless without an order. With a protocol of single categories the running sums "
        "themselves are noisy, and it cannot mend that.",
        cost="running sums, one isotonic regression",
    ),
    "tree_eb": Card(
        formula="From the root down: what divides a node, left half less right half, lies between minus and plus its "
        "mass. It becomes a posterior mean under a prior for each level: 0, what both neighbours suggest (with sd of "
        "0.02 to 1 times the mass, or exactly), or all on one side; weights by EM, drawn to those of the level "
        "above. The finer levels are averaged over all shifts of the tree.",
        good_for="Ordered domains, with tree, tree_half or haar_hrr: emd and range, and on most data l1 and l2 too.",
        pitfalls="Meaningless without an order. With a protocol of single categories it is no better than wavelet_eb "
        "on average and much worse on a lone spike with few users, as it starts from the coarse differences, which "
        "are noisiest there. Where nothing beats equal frequencies clearly it leans to these.",
        cost="25 EM steps per level, shifts of k log k",
    ),
    "em": Card(
        formula="f_x ← f_x Σ_y (o_y / Σ_z M_zy f_z) M_xy, with o_y the share of output y and M_xy the probability "
        "that x becomes y; from equal frequencies, until a step gains less than 0.001 e^ε in log-likelihood.",
        good_for="Comparison with published results on square wave.",
        pitfalls="The stopping rule is part of the method: going on to the maximum (ibu) fits the noise and raises "
        "the error. Its answer still has waves where the truth is even; em_stopped is better on average.",
        cost="many EM steps, each two products with the likelihood",
    ),
    "ems": Card(
        formula="As em, with the frequencies averaged over neighbours after each step, by weights of 1/4, 1/2, 1/4 "
        "(at the ends 2/3, 1/3), and divided by their sum.",
        good_for="Smooth distributions on square wave: bells, slopes, data that are nearly even.",
        pitfalls="Every spike, step and edge is blurred over several categories, however many users there are: on "
        "such data its error stays many times that of others.",
        cost="many EM steps, each two products with the likelihood",
    ),
    "em_stopped": Card(
        formula="log f is a sum of cosines whose coefficients fall as 1/j or 1/j², over the places (24 of them) or "
        "over places stretched where a first curve has its mass (48); how rough, and which, is weighed by marginal "
        "likelihood in Newton steps. EM goes on from that curve while Σ f s², with s the relative change of a step, "
        "is above its mean under f, and makes one step more.",
        good_for="Square wave: the best choice there on average.",
        pitfalls="Needles between empty categories come out blurred unless many users and a large ε show them.",
        cost="up to 5 Newton steps of 48 unknowns, and some steps of EM",
    ),
    "norm_min": Card(
        formula="(e − min e) / Σ (e − min e).",
        good_for="Poisoned estimates of which nothing is known: the share that targets can reach is capped.",
        pitfalls="It pulls everything towards equal frequencies, so that an estimate that nobody attacked gets "
        "worse. A remedy: it is ranked with --threat only.",
        cost="one pass",
    ),
    "recover": Card(
        formula="Norm-Sub of (1 + η) e − η y, with η = share / (1 − share) and y = (1 − kq) / (p − q), spread evenly "
        "over the positive estimates.",
        good_for="Comparison with published results.",
        pitfalls="Fakes that all support the same few values are not evenly spread: it is hardly better than "
        "Norm-Sub, against the maximal gain or against random reports. Published for fakes that support one value "
        "each. A remedy: it is ranked with --threat only.",
        cost="one sort",
    ),
    "recover_known": Card(
        formula="Norm-Sub of (1 + η) e − η y, with η = share / (1 − share), y = −q / (p − q) for values that nobody "
        "promotes, and the targets sharing what is left of the sum (1 − kq) / (p − q).",
        good_for="Fake reports of known targets with GRR, where a report supports one value.",
        pitfalls="Where one fake report supports many targets at once it takes off a fraction of what they add. "
        "Where nobody attacks, the targets come out too low. A remedy: it needs --threat and --targets.",
        cost="one sort",
    ),
    "subtract_fakes": Card(
        formula="Norm-Sub of (1 + η) e − η y, with η = share / (1 − share) and y what the maximal gain attack adds: "
        "each fake report supports all targets, or as many as it has room for.",
        good_for="Fake reports of known targets, whatever the protocol: all that they add comes off.",
        pitfalls="The share has to be right: with fewer fakes than feared the targets come out too low, by up to the "
        "whole gain. A remedy: it needs --threat and --targets.",
        cost="one sort",
    ),
    "drop_fakes": Card(
        formula="Norm-Sub of the estimate without the reports that support all of a set of r values, if they are "
        "more than honest reports would be for any such set (false alarm 0.1 %).",
        good_for="Unary encodings and local hashing, when fake users promote several values at once: nearly nothing "
        "of the attack is left, and it costs next to nothing where nobody attacks.",
        pitfalls="It needs the reports, not their tally. One target alone, or fakes that each promote one or two of "
        "many, do not stand out. The simulation takes it that a search finds the set wherever it stands out.",
        cost="a search over the reports",
    ),
}
