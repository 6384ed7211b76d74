"""What has been collected already: a raw estimate and the protocol it came from, checked against each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.inputs.labels import by_value, check_domain, value_of
from advisor.inputs.numbers import all_numbers
from advisor.question.request import Collected
from simulator import PROTOCOLS, Noise
from simulator._normal import normal_quantile

FloatArray = NDArray[np.float64]
CHANCE = 1e-6  # how rarely an estimate that is as it is said to be may be refused
UNLIKELY = 1e-3  # how rarely a raw estimate may be taken for a repaired one, which is a warning only
LOW_NEGATIVE = 1 / 3  # of values under half an sd of the noise at least this share is negative, for truths up to 2 sd
COARSE = 4  # digits up to which values may sum to exactly 1 because they were rounded
SUM_SD = 6.0  # how many sd a sum may be off
FEWEST_FOR_SPREAD = 8  # with fewer categories whole counts can be equal by chance
ROUNDING = 0.01  # how far a sum may be off because the values were rounded


def collect(
    labels: Sequence[str],
    values: FloatArray,
    *,
    protocol: str,
    epsilon: float,
    n: int,
    k: int | None = None,
    domain: Sequence[str] | None = None,
    ordered: bool | None = None,
    assumptions: Sequence[str] = (),
    warnings: Sequence[str] = (),
) -> Collected:
    """Check an estimate against the protocol, the budget and the number of users that it is said to come from.

    Parameters
    ----------
    labels, values
        One label and one frequency or count per category; which of the two, their sum tells.
    protocol, epsilon, n
        What the estimate is said to come from.
    k, domain
        The domain size, and all labels in their order, if they are known.
    ordered
        Whether the order of the categories means something; None: that of numbers does.

    Raises
    ------
    InputError
        If the estimate cannot come from there, or k or the domain do not fit.
    """
    said, worries = list(assumptions), list(warnings)
    size = len(values)
    if k is not None and k != size:
        raise InputError(
            f"the estimate has {size:,} categories, k = {k:,} was given: an estimate needs a value for every category "
            "of the domain, those nobody holds included"
        )
    names, arranged, numeric = _arranged(labels, values, domain)
    noise = PROTOCOLS[protocol](size, epsilon).noise(n)
    frequencies, unit = _as_frequencies(arranged, noise)
    said.append(unit)
    cut = _cut_note(frequencies, noise)
    if cut is not None:
        worries.append(cut)
    _check_spread(frequencies, noise, cut=cut is not None)
    repaired = _repaired_note(frequencies, noise) if cut is None else None
    if repaired is not None:
        worries.append(repaired)
    is_ordered = numeric if ordered is None else ordered
    return Collected(protocol, n, names, frequencies, is_ordered, tuple(said), tuple(worries))


def _arranged(
    labels: Sequence[str], values: FloatArray, domain: Sequence[str] | None
) -> tuple[tuple[str, ...], FloatArray, bool]:
    """Return labels and values in the order of the domain, or of the numbers; and whether they are numbers."""
    numeric = all_numbers(labels)
    if numeric and len({value_of(label) for label in labels}) < len(labels):
        raise InputError("the estimate has two values for one category: some labels are the same number")
    if domain is not None:
        order = list(check_domain(domain))
        if numeric and all_numbers(order):
            spelled = {value_of(label): label for label in labels}
            order = [spelled.get(value_of(label), label) for label in order]
        missing = [label for label in order if label not in set(labels)]
        extra = [label for label in labels if label not in set(order)]
        if missing or extra:
            what, label = ("has no value for", missing[0]) if missing else ("has a value for", extra[0])
            where = "of the domain" if missing else ", which is not in the domain"
            raise InputError(f"the estimate {what} {label!r} {where}".replace(" ,", ",") + "; both must name the same")
    else:
        order = by_value(labels) if numeric else list(labels)
    place = {label: at for at, label in enumerate(labels)}
    return tuple(order), values[[place[label] for label in order]], numeric


def _as_frequencies(values: FloatArray, noise: Noise) -> tuple[FloatArray, str]:
    """Tell frequencies from counts by their sum, and where it fits both by their spread; return frequencies."""
    total, k, n = float(values.sum()), len(values), noise.n
    reach = 0.0 if noise.sums_to_one else SUM_SD * (k * noise.variance_at_zero + noise.variance_slope) ** 0.5
    frequencies = abs(total - 1) <= reach + ROUNDING
    counts = abs(total / n - 1) <= reach + ROUNDING + k / n
    if frequencies and counts and n > 1:
        spread = max(float(values.std()), 1e-300)
        expected = (noise.variance_at_zero + noise.variance_slope / k) ** 0.5
        frequencies = abs(np.log(spread / expected)) <= abs(np.log(spread / expected / n))
    if frequencies:
        return values, f"the values are frequencies (they sum to {total:.4g})"
    if counts:
        return values / n, f"the values are counts (they sum to {total:,.6g}, of n = {n:,} users)"
    hint = "; these look like percentages: divide them by 100" if abs(total / 100 - 1) <= reach + ROUNDING else ""
    raise InputError(
        f"the estimate sums to {total:,.6g}, which is neither about 1 (frequencies) nor about n = {n:,} (counts), "
        f"within ±{100 * (reach + ROUNDING):.2g} %: check n, eps and the protocol, that no category is "
        f"missing and that the values are not rounded too far{hint}"
    )


def _cut_note(values: FloatArray, noise: Noise) -> str | None:
    """Return a warning for an estimate that was clipped (and renormalised) before, or None."""
    k, lowest = len(values), float(values.min())
    alike = int((values == lowest).sum())
    if lowest == 0 and alike == k:
        raise InputError("the estimate is 0 for every category: nothing was collected, or it is not an estimate")
    if lowest < 0 or alike < max(2 if lowest == 0 else 3, k // 50) or alike == k:
        return None
    one = abs(float(values.sum()) - 1) < 1e-3
    how = "clipped at 0 and made to sum to 1" if one and not noise.sums_to_one else "clipped at 0"
    return (
        f"this is not a raw estimate: it was {how} before ({alike:,} of {k:,} values are exactly {lowest:.3g}, none is "
        "negative); what was cut off is lost, so the answer and its confidence are less sure: give the unbiased "
        "estimate if you can"
    )


def _repaired_note(values: FloatArray, noise: Noise) -> str | None:
    """Return a warning for an estimate without zeros that was repaired before, or None."""
    near = int((values < noise.sd / 2).sum())
    if values.min() >= 0 and (1 - LOW_NEGATIVE) ** near < UNLIKELY:
        return (
            f"this hardly is a raw estimate: none of its {near:,} values under half an sd of the noise "
            f"({noise.sd / 2:.3g}) is negative; what was cut off is lost, so the answer and its confidence are less "
            "sure: give the unbiased estimate if you can"
        )
    free = not noise.sums_to_one and not noise.cancels
    reach = (len(values) * noise.variance_at_zero + noise.variance_slope) ** 0.5
    coarse = bool(np.allclose(values, values.round(COARSE), rtol=0, atol=1e-12))
    if free and not coarse and abs(float(values.sum()) - 1) < CHANCE * reach:
        return (
            f"this hardly is a raw estimate: it sums to 1 exactly, where chance leaves {reach:.2g} more or less; it "
            "was renormalised before, so the answer is less sure: give the unbiased estimate if you can"
        )
    return None


def _check_spread(values: FloatArray, noise: Noise, *, cut: bool) -> None:
    """Raise InputError if the estimate spreads more or less than its noise allows, chance aside."""
    k, sd = len(values), noise.sd
    lowest = float(values.min())
    allowed = normal_quantile(1 - CHANCE / k)
    below = np.minimum(values, 0.0)
    squares = float((below**2).sum()) / sd**2 if sd else 0.0
    # Were every true frequency 0, the negative half of the noise would have this mean and variance.
    most = k / 2 + SUM_SD * (1.25 * k) ** 0.5 + allowed**2
    if sd and (lowest < -allowed * sd - ROUNDING / k or squares > most):
        far, reach, what = -lowest / sd, allowed, f"its lowest value, {lowest:.4g}, is"
        if far <= reach:
            far, reach, what = squares**0.5, most**0.5, "its values below 0, squared and added up, are together"
        raise InputError(
            f"the estimate spreads more than the noise of this protocol at this eps and n: {what} {far:.1f} sd of the "
            f"noise ({sd:.3g}) below 0, and {reach:.1f} can happen; check eps, n and the protocol"
        )
    if cut or k < FEWEST_FOR_SPREAD:
        return
    from scipy.special import gammaincinv  # imported when used

    mean_variance = noise.variance_at_zero + noise.variance_slope / k
    spread = float(((values - values.mean()) ** 2).sum())
    least = 2 * float(gammaincinv((k - 1) / 2, CHANCE)) * mean_variance
    if spread < least:
        raise InputError(
            f"the estimate spreads less than noise alone would: its standard deviation is {(spread / k) ** 0.5:.3g}, "
            f"that of the noise {mean_variance**0.5:.3g}; it has been smoothed or post-processed before, or eps or n "
            "is larger than given"
        )
