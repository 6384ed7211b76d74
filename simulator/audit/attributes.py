"""Algorithm 3: several attributes of one user, collected by splitting, sampling, or sampling plus fake data."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from simulator._types import FloatArray
from simulator.audit.run import Subject, protocol_subject
from simulator.protocols import PROTOCOLS, FrequencyOracle
from simulator.protocols.protocol import Probabilities

SOLUTIONS = ("spl", "smp", "rsfd")
FAKES = {key: protocol.fakes for key, protocol in PROTOCOLS.items() if protocol.fakes}


def amplified(epsilon: float, attributes: int) -> float:
    """Return the budget ``ln(d (e^epsilon - 1) + 1)`` of a report that hides among d - 1 fake ones.

    Li, Qardaji, Su, 2012; Arcolezi, Couchot, Al Bouna, Xiao, "Random sampling plus fake data", CIKM 2021.

    >>> round(amplified(1.0, 1), 12)
    1.0
    """
    return math.log1p(attributes * math.expm1(epsilon))


def attribute_subjects(
    protocol: type[FrequencyOracle],
    k: int,
    epsilon: float,
    attributes: int,
    solution: str,
    values: tuple[int, int] = (0, 1),
) -> tuple[Subject, ...]:
    """Return what is audited when a user has several attributes, all with k values; one subject a way to fake.

    The promise is epsilon for all attributes together; the two users who are told apart hold v1, and v2, in every one.

    solution: ``"spl"``: every attribute at ``epsilon / attributes``; one of them is attacked. ``"smp"``: one attribute,
        drawn and told, at epsilon. ``"rsfd"``: one attribute at `amplified` epsilon and fake data for the others,
        without telling which; the attacker draws an attribute and guesses its value (Arcolezi and Gambs, Algorithm 3).
        For `grr` fakes are uniform values; for unary encodings the protocol's report of a zero vector (``"z"``) or of a
        random one-hot vector (``"r"``).

    Raises ValueError if there are fewer than 2 attributes, the solution is unknown, or has no fake data for the
    protocol.
    """
    if attributes < 2:
        raise ValueError(f"attributes must be at least 2, got {attributes}")
    if solution not in SOLUTIONS:
        raise ValueError(f"solution must be one of {', '.join(SOLUTIONS)}, got {solution!r}")
    if solution != "rsfd":
        oracle = protocol(k, epsilon / attributes if solution == "spl" else epsilon)
        subject = protocol_subject(oracle, values=values)
        return (replace(subject, epsilon=epsilon, guaranteed=epsilon, attributes=attributes, solution=solution),)
    if not protocol.fakes:
        raise ValueError(f"solution rsfd has fake data for {', '.join(FAKES)}, got {protocol.key}")
    oracle = protocol(k, amplified(epsilon, attributes))
    return tuple(_fake_subject(oracle, epsilon, attributes, fake, values) for fake in protocol.fakes)


def _fake_subject(
    oracle: FrequencyOracle, epsilon: float, attributes: int, fake: str | None, values: tuple[int, int]
) -> Subject:
    def sample(held: int, trials: int, rng: np.random.Generator) -> FloatArray:
        # Only the report of the attribute that the attacker draws is looked at: it is the true one of d.
        true = int(rng.binomial(trials, 1 / attributes))
        reports = np.concatenate(
            [oracle.perturb(np.full(true, held), rng), oracle.fake_reports(fake, trials - true, rng)]
        )
        return oracle.chances(reports, values, "guess")

    return replace(
        protocol_subject(oracle, values=values),
        epsilon=epsilon,
        guaranteed=epsilon,
        sampler=sample,
        known=_diluted(oracle.attack_probabilities("guess", values), attributes, oracle.k),
        attributes=attributes,
        solution="rsfd",
        fake=fake,
    )


def _diluted(true: Probabilities | None, attributes: int, k: int) -> Probabilities | None:
    """Mix the probabilities of a true report with those of fake data, which names every value equally often."""
    if true is None:
        return None
    own, other = (value / attributes + (attributes - 1) / (attributes * k) for value in true)
    return own, other
