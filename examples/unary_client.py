"""Two unary-encoding clients to audit: a right one, and one with a fault that has been in use.

ldp-advise audit --target examples/unary_client.py:faulty --reports oue --eps 0.5 --k 10
"""

import math
import random


def right(value: int, k: int, epsilon: float) -> list[int]:
    """Send k bits: the own one is 1 with probability 1/2, every other one with 1/(e^epsilon + 1)."""
    q = 1 / (math.exp(epsilon) + 1)
    bits = [int(random.random() < q) for _ in range(k)]
    bits[value] = int(random.random() < 0.5)
    return bits


def faulty(value: int, k: int, epsilon: float) -> list[int]:
    """Do the same, but leave the own bit at 1 where the draw with q has set it: it is sent too often."""
    q = 1 / (math.exp(epsilon) + 1)
    bits = [int(random.random() < q) for _ in range(k)]
    if random.random() < 0.5:
        bits[value] = 1
    return bits
