"""An estimate to ask about, and a quick answer to it."""

from advisor import CentralPromise, Cleaning, Collection, Limits, Plurality, Simulation, estimate
from advisor.question.collected_request import CollectedQuestion
from advisor.question.option import options_of
from simulator import PROTOCOLS
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for
from tests.advisor.schemas import schema

SCHEMA = schema("advice")
K, N = 10, 20_000
FEW = ("none", "norm_sub", "power_ns")
QUICK = {"method": FEW, "repetitions": 6, "ordered": True}
CLASSES = {
    "limits": Limits,
    "simulation": Simulation,
    "plurality": Plurality,
    "collection": Collection,
    "cleaning": Cleaning,
    "promise": CentralPromise,
}
ALONE = {"limits": Limits(max_bits=1)}  # leaves no protocol for the next round, whose simulation takes longest


def raw(protocol="oue", k=K, n=N, shape="zipf", epsilon=1.0):
    oracle = PROTOCOLS[protocol](k, epsilon)
    rng = rng_for(0, "tests", "estimate answer", protocol, k, n, shape)
    return oracle.estimate(oracle.sample_support(apportion(frequencies(shape, k), n), rng), n)


def grouped(**options):
    """Return keywords of a function, with options of groups in their groups."""
    group_of = {item.name: name for name, kind in CollectedQuestion.kinds().items() for item, _ in options_of(kind)}
    found = {}
    values = {}
    for name, value in options.items():
        group = group_of.get(name)
        if group in CLASSES:
            values.setdefault(group, {})[name] = value
        else:
            found[name] = value
    return found | {group: CLASSES[group](**given) for group, given in values.items()}


def quick(values=None, protocol="oue", n=N, **options):
    return estimate(raw() if values is None else values, protocol, eps=1.0, n=n, **grouped(**QUICK | options))
