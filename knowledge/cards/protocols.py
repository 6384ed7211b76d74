"""Cards of the protocols."""

from __future__ import annotations

from knowledge.cards.card import Card

PROTOCOL_CARDS: dict[str, Card] = {
    "grr": Card(
        formula="Report the true value with probability p = e^ε / (e^ε + k − 1), each other value with q = p / e^ε.",
        good_for="Small domains (roughly k < 3 e^ε + 2) and large ε: there it has the lowest variance and the "
        "shortest report.",
        pitfalls="Its variance grows with k. With small k or a dominating value the variance depends on the "
        "frequency, so the variance at frequency 0 is not enough. A value that nobody reports has a negative "
        "estimate, not 0.",
        cost="⌈log2 k⌉ bits; server: n counts",
    ),
    "rappor": Card(
        formula="One bit per value; each is sent truthfully with p = e^(ε/2) / (e^(ε/2) + 1) and flipped otherwise.",
        good_for="Where every bit must be treated alike; at small ε it is close to OUE.",
        pitfalls="This is the one-time basic form: no Bloom filter, no permanent and instantaneous step. k bits per "
        "report.",
        cost="k bits; server: n × k additions",
    ),
    "oue": Card(
        formula="One bit per value: the own bit is 1 with p = 1/2, any other with q = 1 / (e^ε + 1).",
        good_for="Large domains at moderate ε where k bits per report are acceptable.",
        pitfalls="Far from optimal at large ε, because the own bit is lost half of the time whatever ε is. A client "
        "that draws the own bit twice leaks.",
        cost="k bits; server: n × k additions",
    ),
    "blh": Card(
        formula="A random hash to g = 2 symbols per user, then randomised response on it: p = e^ε / (e^ε + 1), q = "
        "1/2.",
        good_for="One-bit reports (beside the hash seed) at small ε.",
        pitfalls="At large ε its error stops falling, because a report never says more than half of the domain.",
        cost="33 bits; server: n × k hashes",
    ),
    "olh": Card(
        formula="As BLH with g = round(e^ε) + 1 symbols: p = e^ε / (e^ε + g − 1), q = 1/g.",
        good_for="Large domains: OUE's accuracy at a few bytes per report.",
        pitfalls="The server hashes every value for every report, n times k. A linear hash with a small prime is "
        "biased. Far from optimal at large ε.",
        cost="32 + ⌈log2 g⌉ bits; server: n × k hashes",
    ),
    "ss": Card(
        formula="Report ω values: the own one is among them with p = ω e^ε / (ω e^ε + k − ω), the rest is an even "
        "draw; ω is the better of the two integers around k / (e^ε + 1).",
        good_for="Lowest variance of all at any ε, if a report of ω values is acceptable; equals GRR where ω = 1.",
        pitfalls="Always rounding ω up costs up to 1.8 times the variance at small k. The counts of one report "
        "depend on one another, so drawing them independently is wrong.",
        cost="ω values or k bits; server: n × ω additions",
    ),
    "the": Card(
        formula="Laplace(2/ε) noise on every cell of the one-hot vector; a cell is sent as 1 if it exceeds θ: "
        "p = 1 − e^(ε(θ−1)/2) / 2, q = e^(−εθ/2) / 2, with e^(εθ/2) = (a + 1 + √(a² − a + 1)) / 3, a = e^(ε/2), "
        "which has the lowest variance.",
        good_for="Hardly ever: where clients add Laplace noise already and k bits per report are acceptable.",
        pitfalls="OUE has the lower variance with the same report. The k bits reveal less than ε allows (0.90 at ε = "
        "1, about ε/2 + 1 at large ε): what is paid for is not used.",
        cost="k bits; server: n × k additions",
    ),
    "she": Card(
        formula="Report the one-hot vector plus Laplace(2/ε) noise on every cell; the estimate is the mean report, "
        "of variance 8 / (n ε²) whatever the frequency.",
        good_for="A baseline: noise of one variance, independent between values, whatever the frequencies and k.",
        pitfalls="At least twice the variance of OUE at frequency 0, and 64 times its report; it falls with ε² only, "
        "that of most others exponentially. There are no p and q, and what is added up are real numbers, not counts. "
        "Floating-point Laplace noise leaks through its last digits.",
        cost="64 k bits; server: n × k additions",
    ),
    "hr": Card(
        formula="B blocks of b symbols, B the largest power of 2 below min(e^ε, 2k), b the smallest that is at least "
        "k/B + 1. A value is a row of the b x b Hadamard matrix in one block; the b/2 symbols where the row is 1 are "
        "e^ε times as likely as all others. e = (reports at 1 − reports at −1 in the block) / n · (e^ε − 1 + 2B) / "
        "(e^ε − 1).",
        good_for="Short reports (log2 of at most 6k symbols) without hashing, and a fast server: one Walsh-Hadamard "
        "transform.",
        pitfalls="For large k the variance is 1.06 times OUE's at ε = 0.5, 1.5 times at ε = 1, 1.7 at ε = 2 and 2 at "
        "ε = 3. With ε > ln 2 it depends on how many users hold values of the same block: next to a very frequent "
        "value it is up to (e^ε + 1) / 2 times as large, and what post-processing is told is a mean over "
        "assignments. Raw estimates do not sum to 1.",
        cost="⌈log2 B b⌉ bits; server: n counts, one transform",
    ),
    "pgr": Card(
        formula="Values and reports are points of the projective space of t coordinates over a field of prime order "
        "m; the c points orthogonal to the own value are e^ε times as likely as the others. With K points in all and "
        "d on two hyperplanes: p = e^ε c / (e^ε c + K − c), q = (e^ε d + c − d) / (e^ε c + K − c). m and t are "
        "chosen by the variance; value v is the point v s mod k, s being near 0.618 k, so that neighbours share "
        "little noise.",
        good_for="Nearly the variance of SS with a report of about log2 k bits, and none of OLH's n times k hashing.",
        pitfalls="m can only be a prime: for small ε up to 3 % more variance. Where k lies far between two spaces of "
        "that field the good one would have many times k points; very large ones are passed over, which costs up to "
        "1.7 times the variance of SS at k = 5,000 (ε of 6.4 to 7.3), 16 times at k = 250,000 (ε of 5.2 to 11.2). "
        "For k below 5 or so GRR does the same with fewer symbols.",
        cost="⌈log2 K⌉ bits; server: n counts, t K m additions",
    ),
    "tree": Card(
        formula="Draw one of the h = ⌈log2 k⌉ heights t evenly, whatever the value v, and report it with the node v "
        ">> t: by GRR if the height has fewer than 3 e^ε + 2 nodes, else by OUE. e: each Haar difference (left half "
        "of a node less its right half) is the mean of what all heights below it say, weighted by precision.",
        good_for="Ordered domains, for the distribution as a whole: cumulative shares, ranges, quantiles, emd. With "
        "tree_eb it is never far from the lowest emd, whatever the shape.",
        pitfalls="One user in h reports a leaf, so raw estimates of single categories have three to six times the "
        "variance of SS, and repairs that look at them one by one (norm_sub, norm_cut) lose what the levels know. A "
        "client that draws the height after a look at the value leaks. Where k is no power of 2 the last nodes are "
        "smaller.",
        cost="k + ⌈log2 h⌉ bits; server: n × 2 k / h additions",
    ),
    "tree_half": Card(
        formula="As tree, but half of the users are sent to the leaves beforehand; the others draw a height evenly.",
        good_for="Ordered domains where both matter: single categories, and sums over many neighbours.",
        pitfalls="Raw estimates of single categories have 1.4 to 2 times the variance of SS. For the distribution as "
        "a whole, tree has the lower error.",
        cost="k + ⌈log2 h⌉ bits; server: n × k (1/2 + 1/h) additions",
    ),
    "sw": Card(
        formula="Report one of the places 0 … k + 2b − 1: each of v … v + 2b with p = e^ε q, each other one with "
        "q = 1 / ((2b + 1) e^ε + k − 1); b = ⌊k (ε e^ε − e^ε + 1) / (2 e^ε (e^ε − 1 − ε))⌋.",
        good_for="Ordered domains and smooth distributions, in short reports. With em_stopped it has the lowest emd "
        "of all pairs on most real histograms.",
        pitfalls="It has no unbiased estimate: use em_stopped, or em or ems as published. Detail much narrower than "
        "2b + 1 places is lost in noise: a lone spike is spread over its neighbours, and errors of single categories "
        "can then be many times those of other protocols.",
        cost="⌈log2 (k + 2b)⌉ bits; server: n counts",
    ),
    "haar_hrr": Card(
        formula="The collector draws a height t = 1 … ⌈log2 k⌉ and a row of a Hadamard matrix for each user. The own "
        "value is +1 (left half) or −1 (right half) at its node of the height; the report is the sign of the row "
        "there, turned round with probability 1 / (e^ε + 1). e is rebuilt from all Haar differences.",
        good_for="Reports of one bit on an ordered domain. With BLH it gives away least of a single user's value.",
        pitfalls="The variance of a difference, (e^ε + 1)² / (e^ε − 1)² / users of its height, stops falling at "
        "large ε: a bit says no more. Raw estimates of single categories are noisy: use tree_eb or iso_cdf. If "
        "clients draw height and row themselves, they must report those too.",
        cost="1 bit; server: n counts, log2 k transforms",
    ),
}
