// {% if example %}
// The hash of local hashing of other packages, xxHash32.
const G = 4;

// {% endif %}
// Return the symbol of a value: xxHash32 of its digits. Public, no secret in it.
const hashed = (value, seed) => {
  const data = Array.from(String(value), (digit) => digit.charCodeAt(0));
  const whole = data.length - (data.length % 4);
  const turned = (x, bits) => (x << bits) | (x >>> (32 - bits));
  let x = (seed + 0x165667b1 + data.length) | 0;
  for (let at = 0; at < whole; at += 4) {
    const lane = data[at] | (data[at + 1] << 8) | (data[at + 2] << 16) | (data[at + 3] << 24);
    x = Math.imul(turned((x + Math.imul(lane, 0xc2b2ae3d)) | 0, 17), 0x27d4eb2f);
  }
  for (let at = whole; at < data.length; at += 1) {
    x = Math.imul(turned((x + Math.imul(data[at], 0x165667b1)) | 0, 11), 0x9e3779b1);
  }
  x = Math.imul(x ^ (x >>> 15), 0x85ebca77);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae3d);
  return ((x ^ (x >>> 16)) >>> 0) % G;
};
// {% if example %}
export { hashed };
// {% endif %}
