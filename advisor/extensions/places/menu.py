"""What competes on places: channels calibrated to one promise, or all protocols of local differential privacy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from advisor.errors import InputError
from advisor.extensions.places.promise import Leakage, leakage_of
from advisor.extensions.places.question import CHANNEL_METHODS
from advisor.extensions.places.request import PlacesRequest
from advisor.extensions.places.result import Mechanism
from advisor.question.constraints import removals_of
from advisor.question.removals import removal_sentences
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.channels import Channel, SingularChannelError, krr, planar_geometric, planar_laplace
from simulator.methods import possible


def places_menu(request: PlacesRequest) -> tuple[PlacesRequest, dict[str, Mechanism]]:
    """Return what competes, and the request with what each constraint removed and warnings about what cannot compete.

    Raises InputError if a channel leaks more than is promised, or nothing is left.
    """
    warnings: list[str] = []
    every = _competitors(request, warnings)
    removals = removals_of(
        {key: one.protocol for key, one in every.items()},
        {name: POSTPROCESSORS[name] for name in request.methods},
        request.n,
        request.limits,
    )
    gone = {name for removal in removals for name in (*removal.protocols, *removal.methods)}
    request = replace(
        request,
        protocols=tuple(name for name in request.protocols if name not in gone),
        methods=tuple(name for name in request.methods if name not in gone),
        removals=removals,
    )
    for key, one in every.items():
        warnings += _without_inversion(key, one, request)
    left = {
        key: replace(one, methods=tuple(name for name in request.methods if _possible(one, name, request)))
        for key, one in every.items()
        if key not in gone
    }
    if not any(one.methods for one in left.values()):
        why = " ".join(removal_sentences(removals)) or "no method here goes with these protocols."
        raise InputError(f"nothing is left to rank: {why}")
    return replace(request, warnings=(*request.warnings, *warnings)), left


def _competitors(request: PlacesRequest, warnings: list[str]) -> dict[str, Mechanism]:
    k, epsilon = request.places.k, request.epsilon
    mechanisms: dict[str, Mechanism] = {}
    if request.privacy == "ldp":
        for name in request.protocols:
            protocol = PROTOCOLS[name](k, epsilon)
            channel = krr(k, epsilon) if protocol.report_kind == "value" else None
            mechanisms[name] = Mechanism(protocol, Leakage(None, None, epsilon), channel)
    else:
        rate = epsilon / (request.radius or 1.0)
        builders: dict[str, Callable[[], Channel]] = {
            "krr": lambda: krr(k, epsilon),
            "planar_geometric": lambda: planar_geometric(request.places, rate),
            "planar_laplace": lambda: planar_laplace(request.places, rate),
        }
        for name in request.protocols:
            try:
                channel = builders[name]()
                # Noise that falls with the distance has this rate by construction; measuring it takes seconds.
                leakage = leakage_of(channel, request, None if name == "krr" else rate)
            except ValueError as error:
                warnings.append(f"{name} is left out: {error}")
            else:
                mechanisms[name] = Mechanism(channel, leakage, channel)
    if (own := request.channel) is not None:
        square = own.report_kind == "value"
        mechanisms[own.key] = Mechanism(own, leakage_of(own, request, None), own if square else None)
    if not mechanisms:
        raise InputError("nothing is left to compare: " + "; ".join(warnings))
    return mechanisms


def _possible(one: Mechanism, method: str, request: PlacesRequest) -> bool:
    if isinstance(one.protocol, Channel):
        line = 1 in (request.places.rows, request.places.columns)
        if method not in CHANNEL_METHODS or (line and method == "wavelet_eb"):
            return False
    return possible(POSTPROCESSORS[method], one.protocol, request.domain, request.n)


def _without_inversion(key: str, one: Mechanism, request: PlacesRequest) -> list[str]:
    """Warn of a channel whose estimates have to do without matrix inversion, if a method asked for needs it."""
    wanted = any(name in request.methods for name in ("none", "norm_mul", "norm_sub"))
    if not wanted or not isinstance(one.protocol, Channel) or one.protocol.offers("estimate"):
        return []
    try:
        one.protocol.decoder  # noqa: B018 - worked out when it is first asked for
    except SingularChannelError as error:
        return [f"{key} without matrix inversion: {error}"]
    return []
