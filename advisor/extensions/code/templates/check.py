"""Checks client.py against test_vectors.json: python check.py."""

import json
import pathlib


def known_bytes(seed):
    """Return a source of bytes that are no secret: SplitMix64, for tests alone."""
    state = seed

    def entropy(count):
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        x = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
        return (x ^ x >> 31).to_bytes(count, "big")  # clients draw words of 8 bytes

    return entropy


if __name__ == "__main__":
    import client

    known = json.loads(pathlib.Path(__file__).with_name("test_vectors.json").read_text(encoding="utf-8"))
    for each in known["vectors"]:
        report = client.report(each["answer"], known_bytes(each["seed"]))
        if report != each["report"]:
            raise SystemExit(f"client.py: seed {each['seed']}: got {report}, expected {each['report']}")
    print(f"client.py makes the {len(known['vectors'])} reports of test_vectors.json")
