"""The verdict on the pair that is named: whether a collection with it says more than no data at all.

An answer without data says that all categories are equally frequent, or 0 for all of them, whichever errs less.
"""

from __future__ import annotations

WORTH_IT, MARGINAL, USELESS = "worth_it", "marginal", "no_better_than_no_data"
WORDS = {WORTH_IT: "clearly better", MARGINAL: "somewhat better", USELESS: "no better"}  # than an answer without data
ENOUGH = 0.5  # of the error without data: from there on down a collection is worth it


def verdict_of(error: float, without_data: float | None, *, below: bool) -> str:
    """Return the verdict on an error.

    ``"worth_it"``: at most half of the error without data, and surely below it. ``"no_better_than_no_data"``: more than
    half of it, and its 95 % interval reaches it. ``"marginal"``: all between.

    without_data: None where no finite error is reached without data.
    below: whether the 95 % interval of the error is below the error without data.
    """
    small = without_data is None or error <= ENOUGH * without_data
    if small and below:
        return WORTH_IT
    return MARGINAL if small or below else USELESS
