"""Named random streams: each draw is addressed by the user's seed and words, never by call order."""

from __future__ import annotations

import numpy as np


def rng_for(seed: int, *names: str | int) -> np.random.Generator:
    """Return the generator of the stream that `seed` and `names` address.

    The same address always gives the same stream, and different addresses give independent streams. So a result does
    not depend on the order of the work, the batch size or the number of workers.

    Parameters
    ----------
    seed
        The user's seed, any integer of at least 0.
    *names
        Coordinates such as ``"collect", "oue", 17``. Strings and integers address different streams.

    Raises
    ------
    ValueError
        If `seed` is negative.

    Examples
    --------
    >>> bool(rng_for(0, "oue", 1).random() == rng_for(0, "oue", 1).random())
    True
    >>> bool(rng_for(0, "oue", 1).random() == rng_for(0, "oue", "1").random())
    False
    """
    import hashlib  # a look-up draws nothing, and has no time to import it

    if seed < 0:
        raise ValueError(f"seed must be at least 0, got seed={seed}")
    # A numpy integer addresses the same stream as the Python integer.
    address = tuple(name if isinstance(name, str) else int(name) for name in names)
    # repr of a tuple quotes strings and separates items, so no two addresses share their text.
    digest = hashlib.blake2b(repr(address).encode(), digest_size=16).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence([seed, *words])))
