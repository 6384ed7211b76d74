// {% extends "client.mjs" %}
// Haar wavelet with Hadamard response: a client for four values at epsilon = 1.
import { below, chance } from "../draws.mjs";
import { odd } from "../odd.mjs";

const K = 4;
const ROWS = [2, 1];
const STARTS = [0, 4];
const OWN = 13485650502877570762n;

// {% block own %}
// Return a symbol: height, row, and a bit, which is the value's there or the other one.
const randomised = (value, entropy) => {
  const at = below(ROWS.length, entropy); // height less 1; neither it nor the row depend on the value
  const row = below(ROWS[at], entropy);
  const right = (value >> at) & 1; // whether the value is in the right half of its node
  let bit = odd(row & (value >> (at + 1))) === (right === 1) ? 1 : 0;
  if (!chance(OWN, entropy)) bit = 1 - bit;
  return STARTS[at] + 2 * row + bit;
};

// {% include "odd.mjs" %}

// Return a report as a line of text.
const line = (number) => String(number);
// {% endblock %}

export { line, randomised };
