"""Test vectors: what a client reports from known random bytes, and what a server makes of these reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from knowledge.recipes.assembly import Collection, python_client
from simulator._types import FloatArray, Reports
from simulator.domain import ORDERED
from simulator.methods import POSTPROCESSORS, observe

VECTORS, CHARACTERS = 64, 200_000  # most vectors, and about how many characters their reports may have in all
LEAST = 8
GOLDEN, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
SOURCE = "word i of 8 bytes, the highest first: output i of SplitMix64 from the seed (Steele, Lea, Flood, OOPSLA 2014)"

CHECK = '''\
"""Checks client.py and server.py against test_vectors.json: python check.py"""

import json
import pathlib

import numpy as np

import client
import server


def known_bytes(seed):
    """Return a source of bytes that are no secret: SplitMix64, for tests alone."""
    state = seed

    def entropy(count):
        nonlocal state
        drawn = b""
        while len(drawn) < count:
            state = (state + 0x9E3779B97F4A7C15) % 2**64
            x = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
            x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
            drawn += (x ^ x >> 31).to_bytes(8, "big")
        return drawn[:count]

    return entropy


known = json.loads(pathlib.Path(__file__).with_name("test_vectors.json").read_text(encoding="utf-8"))
for each in known["vectors"]:
    report = client.report(each["answer"], known_bytes(each["seed"]))
    if report != each["report"]:
        raise SystemExit(f"client.py: seed {each['seed']}: got {report}, expected {each['report']}")
counts, n, wrong = server.collected(each["report"] for each in known["vectors"])
if wrong or not np.allclose(server.frequencies(counts, n), known["frequencies"], rtol=1e-9, atol=1e-9):
    raise SystemExit("server.py: the frequencies differ from those in test_vectors.json")
print(f"client.py makes the {n} reports of test_vectors.json, and server.py their frequencies")
'''

BROWSER_CHECK = """\
// Checks client.mjs against test_vectors.json: node check.mjs
import { readFileSync } from "node:fs";
import { report } from "./client.mjs";

// A source of bytes that are no secret: SplitMix64, for tests alone.
const knownBytes = (seed) => {
  const cut = (x) => BigInt.asUintN(64, x);
  let state = BigInt(seed);
  return (count) => {
    const words = new DataView(new ArrayBuffer(Math.ceil(count / 8) * 8));
    for (let at = 0; at < count; at += 8) {
      state = cut(state + 0x9e3779b97f4a7c15n);
      let x = cut((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n);
      x = cut((x ^ (x >> 27n)) * 0x94d049bb133111ebn);
      words.setBigUint64(at, x ^ (x >> 31n));
    }
    return new Uint8Array(words.buffer, 0, count);
  };
};

const known = JSON.parse(readFileSync(new URL("test_vectors.json", import.meta.url), "utf8"));
for (const each of known.vectors) {
  const made = report(each.answer, knownBytes(each.seed));
  if (made !== each.report) {
    console.error(`client.mjs: seed ${each.seed}: got ${made}, expected ${each.report}`);
    process.exit(1);
  }
}
console.log(`client.mjs makes the ${known.vectors.length} reports of test_vectors.json`);
"""


def known_bytes(seed: int) -> Callable[[int], bytes]:
    """Return a source of bytes for tests, as the checks have it."""
    state = seed

    def entropy(count: int) -> bytes:
        nonlocal state
        drawn = b""
        while len(drawn) < count:
            state = (state + GOLDEN) % 2**64
            x = (state ^ state >> 30) * FIRST % 2**64
            x = (x ^ x >> 27) * SECOND % 2**64
            drawn += (x ^ x >> 31).to_bytes(8, "big")
        return drawn[:count]

    return entropy


def client_module(source: str) -> ModuleType:
    """Return a client in Python as a module."""
    module = ModuleType("client")
    exec(compile(source, "client.py", "exec"), module.__dict__)  # noqa: S102 - our own text
    return module


def vectors(collection: Collection) -> str:
    """Return the test vectors of a collection as JSON: the reports of client.py, and our frequencies from them."""
    client, labels, k = client_module(python_client(collection)), collection.labels, collection.k
    made: list[dict[str, object]] = []
    native: list[Any] = []
    size = 0
    while len(made) < LEAST or (len(made) < VECTORS and size < CHARACTERS):
        seed = len(made)
        value = seed * (k - 1) // (VECTORS - 1) if k > VECTORS else seed % k
        answer = value if labels is None else labels[value]
        native.append(client.randomised(value, known_bytes(seed)))
        made.append({"seed": seed, "answer": answer, "report": client.line(native[-1])})
        size += len(str(made[-1]["report"]))
    found = frequencies(collection, native)
    head = {
        "protocol": collection.protocol, "method": collection.method, "epsilon": collection.epsilon, "k": k,
        "hash": collection.hash, "bytes": SOURCE,
    }  # fmt: skip
    if collection.protocol not in ("blh", "olh"):
        del head["hash"]
    rows = ",\n".join(f"    {json.dumps(each, ensure_ascii=False)}" for each in made)
    head_text = json.dumps(head, indent=2)[:-2]
    return f'{head_text},\n  "vectors": [\n{rows}\n  ],\n  "frequencies": {json.dumps(found.tolist())}\n}}\n'


def frequencies(collection: Collection, reports: list[Any]) -> FloatArray:
    """Return what this package makes of reports as the client's `randomised` returns them."""
    protocol = collection.parameters.protocol
    tally = protocol.tally(_as_simulated(collection, reports))
    return POSTPROCESSORS[collection.method].apply(observe(protocol, tally, ORDERED))


def _as_simulated(collection: Collection, reports: list[Any]) -> Reports:
    """Return reports as `perturb` makes them."""
    rows = np.array(reports)
    if collection.protocol == "she":
        return rows / collection.parameters.whole("GRID")
    return rows[:, ::-1] if collection.protocol in ("blh", "olh") else rows
