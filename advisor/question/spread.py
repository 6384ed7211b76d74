"""What the sum and the spread of a raw estimate tell of its noise: budgets that fit, and doubts about the one given."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from advisor.errors import InputError
from advisor.inputs.reports.settings import Parameters, protocol_with
from advisor.question.question import BUDGET
from simulator import FrequencyOracle, Noise, Protocol
from simulator._types import FloatArray

# Chances, on either side, of a mistake about an estimate that is as stated
REFUSED, WARNED, OUTSIDE = 1e-6, 1e-3, 0.025
FEWEST = 8  # categories from which values are looked at that lie close together
FEWEST_SUPPORTS = 10.0  # variance of a support count from which its noise is normal enough for that
SHARES = (0.5, 0.75, 0.9)  # of the values that may lie closer together than their noise allows
DIGITS = 12  # decimals to which values may have been rounded
SUM_SD, ROUNDING = 6.0, 0.01  # tolerance of a sum: in sd, and besides
WIDEST = 8.0  # ratio of two budgets between which a range still tells something
PRECISION = 1e-9  # relative: sums of figures that are not rounded further
BUDGETS = np.geomspace(0.01, 32, 1000)  # that are tried, 0.8 % apart


@dataclass(frozen=True)
class Origin:
    """What is stated of the collection behind an estimate or a tally."""

    protocol: str
    epsilon: float | None  # None: not stated; the refusal says which ones fit
    n: int  # users who reported
    parameters: Parameters = field(default_factory=dict)  # unusual ones, see `protocol_with`

    def oracle(self, k: int) -> Protocol:
        """Return the protocol for k categories, at ε = 1 if no budget is stated.

        Raises InputError for an impossible parameter.
        """
        return protocol_with(self.protocol, k, self.epsilon or 1.0, self.parameters)


def missing_budget(values: FloatArray, origin: Origin) -> InputError:
    """Return the refusal of an estimate without its budget, which names the budgets that fit, or why it names none.

    values: ``(k,)`` frequencies or counts.
    """
    protocol, n = origin.protocol, origin.n
    if len(values) < FEWEST:
        reason = f"{len(values)} categories are too few for their spread to tell"
    elif values.min() >= 0:
        reason = "no value is below 0: it was clipped or repaired, or has little noise, so its spread does not tell"
    else:
        frequencies = values if math.sqrt(float((values**2).mean())) <= 1 else values / n
        fitting = fitting_budgets(frequencies, origin)
        if fitting and fitting[1] <= WIDEST * fitting[0]:
            return InputError(
                f"--eps is missing: the spread of this estimate fits {in_words(*fitting)} with {protocol} and "
                f"n = {n:,}; give the ε of the reports, for example --eps {_round_number(*fitting)}: a wrong ε makes "
                "all figures wrong",
                ("--eps",),
            )
        reason = f"no ε fits its sum and its spread with {protocol} and n = {n:,}"
        reason = f"its spread tells no more than {in_words(*fitting)}" if fitting else reason
    return InputError(f"--eps is missing: give {BUDGET} ({reason})", ("--eps",))


def spread_doubt(
    values: FloatArray, noise: Noise, origin: Origin, *, lost: bool = False, counted: bool = False
) -> str | None:
    """Return a warning for raw frequencies ``(k,)`` that spread too much or too little for their noise.

    noise: of the stated origin.
    lost: whether values below 0 are not those of the collection, so that only too much is looked for.
    counted: whether they were estimated from counts with the stated budget: one that is too small spreads them.

    Raises InputError if it is out of the question that they are as stated.
    """
    # Of values that were repaired many may lie close together: no reason to refuse them.
    for chance, shares in ((REFUSED, ()),) if lost else ((REFUSED, ()), (WARNED, SHARES)):
        least, most = noise_test(values, chance, shares)(noise)
        if least <= 1 and (most >= 1 or lost):
            continue
        what, which = (
            ("more", "or n is smaller than given")
            if least > 1
            else ("less", "or n is larger than given, or it was smoothed")
        )
        which = f"is {'larger' if least > 1 else 'smaller'} than given" if counted else which
        fitting = None if lost or counted else fitting_budgets(values, origin)
        also = f"; with n = {noise.n:,} its spread fits {in_words(*fitting)}" if fitting else ""
        text = (
            f"the estimate spreads {what} than the noise of {origin.protocol} at ε = {origin.epsilon:g} and "
            f"n = {noise.n:,} explains (standard deviation {noise.sd:.3g}): eps {which}, or the protocol is another "
            f"one{also}"
        )
        if chance == REFUSED:
            raise InputError(f"{text}; check them")
        return f"{text}; check them first, the answer, its error and the intervals depend on it"
    return None


def fitting_budgets(values: FloatArray, origin: Origin) -> tuple[float, float] | None:
    """Return the lowest and the highest ε whose noise fits the spread of a raw estimate.

    Parameters
    ----------
    values
        ``(k,)`` raw frequencies.
    origin
        The stated origin of the estimate, by a protocol for categories, whose budget is left open.

    Returns
    -------
    The true ε is outside with a probability of 2.5 % at most, on either side. The second is infinite where there is no
    upper bound; None where no ε fits.
    """
    test, fitting = noise_test(values, OUTSIDE), []
    for epsilon in BUDGETS:
        try:
            oracle = cast(FrequencyOracle, replace(origin, epsilon=float(epsilon)).oracle(len(values)))
        except InputError:  # p and q that were given promise less
            continue
        noise = oracle.noise(origin.n)
        least, most = test(noise)
        reach = 0.0 if noise.sums_to_one else SUM_SD * (len(values) * noise.variance_at_zero) ** 0.5
        if least <= 1 <= most and abs(float(values.sum()) - 1) <= reach + ROUNDING:
            fitting.append(float(epsilon))
    if not fitting or len(fitting) == len(BUDGETS):
        return None
    return 0.0 if fitting[0] == BUDGETS[0] else fitting[0], math.inf if fitting[-1] == BUDGETS[-1] else fitting[-1]


def noise_test(
    values: FloatArray, chance: float, shares: tuple[float, ...] = SHARES
) -> Callable[[Noise], tuple[float, float]]:
    """Return a function of the noise of values ``(k,)``: by which factor its sd must be larger, and may be at most.

    Whatever the true frequencies are, the first is above 1, or the second below 1, with this chance at most.

    Were every true frequency 0, half of the values would lie below 0, and their squares, in units of the variance,
    would add up to a chi-squared variable of as many degrees of freedom. True frequencies above 0 only make this
    smaller, and the lowest value higher.

    Values lie apart at least as far as their noise does: so do their squares around their mean (chi-squared with k - 1
    degrees of freedom). And noise of standard deviation s puts a value into an interval of width w with probability
    P(|N| < w / 2s) at most, so the chance that some interval that begins at a value holds m of the k is at most
    k P(Bin(k - 1, that) >= m - 1). Here m are the shares of k, and w the narrowest such intervals.
    """
    from scipy.special import betaincinv, chdtri, erfinv, ndtri  # a tenth of what scipy.stats takes to load

    k, unit, ordered = len(values), rounding_unit(values), np.sort(values)
    below = np.minimum(values + unit / 2, 0.0)
    deepest, squares = -ndtri(chance / 2 / k), _most_squares(k, chance / 2)
    each = chance / (len(shares) + 1)
    sizes = [math.floor(share * k) + 1 for share in shares]
    spans = [float((ordered[m - 1 :] - ordered[: k - m + 1]).min()) + unit for m in sizes]
    least_spans = [2 * math.sqrt(2) * float(erfinv(betaincinv(m - 1, k - m + 1, each / k))) for m in sizes]
    around, least_around = float(values.std()), math.sqrt(float(chdtri(k - 1, 1 - each)) / k)

    def factors(noise: Noise) -> tuple[float, float]:
        at_zero, slope = noise.line(values)
        if not noise.sd:
            return 1.0, 1.0
        in_sd = below / np.sqrt(np.maximum(at_zero, 1e-300))
        least = max(-float(in_sd.min()) / deepest, math.sqrt(float(in_sd @ in_sd) / squares))
        normal = noise.q is None or noise.n * noise.q * (1 - noise.q) >= FEWEST_SUPPORTS
        smallest = float(np.min(at_zero)) + min(0.0, float(np.min(slope)))  # whatever the true frequency is
        if k < FEWEST or smallest <= 0 or not normal:
            return least, math.inf
        # Counts are whole numbers: what is alike may differ by less than one of them.
        step = 0.0 if noise.p is None or noise.q is None else 1 / (noise.n * (noise.p - noise.q))
        close = [(span + step) / fewest for span, fewest in zip(spans, least_spans, strict=True)]
        return least, min(
            [(around + unit) / least_around / math.sqrt(noise.mean_variance(k)), *(close / np.sqrt(smallest))]
        )

    return factors


def sum_doubt(values: FloatArray, noise: Noise, protocol: str) -> str | None:
    """Return a warning for an estimate of a protocol whose raw estimates sum to 1, if this one does not.

    values: ``(k,)`` as they were given, frequencies or counts.

    How far a sum may be off is what the digits of the values leave open: half a unit of the last one for each, of as
    many decimals, or of as many significant digits, as all have.
    """
    if not noise.sums_to_one:
        return None
    total = float(values.sum())
    whole = float(noise.n) if abs(total / noise.n - 1) < abs(total - 1) else 1.0
    sizes = 10.0 ** np.floor(np.log10(np.abs(values[values != 0])))
    units = rounding_unit(values), rounding_unit(values[values != 0] / sizes)
    rounding = 0.5 * max(len(values) * units[0], float(sizes.sum()) * units[1])
    if abs(total - whole) <= rounding + PRECISION * whole:
        return None
    return (
        f"a raw estimate of {protocol} sums to exactly {whole:,.0f}, and this one to {total:,.7g}: it was changed "
        "before, a category is missing, or the protocol or n is another one; the answer is less sure"
    )


def rounding_unit(values: FloatArray) -> float:
    """Return the unit of the last decimal to which all values were rounded, 0 if they were not.

    >>> rounding_unit(np.array([0.5, 0.25])), rounding_unit(np.array([1 / 3, 2 / 3]))
    (0.01, 0.0)
    """
    units = (10.0**-at for at in range(DIGITS + 1) if np.allclose(values, values.round(at), rtol=0, atol=1e-14))
    return next(units, 0.0)


def in_words(low: float, high: float) -> str:
    """Return a range of budgets, rounded outwards.

    >>> in_words(0.9234, 1.2345), in_words(0.9234, math.inf), in_words(0.0, 1.2345)
    ('ε from 0.92 to 1.3', 'ε of at least 0.92', 'ε of at most 1.3')
    """
    ends = []
    for end, outwards, allowance in ((low, math.floor, 1e-6), (high, math.ceil, -1e-6)):
        unit = 10.0 ** (math.floor(math.log10(end)) - 1) if 0 < end < math.inf else 1.0
        ends.append(f"{unit * outwards(end / unit + allowance):.2g}" if end < math.inf else "")
    if not low:
        return f"ε of at most {ends[1]}"
    return f"ε from {ends[0]} to {ends[1]}" if ends[1] else f"ε of at least {ends[0]}"


def _round_number(low: float, high: float) -> str:
    """Return the shortest number in the middle of a range.

    >>> _round_number(0.92, 1.23), _round_number(1.02, 1.09)
    ('1', '1.05')
    """
    middle = math.sqrt(low * high)
    near = (f"{middle:.{digits}g}" for digits in (1, 2, 3))
    return next((text for text in near if low <= float(text) <= high), f"{middle:.4g}")


def _most_squares(k: int, chance: float) -> float:
    """Return what the squares below 0 of k standard normal numbers add up to at most, but for this chance."""
    from scipy.special import chdtrc, gammaln

    below = np.arange(1, k + 1)
    weights = np.exp(gammaln(k + 1) - gammaln(below + 1) - gammaln(k - below + 1) - k * math.log(2))  # binomial
    low, high = 0.0, 4.0 * k + 100
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if float((weights * chdtrc(below, middle)).sum()) > chance else (low, middle)
    return high
