"""Apple's count mean sketch as a client to audit: a public hash function is drawn, and one bit per cell is flipped.

ldp-advise audit --target examples/count_mean_sketch.py:send --support examples/count_mean_sketch.py:supported \
    --eps 2 --k 20
"""

import math
import random
from functools import cache
from hashlib import blake2b

FUNCTIONS, CELLS = 64, 16  # as deployed 65,536 and 1,024


@cache
def cell(function: int, value: int) -> int:
    """Hash a value with one of the functions."""
    return int.from_bytes(blake2b(f"{function}/{value}".encode(), digest_size=8).digest(), "big") % CELLS


def send(value: int, _k: int, epsilon: float) -> tuple[int, list[bool]]:
    """Send a function, and the cells of which the value's is 1, each flipped with probability 1/(e^(epsilon/2) + 1)."""
    function, flip = random.randrange(FUNCTIONS), 1 / (math.exp(epsilon / 2) + 1)
    return function, [(at == cell(function, value)) != (random.random() < flip) for at in range(CELLS)]


def supported(report: tuple[int, list[bool]], k: int, _epsilon: float) -> list[int]:
    """Return the values whose cell is 1."""
    function, bits = report
    return [value for value in range(k) if bits[cell(function, value)]]
