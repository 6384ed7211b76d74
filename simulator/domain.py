"""Categories of a collection: their order, their distances, and who may report falsely."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.places import Places


@dataclass(frozen=True)
class Attackers:
    """Knowledge of the server about users who may report falsely.

    Attributes
    ----------
    share
        Largest share of the users that they may be, between 0 and 1.
    targets
        The values whose frequencies they are known to raise; empty if unknown.
    """

    share: float
    targets: tuple[int, ...] = ()


@dataclass(frozen=True)
class Domain:
    """The domain of a collection, as far as methods and metrics may use it."""

    ordered: bool = False  # whether the order of the categories means something
    # The places that the categories stand for, where distances between them are known; a line is ordered without
    ground: Places | None = None
    attackers: Attackers | None = None  # users who may report falsely, if there may be any

    @property
    def provides(self) -> frozenset[str]:
        """Needs of methods that the domain satisfies.

        ``"order"`` (a line), ``"ground"`` (distances; a line has them), ``"attackers"`` (which share of the users they
        may be), ``"targets"`` (the values they promote).
        """
        offers = {
            "order": self.ordered,
            "ground": self.ordered or self.ground is not None,
            "attackers": self.attackers is not None,
            "targets": self.attackers is not None and bool(self.attackers.targets),
        }
        return frozenset(need for need, offered in offers.items() if offered)


UNORDERED, ORDERED = Domain(), Domain(ordered=True)
