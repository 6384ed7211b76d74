"""The table of methods, and the names of those that it gives and does not list: summaries of draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from simulator.methods.processor import PostProcessor

# Mean and median of the frequencies that may be behind an estimate, see `simulator.surrogate.summaries`
SUMMARIES = POSTERIOR_MEAN, POSTERIOR_MEDIAN = "posterior_mean", "posterior_median"


class Methods(dict[str, PostProcessor]):
    """The table of methods by name; it lists its members, and also returns the summaries by name.

    Attributes
    ----------
    summaries
        Makes the summaries, by name; they need the other methods, so they are there later.
    """

    def __init__(self, members: Mapping[str, PostProcessor]) -> None:
        super().__init__(members)
        self.summaries: Callable[[], Mapping[str, PostProcessor]] = dict

    def __missing__(self, name: str) -> PostProcessor:
        """Return the summary of this name; raises KeyError if it is none."""
        if name not in SUMMARIES:
            raise KeyError(name)
        return self.summaries()[name]
