"""The options about places; apart from what they lead to, so that other runs do not wait for it."""

from __future__ import annotations

from typing import NamedTuple


class PlacesOptions(NamedTuple):
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
    def given(self) -> list[str]:
        """The options that other questions have not; plain ``--privacy ldp`` is what all have."""
        named = {name: value for name, value in self._asdict().items() if name != "plot" and value is not None}
        if str(named.get("privacy")).lower() == "ldp":
            del named["privacy"]
        return ["--" + name.replace("_", "-") for name in named]

    @property
    def any(self) -> bool:
        """Whether one of them was given, so that the question is one about places."""
        return bool(self.given)
