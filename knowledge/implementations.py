"""Who runs a protocol: in a product, or in experiments alone.

`DEPLOYED` are protocols by which somebody has collected from the users of a product, with published client code: what
``--deployable`` keeps. Libraries for experiments do not count: their clients draw from generators that are not made for
secrets, and they say so themselves ("to benchmark and experiment"). What is like a member but not the same does not
count either: Apple's count mean sketch and Microsoft's dBitFlip send hashed or sampled bits.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass


@dataclass(frozen=True)
class Implementation:
    """One implementation of a protocol."""

    who: str  # who runs it, or which package it is in
    _: KW_ONLY
    product: bool  # whether it collected from users of a product
    source: str  # where that is said


MULTI_FREQ = Implementation("multi-freq-ldpy", product=False, source="https://pypi.org/project/multi-freq-ldpy/")
PURE_LDP = Implementation("pure-ldp", product=False, source="https://pypi.org/project/pure-ldp/1.0.5/")

IMPLEMENTATIONS: dict[str, tuple[Implementation, ...]] = {
    "grr": (
        Implementation(
            "Chrome attribution reporting",
            product=True,
            source="WICG/attribution-reporting-api, EVENT.md: 'an instantiation of k-randomized response'; "
            "https://developers.google.com/privacy-sandbox/relevance/attribution-reporting/constraints",
        ),
        MULTI_FREQ,
    ),
    "rappor": (
        Implementation(
            "Fuchsia Cobalt", product=True, source="cobalt/algorithms/rappor/rappor_encoder.h: class BasicRapporEncoder"
        ),
        MULTI_FREQ,
    ),
    "oue": (MULTI_FREQ, PURE_LDP),
    "blh": (MULTI_FREQ, PURE_LDP),
    "olh": (MULTI_FREQ, PURE_LDP),
    "the": (PURE_LDP,),
    "she": (PURE_LDP,),
    "hr": (PURE_LDP,),
    "pgr": (
        Implementation(
            "private_frequency_oracles",
            product=False,
            source="https://github.com/minilek/private_frequency_oracles, of its authors",
        ),
    ),
}

DEPLOYED: dict[str, str] = {
    protocol: one.who for protocol, every in IMPLEMENTATIONS.items() for one in every if one.product
}
