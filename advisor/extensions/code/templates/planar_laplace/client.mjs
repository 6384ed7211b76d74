// {% extends "client.mjs" %}
// Planar Laplace noise: a client for 2x2 cells, Manhattan distance, at epsilon = 1 for neighbours.
import { line, moved } from "../cells.mjs";
import { below, word } from "../draws.mjs";

const RATE = 0.9999999999926605;

// {% block own %}
// Return the cell that noise leads to from the middle of a cell.
const randomised = (cell, entropy) => moved(cell, ...offset(entropy).map((shift) => Math.floor(shift + 0.5)));

// Return rows and columns of planar Laplace noise, real numbers.
const offset = (entropy) => {
  // {% if collection.cells.places.ground == "manhattan" %}
  return [0, 0].map(() => ((1 - 2 * below(2, entropy)) * Math.log(share(entropy))) / RATE);
  // {% else %}
  const angle = (2 * Math.PI * Number(word(entropy) >> 11n)) / 2 ** 53;
  const distance = radius(share(entropy));
  return [distance * Math.sin(angle), distance * Math.cos(angle)];
  // {% endif %}
};

// Return a number between 0 and 1, small ones with as many digits as large ones.
const share = (entropy) => (Number(word(entropy)) + (Number(word(entropy)) + 0.5) / 2 ** 64) / 2 ** 64;

// {% if collection.cells.places.ground != "manhattan" %}
// Return the distance that noise exceeds with this probability: x / RATE where (1 + x) exp(-x) = tail.
// x is -1 - W(-tail / e) by the branch -1 of Lambert's function; here by Newton's method, from above.
const radius = (tail) => {
  let [x, lower] = [Infinity, 1 - 2 * Math.log(tail)];
  while (lower < x) {
    x = lower;
    lower = x + ((Math.log1p(x) - x - Math.log(tail)) * (1 + x)) / x;
  }
  return x / RATE;
};

// {% endif %}
// {% include "cells.mjs" %}
// {% endblock %}

export { line, randomised };
