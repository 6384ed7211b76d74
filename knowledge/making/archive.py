"""What is shipped of the finished cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from knowledge.cells import PLACES, Cells
from knowledge.making.cells import POPULATIONS, Measured
from knowledge.making.dataset import Dataset


def archive_of(measured: Sequence[Measured], data: Dataset) -> Cells:
    """Return the finished cells of a build, with features from the rows made of them."""
    settings = [one.cell for one in measured]
    shape = (len(settings), POPULATIONS)
    return Cells(
        index=np.array([cell.index for cell in settings]),
        k=np.array([cell.k for cell in settings]),
        n=np.array([cell.n for cell in settings]),
        epsilon=np.array([cell.epsilon for cell in settings]),
        protocol=np.array([cell.protocol for cell in settings]),
        family=np.array([cell.families for cell in settings]),
        parameter=data.parameter.reshape(shape),
        features=data.features[:, PLACES].reshape(*shape, -1),
        log_errors=np.log(np.maximum([one.error for one in measured], 1e-300)),
    )
