// {% extends "client.mjs" %}
// Unary encodings (OUE, RAPPOR, THE), one bit for each value: a client of OUE for four values at epsilon = 1.
import { chance } from "../draws.mjs";

const K = 4;
const OWN = 9223372036854775808n;
const OTHER = 4961093570831980854n;

// {% block own %}
// Return K bits, each drawn by itself: the own one is more often 1 than the others.
const randomised = (value, entropy) =>
  Array.from({ length: K }, (_, v) => (chance(v === value ? OWN : OTHER, entropy) ? 1 : 0));

// Return a report as a line of text: K characters 0 and 1.
const line = (bits) => bits.join("");
// {% endblock %}

export { line, randomised };
