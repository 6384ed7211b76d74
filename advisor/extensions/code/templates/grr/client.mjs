// {% extends "client.mjs" %}
// Generalised randomised response: a client for four values at epsilon = 1.
import { below, chance } from "../draws.mjs";

const K = 4;
const OWN = 8768971294881393556n;

// {% block own %}
// Return the value, or any other one, all of these equally likely.
const randomised = (value, entropy) => {
  if (chance(OWN, entropy)) return value;
  const other = below(K - 1, entropy);
  return other >= value ? other + 1 : other; // numbers from the own one on move up: it is left out
};

// Return a report as a line of text.
const line = (number) => String(number);
// {% endblock %}

export { line, randomised };
