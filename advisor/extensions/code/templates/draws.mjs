// {% if example %}
// Exact draws from random bytes, which all clients share.

// {% endif %}
const secure = (count) => crypto.getRandomValues(new Uint8Array(count));

// Return a uniform whole number below 2^64, a BigInt.
const word = (entropy) => {
  const bytes = entropy(8);
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0);
};

// Return a uniform whole number below n: what would favour small ones is drawn again.
const below = (n, entropy) => {
  const size = BigInt(n);
  const limit = 2n ** 64n - (2n ** 64n % size);
  for (;;) {
    const drawn = word(entropy);
    if (drawn < limit) return Number(drawn % size);
  }
};

// Return true with probability threshold / 2^64, exactly: no floating point is involved.
const chance = (threshold, entropy) => word(entropy) < threshold;
// {% if example %}
export { below, chance, secure, word };
// {% endif %}
