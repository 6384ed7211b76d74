// {% extends "client.mjs" %}
// Projective geometry response: a client for seven values at epsilon = 1.
import { below, chance } from "../draws.mjs";
import { add, inverse, negative, times } from "../prime_field.mjs";

const K = 7;
const ORDER = 2;
const DIMENSION = 3;
const SYMBOLS = 7;
const STRIDE = 4;
const OWN = 12376162889966204874n;

// {% block own %}
// {% include field ~ ".mjs" %}

// Return a point: one on the value's hyperplane, or one that is not; all of a kind equally likely.
const randomised = (value, entropy) => {
  const own = coordinates((value * STRIDE) % K);
  if (!chance(OWN, entropy)) {
    for (;;) {
      const point = below(SYMBOLS, entropy);
      if (product(coordinates(point), own) !== 0) return point;
    }
  }
  const lead = own.indexOf(1); // the first coordinate of `own` that is not 0 is 1
  for (;;) {
    const drawn = own.map((_, at) => (at === lead ? 0 : below(ORDER, entropy)));
    drawn[lead] = negative(product(drawn, own)); // now the product is 0: `drawn` is on the hyperplane
    if (drawn.some((coordinate) => coordinate !== 0)) return pointOf(drawn); // the zero vector is no point
  }
};

// Return the inner product of two vectors.
const product = (a, b) => a.reduce((sum, coordinate, at) => add(sum, times(coordinate, b[at])), 0);

// Return the vector of a point: zeros, a 1, and what is left of its number in base ORDER.
const coordinates = (point) => {
  let free = 0;
  let rest = point;
  while (rest >= ORDER ** free) {
    rest -= ORDER ** free;
    free += 1;
  }
  const digits = Array.from({ length: free }, (_, at) => Math.floor(rest / ORDER ** (free - 1 - at)) % ORDER);
  return [...new Array(DIMENSION - 1 - free).fill(0), 1, ...digits];
};

// Return the number of the point of a vector, which is divided by its first coordinate that is not 0.
const pointOf = (vector) => {
  const lead = vector.findIndex((coordinate) => coordinate !== 0);
  const factor = inverse(vector[lead]);
  let number = 0;
  let before = 0;
  vector.slice(lead + 1).forEach((coordinate, place) => {
    number = number * ORDER + times(coordinate, factor);
    before += ORDER ** place;
  });
  return before + number;
};

// Return a report as a line of text.
const line = (number) => String(number);
// {% endblock %}

export { line, randomised };
