"""The table of methods, and those that it gives and does not list: summaries of draws, and other parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from simulator.methods.parameters import with_parameters
from simulator.methods.processor import PostProcessor

# Mean and median of the frequencies that may be behind an estimate, see `simulator.surrogate.summaries`
SUMMARIES = POSTERIOR_MEAN, POSTERIOR_MEDIAN = "posterior_mean", "posterior_median"


class Methods(dict[str, PostProcessor]):
    """The table of methods by name; it lists its members, and also returns summaries, and members with parameters.

    Attributes
    ----------
    summaries
        Makes the summaries, by name; they need the other methods, so they are there later.
    """

    def __init__(self, members: Mapping[str, PostProcessor]) -> None:
        super().__init__(members)
        self.summaries: Callable[[], Mapping[str, PostProcessor]] = dict

    def __missing__(self, name: str) -> PostProcessor:
        """Return the summary of this name, or a member with parameters.

        Raises KeyError if it is neither, or ValueError for parameters that the member has not.
        """
        base, _, settings = name.partition(":")
        if settings and base in self:
            return with_parameters(self[base], settings)
        if name not in SUMMARIES:
            raise KeyError(name)
        return self.summaries()[name]
