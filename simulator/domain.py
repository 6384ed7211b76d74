"""Categories of a collection: their order, their distances, and who may report falsely."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.places import Places


@dataclass(frozen=True)
class Attackers:
    """What a server knows of users who may send what they like.

    Attributes
    ----------
    share
        Largest share of the users that they may be, between 0 and 1.
    targets
        The values whose frequencies they are known to raise; empty where nobody knows.
    """

    share: float
    targets: tuple[int, ...] = ()


@dataclass(frozen=True)
class Domain:
    """The domain of a collection, as far as methods and metrics may use it."""

    ordered: bool = False  # whether the order of the categories means something
    # The places that the categories stand for, where distances between them are known; a line is ordered without
    ground: Places | None = None
    attackers: Attackers | None = None  # users who may send what they like, where that is feared

    @property
    def provides(self) -> frozenset[str]:
        """What the domain offers to methods.

        ``"order"`` (a line), ``"ground"`` (who is near whom; a line has it), ``"attackers"`` (which share of the users
        they may be), ``"targets"`` (what they promote).
        """
        offers = {
            "order": self.ordered,
            "ground": self.ordered or self.ground is not None,
            "attackers": self.attackers is not None,
            "targets": self.attackers is not None and bool(self.attackers.targets),
        }
        return frozenset(need for need, offered in offers.items() if offered)


UNORDERED, ORDERED = Domain(), Domain(ordered=True)
