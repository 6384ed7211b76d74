"""What a channel promises about places, and whether it keeps what was asked for."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.errors import InputError
from advisor.extensions.places.request import PlacesRequest
from simulator.channels import Channel, epsilon_per_unit, epsilon_within

LEAK_SLACK = 1e-9  # relative: rounding of logarithms
MOST_MEASURED = 1500  # cells up to which the leakage by distance takes seconds, not minutes


@dataclass(frozen=True)
class Leakage:
    """What reports give away at most."""

    # within, per_unit, anywhere: largest log-ratio of two places within the radius (None without one), per unit of
    # distance (None where it was not measured), and of any two
    within: float | None
    per_unit: float | None
    anywhere: float


def leakage_of(channel: Channel, request: PlacesRequest, rate: float | None) -> Leakage:
    """Return what a channel gives away; one with noise that falls with the distance has a `rate` by construction.

    Raises InputError if that is more than is promised.
    """
    places, within = request.places, None
    if request.radius is not None:
        by_construction = rate is not None and places.k > MOST_MEASURED
        within = request.epsilon if by_construction else epsilon_within(channel, places, request.radius)
    per_unit = rate
    if rate is None and (channel.key == "krr" or places.k <= MOST_MEASURED):
        per_unit = epsilon_per_unit(channel, places)
    leak = channel.epsilon if within is None else within
    if leak > request.epsilon * (1 + LEAK_SLACK):
        where = "any two places" if within is None else f"places at most {request.radius:g} {request.unit} apart"
        raise InputError(
            f"{channel.title} leaks more than is promised: its largest log-ratio for {where} is {leak:.6g}, "
            f"--eps claims {request.epsilon:g}"
        )
    return Leakage(within, per_unit, channel.epsilon)
