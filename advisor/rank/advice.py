"""Advice: a ranking with what people do with it."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from advisor.document.json import json_text
from advisor.document.page import fragment_html
from advisor.rank.apply import post_process
from advisor.rank.data import row_data
from advisor.rank.document import rank_document
from advisor.rank.result import Ranking

if TYPE_CHECKING:
    import pandas as pd


class Advice(Ranking):
    """The answer to one request for one metric; its attributes are those of `advisor.rank.result.Ranking`."""

    @classmethod
    def of(cls, ranking: Ranking) -> Self:
        """Return a ranking, and that of the next round, as advice."""
        values = {item.name: getattr(ranking, item.name) for item in fields(ranking)}
        later = ranking.next_round
        return cls(**values | {"next_round": None if later is None else cls.of(later)})

    def apply(self, estimate: ArrayLike, method: str | None = None) -> NDArray[np.float64]:
        """Return a raw frequency estimate ``(..., k)`` post-processed as advised.

        Parameters
        ----------
        estimate
            Raw frequencies, categories in the order of ``request.labels``, from `n` users and the protocol of the best
            row.
        method
            Another method than the best row's.

        Raises
        ------
        InputError
            If the shape does not fit, a value is not finite, or the method is unknown or not for this protocol.
        """
        return post_process(self, estimate, method)

    def to_frame(self) -> pd.DataFrame:
        """Return the ranking as a pandas data frame, one row for each recommendation."""
        import pandas as pd  # heavy

        return pd.DataFrame([row_data(row, self) for row in self.recommendations])

    def to_json(self) -> str:
        """Return the advice as one JSON object (see the shipped JSON Schema)."""
        return json_text(rank_document((self,)))

    def _repr_html_(self) -> str:
        return fragment_html(rank_document((self,)))
