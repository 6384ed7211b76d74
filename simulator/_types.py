"""Array types used in signatures; the last axis is always the category."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = "NDArray[np.float64]"
RealArray: TypeAlias = "NDArray[Any]"  # of single or double precision, which the result has too
SingleArray: TypeAlias = "NDArray[np.float32]"
IntArray: TypeAlias = "NDArray[np.int64]"
Reports: TypeAlias = "NDArray[Any]"
