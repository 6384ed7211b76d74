// {% extends "client.mjs" %}
// Summation with histogram encoding: a client for two values at epsilon = 1.
import { noise } from "../noise.mjs";

const K = 2;
const GRID = 512;

// {% block own %}
// Return K whole numbers: GRID for the own cell and 0 for the others, each with noise of its own.
const randomised = (value, entropy) =>
  Array.from({ length: K }, (_, v) => (v === value ? GRID : 0) + noise(entropy));

// {% include "noise.mjs" %}

// Return a report as a line of text: K whole numbers with commas between them.
const line = (cells) => cells.join(",");
// {% endblock %}

export { line, randomised };
