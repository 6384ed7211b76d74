"""The result of a collection: an estimate or a tally, checked against its protocol."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from advisor.errors import InputError
from advisor.inputs.domain import Arrangement, arranged, given_order
from advisor.inputs.estimates import RawEstimates
from advisor.inputs.labels import by_value, check_domain, look_alikes, shortened, value_of
from advisor.inputs.numbers import all_numbers
from advisor.inputs.reports import RawReports
from advisor.inputs.reports.plausibility import implausible
from advisor.inputs.reports.settings import numbers_note
from advisor.question.request import Collected
from advisor.question.spread import ROUNDING, SUM_SD, Origin, missing_budget, spread_doubt, sum_doubt
from simulator import FrequencyOracle, Noise, Observed, Tally
from simulator._types import FloatArray
from simulator.domain import Domain
from simulator.foreign import REGISTERED
from simulator.methods import observe
from simulator.protocols.hadamard import HadamardResponse
from simulator.seeding import rng_for

NORMAL = NormalDist()
CHANCE = 1e-6  # probability of refusing an estimate that is as stated
UNLIKELY = 1e-3  # probability of mistaking a raw estimate for a repaired one, which only causes a warning
LOW_NEGATIVE = 1 / 3  # minimum share of negative values among values below half an sd of noise, for truths up to 2 sd
TIED = 30  # sd of a count of reports from which three that are lowest and equal are no chance, but 1 in 1000 times
COARSE = 4  # maximum of digits with which values may sum to exactly 1 because of rounding


def collect(
    read: RawEstimates,
    origin: Origin,
    *,
    k: int | None = None,
    domain: Sequence[str] | None = None,
    ordered: bool | None = None,
    raw: bool = False,
) -> Collected:
    """Check an estimate against the stated protocol, budget and number of users.

    Parameters
    ----------
    read
        One label and one frequency or count per category; the sum shows whether they are frequencies or counts.
    origin
        The stated origin of the estimate; without the budget, the refusal says which ones fit.
    k, domain
        The domain size, and all labels in their order, if they are known.
    ordered
        Whether the order of the categories means something; None: only for numbers that do not merely count categories.
    raw
        Whether this package made the estimate from reports, so that it was not rounded, cut or repaired.

    Raises
    ------
    InputError
        If the estimate cannot have this origin, or k or the domain do not fit.
    """
    labels, values, worries = read.labels, read.values, list(read.warnings)
    numbered = numbers_note(labels) if not read.labelled and ordered is None and domain is None else ()
    notes = [*read.assumptions, *numbered]
    size, protocol, n = len(values), origin.protocol, origin.n
    if k is not None and k != size:
        raise InputError(
            f"the estimate has {size:,} categories, k = {k:,} was given: an estimate needs a value for every category "
            "of the domain, those nobody holds included"
        )
    order = _arranged(labels, domain, False if numbered else ordered)
    names, place_of = order.labels, {label: at for at, label in enumerate(labels)}
    placed = values[[place_of[label] for label in names]]
    notes += [order.note] if order.note and order.note not in notes else []
    worries += [text for text in (*order.warnings, *look_alikes(labels)) if text not in worries]
    oracle = origin.oracle(size)
    if not isinstance(oracle, FrequencyOracle):
        raise InputError(
            f"an estimate of {protocol} is not enough, its tally is needed: "
            + (
                "estimate(simulator.Tally(counts, n), ...) in Python"
                if protocol in REGISTERED
                else f"give the reports, for example ldp-advise reports reports.csv --protocol {protocol} "
                f"--eps {origin.epsilon or 1:g} --k {size} (in Python: the tally)"
            )
        )
    if not raw and domain is None and getattr(oracle, "blocks", 1) > 1:
        notes.append("values are in blocks by the order of the rows (--domain says that of the clients)")
    if origin.epsilon is None:
        raise missing_budget(placed, origin)
    noise = oracle.noise(n)
    frequencies, unit = _as_frequencies(placed, noise, raw=raw)
    notes.append(unit)
    rounded = None if raw else _rounded_note(frequencies, noise)
    given, cut = None, None
    undone = None if raw or rounded or _has_rounded_negatives(frequencies) else clipping_of(frequencies, noise)
    if undone is not None:
        given = frequencies
        frequencies = restored(given, noise, undone)
        cut = _clipped_note(given, undone)
    lost = None if raw else rounded or cut or _cut_note(frequencies, noise)
    worry = None if raw else lost or _repaired_note(frequencies, noise)
    doubts = [worry, spread_doubt(frequencies, noise, origin, lost=lost is not None, counted=raw)]
    doubts += [None if cut else sum_doubt(values, noise, protocol)]
    worries += [doubt for doubt in doubts if doubt is not None]
    observed = Observed(frequencies, noise, domain=Domain(order.ordered))
    return Collected(oracle, n, names, observed, tuple(notes), tuple(worries), given)


def collect_tally(
    read: RawReports, origin: Origin, *, domain: Sequence[str] | None = None, ordered: bool | None = None
) -> Collected:
    """Return the tally of reports with the labels of the categories, in the order of the clients.

    For a protocol for categories only its estimate is kept, see `collect`. The tally says how many users reported.

    Raises InputError if there are no reports, as `collect` does, and if a needed order is missing.
    """
    tally = read.tally
    if tally.n < 1:
        raise InputError("the tally holds no report: n must be at least 1")
    oracle = origin.oracle(len(read.labels))
    if isinstance(oracle, FrequencyOracle):
        estimate = oracle.estimate(tally.counts, tally.n)
        estimated = RawEstimates(read.labels, estimate, read.assumptions, read.warnings, labelled=False)
        return collect(estimated, replace(origin, n=tally.n), domain=domain, ordered=ordered, raw=True)
    if ordered is False:
        raise InputError(f"protocol {oracle.key} needs an ordered domain: leave out --unordered")
    none = () if oracle.offers("estimate") else (f"{oracle.key} has no raw estimate, and no intervals from one",)
    observed = observe(oracle, tally, Domain(ordered=True))
    warnings = (*read.warnings, *look_alikes(read.labels))
    return Collected(oracle, tally.n, read.labels, observed, (*read.assumptions, *none), warnings)


def tally_in_memory(labels: tuple[str, ...], tally: Tally, origin: Origin, *, ordered: bool | None = None) -> Collected:
    """Check a tally, and return it as `collect_tally` does.

    Raises InputError if it cannot be a tally of the protocol.
    """
    k, protocol, counts = len(labels), origin.protocol, np.asarray(tally.counts)
    oracle = origin.oracle(k)
    size = oracle.sample_tally(np.bincount([0], minlength=k), np.random.default_rng(0)).counts.shape
    if counts.shape != size or counts.dtype.kind not in "iuf" or not np.isfinite(counts).all():
        raise InputError(f"a tally of {protocol} with k = {k} holds {size[0]} counts, got shape {counts.shape}")
    # Reports support values, and never contradict any, but those of hr
    lowest = -tally.n if isinstance(oracle, HadamardResponse) else 0
    if counts.dtype.kind != "f" and counts.min() < lowest:
        raise InputError(f"a tally of {protocol} counts reports, got {counts.min()}: a count is at least {lowest}")
    odd = implausible(tally, oracle) if tally.n > 0 else ()
    return collect_tally(RawReports(labels, tally, (), odd), origin, ordered=ordered)


def _arranged(labels: Sequence[str], domain: Sequence[str] | None, ordered: bool | None) -> Arrangement:
    """Return labels in the order of the domain, otherwise in their conventional order, and whether they are ordered.

    Raises InputError if two labels are the same number, or if the domain has other labels.
    """
    numeric = all_numbers(labels)
    if numeric and len({value_of(label) for label in labels}) < len(labels):
        raise InputError("the estimate has two values for one category: some labels are the same number")
    if domain is None:
        if not numeric:
            return arranged(labels, from_file=True, ordered=ordered)
        return Arrangement(tuple(by_value(labels)), ordered is not False, "")
    order = list(check_domain(domain))
    if numeric and all_numbers(order):
        spelled = {value_of(label): label for label in labels}
        order = [spelled.get(value_of(label), label) for label in order]
    missing = [label for label in order if label not in set(labels)]
    extra = [label for label in labels if label not in set(order)]
    if missing or extra:
        what, label = ("has no value for", missing[0]) if missing else ("has a value for", extra[0])
        where = "of the domain" if missing else ", which is not in the domain"
        raise InputError(
            f"the estimate {what} {shortened(label)} {where}".replace(" ,", ",") + "; both must name the same"
        )
    if ordered is None and numeric and by_value(order) not in (order, order[::-1]):
        note = "the numbers of the domain neither rise nor fall: no order between them (--ordered says otherwise)"
        return Arrangement(tuple(order), ordered=False, note=note)
    is_ordered = numeric or given_order(order) if ordered is None else ordered
    return Arrangement(tuple(order), is_ordered, "")


def _as_frequencies(values: FloatArray, noise: Noise, *, raw: bool) -> tuple[FloatArray, str]:
    """Return frequencies; the sum, or if it fits both the spread, decides between frequencies and counts."""
    total, k, n = float(values.sum()), len(values), noise.n
    reach = 0.0 if noise.sums_to_one else SUM_SD * (k * noise.variance_at_zero + noise.variance_slope) ** 0.5
    clipped = _zeros(values, noise) > 0
    reach += SUM_SD * noise.sd * k**0.5 * clipped

    def sums_up(shares: FloatArray, slack: float) -> bool:
        # No values below 0 offset the rest where they were clipped.
        sums = (1.0, 1 + _cut_off(shares, noise, furthest=0.0)) if clipped else (1.0,)
        return any(abs(float(shares.sum()) - expected_sum) <= reach + ROUNDING + slack for expected_sum in sums)

    frequencies, counts = sums_up(values, 0.0), not raw and sums_up(values / n, k / n)
    if frequencies and counts and n > 1:
        spread = max(float(values.std()), 1e-300)
        expected = (noise.variance_at_zero + noise.variance_slope / k) ** 0.5
        frequencies = abs(np.log(spread / expected)) <= abs(np.log(spread / expected / n))
    if frequencies:
        return values, f"the values are frequencies (they sum to {total:.4g})"
    if counts:
        return values / n, f"the values are counts (they sum to {total:,.6g}, of n = {n:,} users)"
    within = f"within ±{100 * (reach + ROUNDING):.2g} %"
    if raw:
        raise InputError(
            f"the estimate of the reports sums to {total:,.4g}, not to 1 {within}: check the protocol, eps, k"
        )
    hint = "; these look like percentages: divide them by 100" if abs(total / 100 - 1) <= reach + ROUNDING else ""
    raise InputError(
        f"the estimate sums to {total:,.6g}, which is neither about 1 (frequencies) nor about n = {n:,} (counts), "
        f"{within}: check n, eps and the protocol, that no category is missing and that the values are not rounded too "
        f"far{hint}"
    )


def _rounded_note(values: FloatArray, noise: Noise) -> str | None:
    """Return a warning if the estimate is rounded so coarsely that its noise is lost, else None."""
    digits = _decimals(values)
    if digits is None or not values.any():
        return None
    half = 0.5 * 10.0**-digits
    if half <= max(noise.sd, 0.5 / noise.n):
        return None
    zeros = int((values == 0).sum())
    visible = math.erfc(half / noise.sd / 2**0.5) / 2 if noise.sd else 0.0
    # With so many zeros, some value would be negative if nothing had been clipped.
    if values.min() == 0 and not np.signbit(values).any() and (1 - visible) ** zeros < UNLIKELY:
        return None
    return _not_raw(f"it is rounded to {digits} decimals, further than its noise reaches (sd {noise.sd:.2g})")


def _not_raw(reason: str) -> str:
    return f"this is not a raw estimate: {reason}; the answer is less sure, give the unbiased estimate if you can"


def _decimals(values: FloatArray) -> int | None:
    """Return the number of decimals to which all values are rounded, None if it is more than `COARSE`."""
    return next((at for at in range(COARSE + 1) if np.allclose(values, values.round(at), rtol=0, atol=1e-12)), None)


def _has_rounded_negatives(values: FloatArray) -> bool:
    """Return whether there is a rounded negative value "-0.00"; "-0.0" among full digits is a product with 0."""
    return bool(np.signbit(values).any()) and _decimals(values) is not None


def _clipped_note(given: FloatArray, cut: Clipping) -> str:
    """Return a warning that the estimate was clipped, and how it was made to sum to 1."""
    zeros = int((given == 0).sum())
    how = f" and made to sum to 1, from about {cut.scale:.4g}, which is undone" if cut.scale != 1 else ""
    how = f", with {cut.shift:.2g} taken off each value so that it sums to 1, which is undone" if cut.shift else how
    return _not_raw(
        f"it was clipped at 0{how} ({zeros:,} of {len(given):,} values are exactly 0, none is negative), so only "
        "methods that need no negative values compete"
    )


def _cut_note(values: FloatArray, noise: Noise) -> str | None:
    """Return a warning for an estimate that was cut or repaired before, or None."""
    k, lowest = len(values), float(values.min())
    alike = int((values == lowest).sum())
    if lowest == 0 and alike == k:
        raise InputError("the estimate is 0 for every category: nothing was collected, or it is not an estimate")
    if lowest < 0 or _has_rounded_negatives(values) or alike < max(2 if lowest == 0 else 3, k // 50) or alike == k:
        return None
    if lowest > 0 and noise.p and noise.q and noise.sd < TIED / (noise.n * (noise.p - noise.q)):
        return None
    return _not_raw(
        f"it was cut or repaired before ({alike:,} of {k:,} values are exactly {abs(lowest):.3g}, none is negative)"
    )


def _repaired_note(values: FloatArray, noise: Noise) -> str | None:
    """Return a warning for an estimate without zeros that was repaired before, or None."""
    sd_at_zero = np.sqrt(noise.line(values)[0])  # of the noise of each value, were its true frequency 0
    near = int((values < sd_at_zero / 2).sum())
    if values.min() >= 0 and (1 - LOW_NEGATIVE) ** near < UNLIKELY:
        return _not_raw(f"none of its {near:,} values under half an sd of the noise ({noise.sd / 2:.3g}) is negative")
    # Of two categories, with bits that are flipped as often either way, as many 1s as reports are nothing special.
    usual = len(values) == 2 and noise.p is not None and noise.q is not None and math.isclose(noise.p + noise.q, 1)
    free = not noise.sums_to_one and not noise.cancels and not usual
    reach = (len(values) * noise.variance_at_zero + noise.variance_slope) ** 0.5
    if free and _decimals(values) is None and abs(float(values.sum()) - 1) < CHANCE * reach:
        return _not_raw(f"it sums to 1 exactly, where chance leaves {reach:.2g} more or less")
    return None


# Methods that need no values below 0: the positive part gives the same result (for `power` within 0.024 sd)
POSITIVE_PART = frozenset({"base_pos", "norm_mul", "norm_sub", "norm_cut", "base_cut", "mle_apx", "power", "power_ns"})
FARTHEST = 3.0  # maximum of the assumed mean of rare categories, in sd of the noise
ONE = 1e-3  # tolerance of a sum around 1
CHANCE_SD = 3.0  # tolerance in sd for more than half of the values below 0
RARE = 4.0  # sd of the noise up to which a value may be that of a rare category
DIVIDED = 1.2  # by how much rare values lie further out than half way, from which on they were not divided
TELLING = 24  # rare values at least, whose mean tells: its sd is then 15 %, half of what a division by 1.3 makes


class Clipping(NamedTuple):
    """How a raw estimate was clipped at 0: the rest of it divided by a scale, or each value less a shift."""

    scale: float = 1.0
    shift: float = 0.0


def clipping_of(values: FloatArray, noise: Noise) -> Clipping | None:
    """Return how an estimate ``(k,)`` was clipped, or None: it has many exact zeros, and no value below 0.

    True frequencies are not negative, so at most half of the rare categories of a raw estimate are, up to chance: with
    more zeros something was subtracted, or it was repaired in another way. That a sum of 1 is from division shows in
    rare values that lie closer to 0 than their noise does: the mean of what is beyond a given share of a normal law is
    known. Where noise adds little to the sum, or rare values are too few to tell, a shift moves frequent values less.
    """
    zeros, rare = _zeros(values, noise), values[values <= RARE * noise.sd]
    if not zeros:
        return None
    most = len(rare) / 2 + CHANCE_SD * math.sqrt(len(rare)) / 2
    if abs(float(values.sum()) - 1) >= ONE:
        return Clipping() if zeros <= most else None
    beyond, place = rare[rare > 0], _place(values, noise)
    scale, shift = 1 + _cut_off(values, noise, furthest=0.0), _cut_off(values, noise) / len(values)
    usual = noise.sd * (NORMAL.pdf(place) / NORMAL.cdf(-place) - place)
    if len(beyond) >= TELLING and beyond.mean() < DIVIDED * usual / math.sqrt(scale) and zeros <= most:
        return Clipping(scale=scale)
    # Above a threshold values are no longer next to 0: that is another repair.
    return Clipping(shift=shift) if not len(beyond) or beyond.min() < beyond.mean() / 2 or zeros <= most else None


def _zeros(values: FloatArray, noise: Noise) -> int:
    """Return how many values were clipped to 0; 0 if there are hardly any, or values below 0 as well."""
    zeros, k, digits = int((values == 0).sum()), len(values), _decimals(values)
    unit = 1 if values.sum() < noise.n / 2 else noise.n  # frequencies, or counts
    step = 0.0 if digits is None else 10.0**-digits / unit
    # A single one may be rounded to 0, where the sum does not tell, or be left when the rest was made to sum to 1.
    rounded = not noise.sums_to_one and k * step > UNLIKELY * noise.sd * math.sqrt(2 * math.pi)
    fewest = 2 if rounded or values.sum() / unit < 1 + ONE + k * step else 1
    return zeros if values.min() == 0 and max(fewest, k // 50) <= zeros < k else 0


def _place(values: FloatArray, noise: Noise) -> float:
    """Return how many sd above the common frequency of rare categories they were cut: their share of zeros tells."""
    zeros, rare = int((values == 0).sum()), int((values <= RARE * noise.sd).sum())
    return max(NORMAL.inv_cdf(min(zeros, rare - 0.5) / rare), -FARTHEST)


def _cut_off(values: FloatArray, noise: Noise, furthest: float = math.inf) -> float:
    """Return what a raw estimate of sum 1 lost below the place where it was cut, by which the rest is more than 1.

    furthest: of that place, in sd above the frequency of rare categories: at 0 it is not above it.
    """
    zeros, rare = int((values == 0).sum()), int((values <= RARE * noise.sd).sum())
    place = min(_place(values, noise), furthest)
    return noise.sd * (rare * NORMAL.pdf(place) + zeros * place)


def restored(values: FloatArray, noise: Noise, cut: Clipping) -> FloatArray:
    """Return a raw estimate ``(k,)`` that may have been clipped to these frequencies.

    Zeros become draws of the noise below the place where it was cut, with seed 0.
    """
    from scipy.special import ndtr, ndtri  # imported when used

    zeros = values == 0
    place = _place(values, noise) if cut.shift else min(_place(values, noise), 0.0)
    below = rng_for(0, "clipped").random(int(zeros.sum())) * ndtr(place)
    result = cut.scale * values + cut.shift
    result[zeros] = cut.shift + noise.sd * (ndtri(below) - place)
    return result
