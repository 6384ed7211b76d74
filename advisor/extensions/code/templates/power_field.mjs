// {% if example %}
// A field of ORDER elements, a power of a prime.
const [PRIME, ORDER, POWERS] = [2, 4, [1, 2, 3]];

// {% endif %}
const LOGS = new Map(POWERS.map((element, exponent) => [element, exponent]));

// The field of ORDER elements. Sum: digit by digit modulo PRIME.
const add = (a, b) => {
  let result = 0;
  for (let place = 1; place < ORDER; place *= PRIME) {
    result += ((Math.floor(a / place) + Math.floor(b / place)) % PRIME) * place;
  }
  return result;
};

// Product; what added to an element makes 0, PRIME - 1 times it; what multiplied by it makes 1.
const times = (a, b) => (a && b ? POWERS[(LOGS.get(a) + LOGS.get(b)) % (ORDER - 1)] : 0);
const negative = (a) => times(a, PRIME - 1);
const inverse = (a) => POWERS[(ORDER - 1 - LOGS.get(a)) % (ORDER - 1)];
// {% if example %}
export { add, inverse, negative, times };
// {% endif %}
