// {% extends "client.mjs" %}
// Hadamard response: a client for five values at epsilon = 1.
import { below, chance } from "../draws.mjs";
import { odd } from "../odd.mjs";

const K = 5;
const BLOCKS = 2;
const BLOCK_SIZE = 4;
const OWN = 8768971294881393556n;

// {% block own %}
// Return a symbol: one that supports the value, or one that does not; all of a kind equally likely.
const randomised = (value, entropy) => {
  if (chance(OWN, entropy)) {
    const row = 1 + Math.floor(value / BLOCKS);
    let column = below(BLOCK_SIZE, entropy);
    // The lowest bit of the row: maps columns with -1 to columns with 1, one to one.
    if (odd(column & row)) column ^= row & -row;
    return (value % BLOCKS) * BLOCK_SIZE + column;
  }
  for (;;) {
    const symbol = below(BLOCKS * BLOCK_SIZE, entropy);
    if (!supports(symbol, value)) return symbol;
  }
};

// Tell whether a symbol is in the value's block, and the value's row has a 1 in its column.
const supports = (symbol, value) =>
  Math.floor(symbol / BLOCK_SIZE) === value % BLOCKS &&
  !odd((symbol % BLOCK_SIZE) & (1 + Math.floor(value / BLOCKS)));

// {% include "odd.mjs" %}

// Return a report as a line of text.
const line = (number) => String(number);
// {% endblock %}

export { line, randomised };
