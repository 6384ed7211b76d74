"""What is known of the categories: their order, or how far apart they are."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.places import Places


@dataclass(frozen=True)
class Domain:
    """The domain of a collection, as far as methods and metrics may use it."""

    ordered: bool = False  # whether the order of the categories means something
    # The places that the categories stand for, where distances between them are known; a line is ordered without
    ground: Places | None = None

    @property
    def provides(self) -> frozenset[str]:
        """What the domain offers to methods: ``"order"`` (a line), ``"ground"`` (who is near whom; a line has it)."""
        near = {"ground"} if self.ordered or self.ground is not None else set()
        return frozenset(near | ({"order"} if self.ordered else set()))


UNORDERED, ORDERED = Domain(), Domain(ordered=True)
