// {% extends "client.mjs" %}
// Local hashing (OLH, BLH): a client of OLH for four values at epsilon = 1.
import { below, chance } from "../draws.mjs";
import { hashed } from "../mix64.mjs";

const K = 4;
const G = 4;
const OWN = 8768971294881393556n;

// {% block own %}
// {% include collection.hash ~ ".mjs" %}

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
// {% endblock %}

export { line, randomised };
