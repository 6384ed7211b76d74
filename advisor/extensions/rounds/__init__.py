"""Whether devices should remember: memoisation against fresh noise, over rounds with the same users."""
