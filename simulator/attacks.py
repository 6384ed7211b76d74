"""What one report gives away: closed forms for the best single guess of a user's value."""

from __future__ import annotations

import math


def expected_inverse(trials: int, q: float) -> float:
    """Return ``E[1 / (1 + Bin(trials, q))]``, the chance to be picked from a set that q fills at random.

    >>> expected_inverse(1, 0.5)
    0.75
    """
    if q == 0.0:
        return 1.0
    # 1 - (1 - q)^(trials + 1) without cancellation for tiny q
    return -math.expm1((trials + 1) * math.log1p(-q)) / ((trials + 1) * q)


def evenly_confused(success: float, k: int) -> tuple[float, float]:
    """Return both probabilities of a guess that is right with `success` and else any of the other values evenly.

    That it names v1 where v1 is held, and where v2 is.

    >>> evenly_confused(0.5, 3)
    (0.5, 0.25)
    """
    return success, (1 - success) / (k - 1)


def independent_support_attack(k: int, p: float, q: float) -> float:
    """Return the success of guessing uniformly in the support set, or in the domain when the set is empty.

    For protocols whose reports support each value independently (unary encodings, local hashing with a fully
    random hash): own value with probability `p`, any other with `q`. Gursoy, Liu, Chow, Truex, Wei, "An
    adversarial approach to protocol analysis and selection in local differential privacy", 2022.
    """
    return p * expected_inverse(k - 1, q) + (1 - p) * (1 - q) ** (k - 1) / k
