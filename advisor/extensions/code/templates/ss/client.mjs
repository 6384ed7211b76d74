// {% extends "client.mjs" %}
// Subset selection: a client for four values at epsilon = 1.
import { below, chance } from "../draws.mjs";

const K = 4;
const OMEGA = 1;
const OWN = 8768971294881393556n;

// {% block own %}
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
// {% endblock %}

export { line, randomised };
