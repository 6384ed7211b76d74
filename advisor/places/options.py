"""The options about places; apart from what they lead to, so that other runs do not wait for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PlacesOptions:
    """The options of the main command that are about places, as given."""

    privacy: str | None = None
    radius: float | None = None
    grid: str | None = None
    columns: str | None = None
    cell_km: float | None = None
    distance: str | None = None
    channel: str | None = None
    plot: str | None = None

    @property
    def any(self) -> bool:
        """Whether one that other questions have not was given, so that the question is one about places."""
        return any(value is not None for name, value in vars(self).items() if name != "plot")
