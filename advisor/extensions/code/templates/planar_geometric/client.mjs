// {% extends "client.mjs" %}
// Planar geometric mechanism: a client for 2x2 cells, Manhattan distance, at epsilon = 1 within 1024 cells.
import { line, moved } from "../cells.mjs";
import { decays, noise } from "../noise.mjs";

const FALL = 1073741824;
const RATE = 1073741824;
const UNIT = 1099511627776;

// {% block own %}
// Return the cell that noise leads to.
const randomised = (cell, entropy) => moved(cell, ...offset(entropy));

// Return rows and columns of noise, with probability in proportion to exp(-cost / UNIT), exactly.
// Noise of rows and of columns, each on its own, falls no faster than that; the rest of the fall is by rejection.
const offset = (entropy) => {
  for (;;) {
    const [down, across] = [noise(entropy), noise(entropy)];
    let rest = cost(down, across) - (Math.abs(down) + Math.abs(across)) * RATE;
    while (rest >= UNIT && decays(1, 1, entropy)) rest -= UNIT;
    if (rest < UNIT && decays(rest, UNIT, entropy)) return [down, across];
  }
};

// Return FALL times the distance as a whole number, rounded up: far below 2^53.
const cost = (down, across) => {
  // {% if collection.cells.places.ground == "manhattan" %}
  return FALL * (Math.abs(down) + Math.abs(across));
  // {% else %}
  const square = BigInt(FALL) ** 2n * (BigInt(down) ** 2n + BigInt(across) ** 2n);
  let root = square;
  while (root * root > square) root = (root + square / root) / 2n; // Newton's method from above, in whole numbers
  return Number(root * root < square ? root + 1n : root);
  // {% endif %}
};

// {% include "noise.mjs" %}

// {% include "cells.mjs" %}
// {% endblock %}

export { line, randomised };
