"""What competes on places: channels calibrated to one promise, or all protocols of local differential privacy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from advisor.errors import InputError
from advisor.places.request import PlacesRequest
from simulator import POSTPROCESSORS, PROTOCOLS, Noise, PostProcessor
from simulator.channels import (
    Channel,
    SingularChannelError,
    Update,
    epsilon_per_unit,
    epsilon_within,
    ibu,
    invert,
    krr,
    planar_geometric,
    planar_laplace,
)
from simulator.channels.inversion import decoder
from simulator.postprocess.wavelet_grid import wavelet_eb_grid
from simulator.protocols.grr import GRR
from simulator.seeding import rng_for

Estimates = dict[str, NDArray[np.float64]]
CHANNEL_METHODS = ("none", "norm_mul", "norm_sub", "wavelet_eb", "ibu")
METHODS = tuple(
    name
    for name, method in POSTPROCESSORS.items()
    if name == "wavelet_eb" or not (method.queries_only or method.ordered_only)
)
CHANNELS = ("krr", "planar_geometric", "planar_laplace")
METHOD_ALIASES = {
    "inversion": "none", "raw": "none", "base": "none", "normmul": "norm_mul", "normsub": "norm_sub", "cls": "norm_sub"
}  # fmt: skip
CHANNEL_ALIASES = {"grr": "krr", "flat": "krr", "geometric": "planar_geometric", "laplace": "planar_laplace"}
LEAK_SLACK = 1e-9  # relative: rounding of logarithms
MOST_MEASURED = 1500  # cells up to which the leakage by distance takes seconds, not minutes


@dataclass(frozen=True)
class Mechanism:
    """One protocol on places, what it promises and costs, and how to simulate collections with it.

    Attributes
    ----------
    within, per_unit, anywhere
        Largest log-ratio of two places within the radius (None without one), per unit of distance (None where it was
        not measured), and of any two.
    expected_distance
        Mean distance between the true and the reported place, None where a report is no place.
    estimates
        ``(repetitions)`` -> for each method the estimates ``(repetitions, k)``.
    reported
        Shares of the reported places in the first collection ``(k,)``, None where a report is no place.
    ibu_fits
        How the iterative Bayesian update of each collection ended, once `estimates` has been called.
    """

    key: str
    title: str
    methods: tuple[str, ...]
    within: float | None
    per_unit: float | None
    anywhere: float
    expected_distance: float | None
    report_bits: int
    attack_success: float
    estimates: Callable[[range], Estimates]
    reported: Callable[[], NDArray[np.float64] | None]
    ibu_fits: list[Update] = field(default_factory=list)


def mechanisms(request: PlacesRequest) -> tuple[tuple[Mechanism, ...], list[str]]:
    """Return what competes, and warnings about what cannot.

    Raises
    ------
    InputError
        If a channel leaks more than is promised, or nothing is left.
    """
    warnings: list[str] = []
    if request.privacy == "ldp":
        found = [_oracle(name, request) for name in request.protocols if name in PROTOCOLS]
        if request.channel is not None:
            found.append(_channel(request.channel, request, warnings))
        return tuple(found), warnings
    radius = request.radius or 1.0
    rate = request.epsilon / radius
    builders: dict[str, Callable[[], Channel]] = {
        "krr": lambda: krr(request.places.k, request.epsilon),
        "planar_geometric": lambda: planar_geometric(request.places, rate),
        "planar_laplace": lambda: planar_laplace(request.places, rate),
    }
    members = []
    for name in request.protocols:
        if name in builders:
            try:
                # Noise that falls with the distance has this rate by construction; measuring it takes seconds.
                members.append(_channel(builders[name](), request, warnings, None if name == "krr" else rate))
            except ValueError as error:
                warnings.append(f"{name} is left out: {error}")
    if request.channel is not None:
        members.append(_channel(request.channel, request, warnings))
    if not members:
        raise InputError("nothing is left to compare: " + "; ".join(warnings))
    return tuple(members), warnings


def _channel(channel: Channel, request: PlacesRequest, warnings: list[str], per_unit: float | None = None) -> Mechanism:
    places = request.places
    within = None
    if request.radius is not None:
        by_construction = per_unit is not None and places.k > MOST_MEASURED
        within = request.epsilon if by_construction else epsilon_within(channel, places, request.radius)
    if per_unit is None and (channel.key == "krr" or places.k <= MOST_MEASURED):
        per_unit = epsilon_per_unit(channel, places)
    claimed, leak = request.epsilon, channel.epsilon if within is None else within
    if leak > claimed * (1 + LEAK_SLACK):
        where = "any two places" if within is None else f"places at most {request.radius:g} {request.unit} apart"
        raise InputError(
            f"{channel.title} leaks more than is promised: its largest log-ratio for {where} is {leak:.6g}, "
            f"--eps claims {claimed:g}"
        )
    methods = [name for name in request.methods if name in CHANNEL_METHODS]
    if not (channel.key == "krr" and min(places.rows, places.columns) > 1):
        methods = [name for name in methods if name != "wavelet_eb"]  # its noise must be alike in all cells
    if any(name in ("none", "norm_mul", "norm_sub") for name in methods):
        try:
            decoder(channel)
        except SingularChannelError as error:
            warnings.append(f"{channel.key} without matrix inversion: {error}")
            methods = [name for name in methods if name == "ibu"]
    square = channel.outputs == places.k

    fits: list[Update] = []

    def observed(repetition: int) -> NDArray[np.int64]:
        return channel.sample_observed(request.counts, rng_for(request.seed, "collect", channel.key, repetition))

    def estimates(repetitions: range) -> Estimates:
        seen = np.stack([observed(repetition) for repetition in repetitions])
        noise = GRR(places.k, request.epsilon).noise(request.n)  # only read by wavelet_eb, which is for krr
        result: Estimates = {}
        if set(methods) - {"ibu"}:
            raw = invert(channel, seen)
            result = {name: _processed(name, raw, noise, request) for name in methods if name != "ibu"}
        if "ibu" in methods:
            fits[:] = [ibu(channel, row) for row in seen]
            result["ibu"] = np.stack([fit.frequencies for fit in fits])
        return {name: result[name] for name in methods}

    return Mechanism(
        key=channel.key,
        title=channel.title,
        methods=tuple(methods),
        within=within,
        per_unit=per_unit,
        anywhere=channel.epsilon,
        expected_distance=channel.expected_distance(request.truth, places.distances()) if square else None,
        report_bits=channel.report_bits,
        attack_success=channel.attack_success,
        estimates=estimates,
        reported=lambda: observed(0) / request.n if square else None,
        ibu_fits=fits,
    )


def _processed(name: str, raw: NDArray[np.float64], noise: Noise, request: PlacesRequest) -> NDArray[np.float64]:
    if name == "wavelet_eb":
        return wavelet_eb_grid(raw, noise, request.places.rows, request.places.columns)
    return POSTPROCESSORS[name](raw, noise)


def _oracle(name: str, request: PlacesRequest) -> Mechanism:
    places, n = request.places, request.n
    oracle = PROTOCOLS[name](places.k, request.epsilon)
    noise = oracle.noise(n)
    methods = tuple(method for method in request.methods if _fits(POSTPROCESSORS[method], noise, places.k))
    is_place = isinstance(oracle, GRR)

    def support(repetition: int) -> NDArray[np.int64 | np.float64]:
        return oracle.sample_support(request.counts, rng_for(request.seed, "collect", name, repetition))

    def estimates(repetitions: range) -> Estimates:
        raw = oracle.estimate(np.stack([support(repetition) for repetition in repetitions]), n)
        return {method: _processed(method, raw, noise, request) for method in methods}

    channel = krr(places.k, request.epsilon) if is_place else None
    return Mechanism(
        key=name,
        title=oracle.title,
        methods=methods,
        within=None,
        per_unit=None,
        anywhere=request.epsilon,
        expected_distance=None if channel is None else channel.expected_distance(request.truth, places.distances()),
        report_bits=oracle.report_bits,
        attack_success=oracle.attack_success,
        estimates=estimates,
        reported=lambda: support(0) / n if is_place else None,
    )


def _fits(method: PostProcessor, noise: Noise, k: int) -> bool:
    return method.fits is None or method.fits(noise, k)
