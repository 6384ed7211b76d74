// {% extends "client.mjs" %}
// Square wave: a client for four values at epsilon = 1.
import { below, chance } from "../draws.mjs";

const K = 4;
const WIDTH = 3;
const OWN = 13485650502877570762n;

// {% block own %}
// Return a place near the value's, or any other one; all of a kind equally likely.
const randomised = (value, entropy) => {
  if (chance(OWN, entropy)) return value + below(WIDTH, entropy);
  const other = below(K - 1, entropy);
  return other < value ? other : other + WIDTH; // places after the near ones move up
};

// Return a report as a line of text.
const line = (number) => String(number);
// {% endblock %}

export { line, randomised };
