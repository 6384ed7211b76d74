// {% if example %}
// A field of ORDER elements, a prime.
const ORDER = 2;

// {% endif %}
// The field of ORDER elements: numbers modulo a prime. Sum, product, what makes 0, what makes 1.
const add = (a, b) => (a + b) % ORDER;
const times = (a, b) => (a * b) % ORDER;
const negative = (a) => (ORDER - a) % ORDER;
const inverse = (a) => {
  let result = 1; // a to the power of ORDER - 2 (Fermat)
  for (let base = a, rest = ORDER - 2; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = times(result, base);
    base = times(base, base);
  }
  return result;
};
// {% if example %}
export { add, inverse, negative, times };
// {% endif %}
