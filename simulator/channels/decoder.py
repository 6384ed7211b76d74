"""The matrix that undoes a channel."""

from __future__ import annotations

import numpy as np

from simulator._types import FloatArray

WORST_CONDITION = 2**26.5  # times 1/sqrt(2^53), the least noise there can be: as large as all frequencies together


class SingularChannelError(ValueError):
    """The frequencies cannot be told from the outputs, or not in any number of reports that can be counted."""


def left_inverse(matrix: FloatArray, key: str) -> FloatArray:
    """Return the matrix ``(outputs, inputs)`` that undoes a channel: the inverse, or the pseudo-inverse.

    Raises SingularChannelError if there is none, or if it can magnify the noise in the shares of the outputs 2^26.5
    times.
    """
    inputs, outputs = matrix.shape
    if outputs < inputs:
        raise SingularChannelError(
            f"channel {key} has {inputs} inputs and only {outputs} outputs: its matrix has no inverse"
        )
    try:
        inverse = np.asarray(np.linalg.inv(matrix) if outputs == inputs else np.linalg.pinv(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise SingularChannelError(f"the matrix of channel {key} is singular: it has no inverse") from None
    magnified = condition_of(inverse)
    wrong = float(np.abs(matrix @ inverse - np.eye(inputs)).max())
    if not (magnified <= WORST_CONDITION and wrong < 1 / inputs):
        raise SingularChannelError(
            f"the matrix of channel {key} is singular or nearly so (condition {magnified:.3g}, at most "
            f"{WORST_CONDITION:.3g} is taken): its inverse would give nothing but magnified noise; use ibu"
        )
    inverse.flags.writeable = False
    return inverse


def condition_of(inverse: FloatArray) -> float:
    """Return the condition number in the maximum norm; that of a row-stochastic matrix itself is 1."""
    return float(np.abs(inverse).sum(axis=1).max())
