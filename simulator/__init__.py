"""Local differential privacy, computed: protocols, post-processing methods, metrics and the benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator._version import __version__
from simulator.channels.channel import Channel
from simulator.methods import Observed, PostProcessor
from simulator.metrics import Metric
from simulator.protocols import FrequencyOracle, Noise
from simulator.protocols.functions import user_protocol
from simulator.protocols.protocol import Protocol, Tally
from simulator.seeding import rng_for

if TYPE_CHECKING:
    from simulator.methods import POSTPROCESSORS
    from simulator.metrics import METRICS
    from simulator.protocols import PROTOCOLS
    from simulator.registration import register
else:

    def __getattr__(name: str) -> Any:
        """Give a table when it is first asked for, with the members of other packages in it.

        Not earlier: a package with members imports the classes above, so they must exist before it is loaded.
        """
        if name == "register":  # its checks are needed only for registered members
            from simulator.registration import register

            return register
        if name not in ("METRICS", "POSTPROCESSORS", "PROTOCOLS"):
            raise AttributeError(f"module 'simulator' has no attribute {name!r}")
        from simulator import plugins

        tables, complete = plugins.load()
        if complete:  # else a package with members is asking while it is being imported itself: look again next time
            globals().update(tables)
        return tables[name]


def __dir__() -> list[str]:
    return sorted(__all__)


def frequency_oracles() -> dict[str, type[FrequencyOracle]]:
    """Return the protocols of the table whose noise has a single scale: those for categories."""
    from simulator import PROTOCOLS  # with the members of other packages

    return {name: kind for name, kind in PROTOCOLS.items() if issubclass(kind, FrequencyOracle)}


__all__ = [
    "METRICS",
    "POSTPROCESSORS",
    "PROTOCOLS",
    "Channel",
    "FrequencyOracle",
    "Metric",
    "Noise",
    "Observed",
    "PostProcessor",
    "Protocol",
    "Tally",
    "__version__",
    "frequency_oracles",
    "register",
    "rng_for",
    "user_protocol",
]
