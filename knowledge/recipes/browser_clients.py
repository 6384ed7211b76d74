"""The same clients in JavaScript, for browsers and Node: the same draws in the same order, so the same reports."""

from __future__ import annotations

from knowledge.recipes.browser_parts import COUNT, MIX64, ONE_NUMBER, XXH32

GRR = f"""\
// Return the value, or any other one, all of these equally likely.
const randomised = (value, entropy) => {{
  if (chance(OWN, entropy)) return value;
  const other = below(K - 1, entropy);
  return other >= value ? other + 1 : other; // numbers from the own one on move up: it is left out
}};

{ONE_NUMBER}"""

BITS = """\
// Return K bits, each drawn by itself: the own one is more often 1 than the others.
const randomised = (value, entropy) =>
  Array.from({ length: K }, (_, v) => (chance(v === value ? OWN : OTHER, entropy) ? 1 : 0));

// Return a report as a line of text: K characters 0 and 1.
const line = (bits) => bits.join("");
"""

HASHING = """\
// Return a symbol, and the seed of a hash function: that symbol is the value's, or any other.
const randomised = (value, entropy) => {
  const seed = below(2 ** 32, entropy); // does not depend on the value
  let symbol = hashed(value, seed);
  if (!chance(OWN, entropy)) {
    const other = below(G - 1, entropy);
    symbol = other >= symbol ? other + 1 : other;
  }
  return [symbol, seed];
};

// Return a report as a line of text: seed and symbol.
const line = ([symbol, seed]) => `${seed},${symbol}`;
"""

SUBSET = """\
// Return OMEGA different values: the own one and some others, or others alone.
const randomised = (value, entropy) => {
  const values = chance(OWN, entropy)
    ? [value, ...others(OMEGA - 1, value, entropy)]
    : others(OMEGA, value, entropy);
  return values.sort((a, b) => a - b); // sorted: the order of the draws says nothing
};

// Return so many values but one, all sets equally likely (Floyd's algorithm).
const others = (size, value, entropy) => {
  const chosen = new Set();
  for (let last = K - 1 - size; last < K - 1; last += 1) {
    const drawn = below(last + 1, entropy);
    chosen.add(chosen.has(drawn) ? last : drawn);
  }
  return Array.from(chosen, (other) => (other >= value ? other + 1 : other));
};

// Return a report as a line of text: the values with commas between them.
const line = (values) => values.join(",");
"""

HADAMARD = f"""\
// Return a symbol: one that supports the value, or one that does not; all of a kind equally likely.
const randomised = (value, entropy) => {{
  if (chance(OWN, entropy)) {{
    const row = 1 + Math.floor(value / BLOCKS);
    let column = below(BLOCK_SIZE, entropy);
    // The lowest bit of the row: maps columns with -1 to columns with 1, one to one.
    if (odd(column & row)) column ^= row & -row;
    return (value % BLOCKS) * BLOCK_SIZE + column;
  }}
  for (;;) {{
    const symbol = below(BLOCKS * BLOCK_SIZE, entropy);
    if (!supports(symbol, value)) return symbol;
  }}
}};

// Tell whether a symbol is in the value's block, and the value's row has a 1 in its column.
const supports = (symbol, value) =>
  Math.floor(symbol / BLOCK_SIZE) === value % BLOCKS &&
  !odd((symbol % BLOCK_SIZE) & (1 + Math.floor(value / BLOCKS)));

{COUNT}{ONE_NUMBER}"""

PROJECTIVE = f"""\
// Return a point: one on the value's hyperplane, or one that is not; all of a kind equally likely.
const randomised = (value, entropy) => {{
  const own = coordinates((value * STRIDE) % K);
  if (!chance(OWN, entropy)) {{
    for (;;) {{
      const point = below(SYMBOLS, entropy);
      if (product(coordinates(point), own) !== 0) return point;
    }}
  }}
  const lead = own.indexOf(1); // the first coordinate of `own` that is not 0 is 1
  for (;;) {{
    const drawn = own.map((_, at) => (at === lead ? 0 : below(ORDER, entropy)));
    drawn[lead] = negative(product(drawn, own)); // now the product is 0: `drawn` is on the hyperplane
    if (drawn.some((coordinate) => coordinate !== 0)) return pointOf(drawn); // the zero vector is no point
  }}
}};

// Return the inner product of two vectors.
const product = (a, b) => a.reduce((sum, coordinate, at) => add(sum, times(coordinate, b[at])), 0);

// Return the vector of a point: zeros, a 1, and what is left of its number in base ORDER.
const coordinates = (point) => {{
  let free = 0;
  let rest = point;
  while (rest >= ORDER ** free) {{
    rest -= ORDER ** free;
    free += 1;
  }}
  const vector = new Array(DIMENSION).fill(0);
  vector[DIMENSION - 1 - free] = 1;
  for (let place = 0; place < free; place += 1) {{
    vector[DIMENSION - 1 - place] = Math.floor(rest / ORDER ** place) % ORDER;
  }}
  return vector;
}};

// Return the number of the point of a vector, which is divided by its first coordinate that is not 0.
const pointOf = (vector) => {{
  const lead = vector.findIndex((coordinate) => coordinate !== 0);
  const factor = inverse(vector[lead]);
  let number = 0;
  let before = 0;
  vector.slice(lead + 1).forEach((coordinate, place) => {{
    number = number * ORDER + times(coordinate, factor);
    before += ORDER ** place;
  }});
  return before + number;
}};

{ONE_NUMBER}"""

