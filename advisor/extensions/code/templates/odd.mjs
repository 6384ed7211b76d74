// {% if example %}
// The parity of bits.

// {% endif %}
// Tell whether a number has an odd number of bits that are 1.
const odd = (number) => {
  let bits = 0;
  for (let rest = number; rest > 0; rest = Math.floor(rest / 2)) bits += rest % 2;
  return bits % 2 === 1;
};
// {% if example %}
export { odd };
// {% endif %}
