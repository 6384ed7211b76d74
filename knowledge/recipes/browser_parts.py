"""Parts of clients in JavaScript that several protocols share: drawing, answers, hashes, finite fields."""

from __future__ import annotations

COMMON = """\
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

"""

PUBLIC = """\
// Return the line to send for an answer: the only thing that may leave the device.
// entropy: returns so many random bytes. Leave it out: other sources are for tests alone.
export function report(answer, entropy = secure) {
  return line(randomised(numberOf(answer), entropy));
}

// Return the number of an answer; an error for what is no answer.
export function numberOf(answer) {
__NUMBER__
}

"""

NUMBER = """\
  if (!Number.isInteger(answer) || answer < 0 || answer >= K) {
    throw new RangeError(`an answer is a whole number from 0 to ${K - 1}`);
  }
  return answer;"""

LABEL = """\
  const number = LABELS.indexOf(answer);
  if (number < 0) throw new RangeError(`an answer is one of the ${K} labels`);
  return number;"""

ONE_NUMBER = """\
// Return a report as a line of text.
const line = (number) => String(number);
"""

COUNT = """\
// Tell whether a number has an odd number of bits that are 1.
const odd = (number) => {
  let bits = 0;
  for (let rest = number; rest > 0; rest = Math.floor(rest / 2)) bits += rest % 2;
  return bits % 2 === 1;
};

"""

MIX64 = """\
// Return the symbol of a value: SplitMix64's finaliser of seed and value. Public, no secret in it.
const hashed = (value, seed) => {
  const cut = (x) => BigInt.asUintN(64, x);
  let x = cut(((BigInt(seed) << 32n) | BigInt(value)) * 0x9e3779b97f4a7c15n + 0xd1b54a32d192ed03n);
  x = cut((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n);
  x = cut((x ^ (x >> 27n)) * 0x94d049bb133111ebn);
  return Number((x ^ (x >> 31n)) % BigInt(G));
};

"""

XXH32 = """\
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

"""

PRIME_FIELD = """\
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

"""

POWER_FIELD = """\
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

"""
