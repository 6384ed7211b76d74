// {% if example %}
// The hash of local hashing, mix64.
const G = 4;

// {% endif %}
// Return the symbol of a value: SplitMix64's finaliser of seed and value. Public, no secret in it.
const hashed = (value, seed) => {
  const cut = (x) => BigInt.asUintN(64, x);
  let x = cut(((BigInt(seed) << 32n) | BigInt(value)) * 0x9e3779b97f4a7c15n + 0xd1b54a32d192ed03n);
  x = cut((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n);
  x = cut((x ^ (x >> 27n)) * 0x94d049bb133111ebn);
  return Number((x ^ (x >> 31n)) % BigInt(G));
};
// {% if example %}
export { hashed };
// {% endif %}