SQUARE_WAVE = f"""\
// Return a place near the value's, or any other one; all of a kind equally likely.
const randomised = (value, entropy) => {{
  if (chance(OWN, entropy)) return value + below(WIDTH, entropy);
  const other = below(K - 1, entropy);
  return other < value ? other : other + WIDTH; // places after the near ones move up
}};

{ONE_NUMBER}"""

TREE = """\
// Return a height and a bit for each node there, then zeros: K + 1 numbers.
const randomised = (value, entropy) => {
  const height = __HEIGHT__;
  const nodes = NODES[height];
  let node = Math.floor(value / 2 ** height);
  let bits;
  if (OWN[height] > 0n) {
    // Few nodes: one of them is reported.
    if (!chance(OWN[height], entropy)) {
      const other = below(nodes - 1, entropy);
      node = other >= node ? other + 1 : other;
    }
    bits = Array.from({ length: nodes }, (_, at) => (at === node ? 1 : 0));
  } else {
    // Many: each bit is drawn by itself.
    bits = Array.from({ length: nodes }, (_, at) => (chance(at === node ? 2n ** 63n : OTHER, entropy) ? 1 : 0));
  }
  return [height, ...bits, ...new Array(K - nodes).fill(0)];
};

// Return a report as a line of text: height, and the node, or a character 0 or 1 for each node.
const line = ([height, ...every]) => {
  const bits = every.slice(0, NODES[height]);
  return `${height},${OWN[height] > 0n ? bits.indexOf(1) : bits.join("")}`;
};
"""

ANY_HEIGHT = "below(NODES.length, entropy)"

LEAVES_FIRST = "chance(2n ** 63n, entropy) ? 0 : below(NODES.length, entropy)"

HAAR = f"""\
// Return a symbol: height, row, and a bit, which is the value's there or the other one.
const randomised = (value, entropy) => {{
  const at = below(ROWS.length, entropy); // height less 1; neither it nor the row depend on the value
  const row = below(ROWS[at], entropy);
  const right = (value >> at) & 1; // whether the value is in the right half of its node
  let bit = odd(row & (value >> (at + 1))) === (right === 1) ? 1 : 0;
  if (!chance(OWN, entropy)) bit = 1 - bit;
  return STARTS[at] + 2 * row + bit;
}};

{COUNT}{ONE_NUMBER}"""

SUMMATION = """\
// Return K whole numbers: GRID for the own cell and 0 for the others, each with noise of its own.
const randomised = (value, entropy) =>
  Array.from({ length: K }, (_, v) => (v === value ? GRID : 0) + noise(entropy));

// Return z with probability in proportion to exp(-|z| RATE / UNIT), exactly.
// Discrete Laplace noise from whole numbers alone: Canonne, Kamath, Steinke, "The discrete Gaussian for differential
// privacy", NeurIPS 2020, Algorithm 2. Real numbers with noise leak in their last bits (Mironov, CCS 2012).
const noise = (entropy) => {
  for (;;) {
    const part = below(UNIT, entropy);
    if (!decays(part, UNIT, entropy)) continue;
    let whole = 0;
    while (decays(1, 1, entropy)) whole += 1;
    const total = part + UNIT * whole; // far below 2^53, so that numbers are exact
    const size = (total - (total % RATE)) / RATE;
    const minus = below(2, entropy) === 1;
    if (!(minus && size === 0)) return minus ? -size : size; // else 0 would be drawn twice as often
  }
};

// Return true with probability exp(-numerator / denominator), for a fraction of at most 1 (Algorithm 1 there).
const decays = (numerator, denominator, entropy) => {
  let draws = 1;
  while (below(denominator * draws, entropy) < numerator) draws += 1;
  return draws % 2 === 1;
};

// Return a report as a line of text: K whole numbers with commas between them.
const line = (cells) => cells.join(",");
"""

BODIES = {
    "grr": GRR, "rappor": BITS, "oue": BITS, "the": BITS, "blh": HASHING, "olh": HASHING, "ss": SUBSET,
    "she": SUMMATION, "hr": HADAMARD, "pgr": PROJECTIVE, "tree": TREE.replace("__HEIGHT__", ANY_HEIGHT),
    "tree_half": TREE.replace("__HEIGHT__", LEAVES_FIRST), "sw": SQUARE_WAVE, "haar_hrr": HAAR,
}  # fmt: skip

HASHED = {"mix64": MIX64, "xxh32": XXH32}
