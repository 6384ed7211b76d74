// {% if example %}
// Discrete Laplace noise, exactly.
import { below } from "./draws.mjs";

const RATE = 1073741824;
const UNIT = 1099511627776;

// {% endif %}
// Return z with probability in proportion to exp(-|z| RATE / UNIT), exactly.
// Discrete Laplace noise from whole numbers alone: Canonne, Kamath, Steinke, "The discrete Gaussian for differential
// privacy", NeurIPS 2020, Algorithm 2. Real numbers with noise leak in their last bits (Mironov, CCS 2012).
const noise = (entropy) => {
  for (;;) {
    const part = below(UNIT, entropy);
    if (!decays(part, UNIT, entropy)) continue;
    let whole = 0;
    while (decays(1, 1, entropy)) whole += 1;
    const total = part + UNIT * whole; // far below 2^53, so that numbers are exact
    const size = (total - (total % RATE)) / RATE;
    const minus = below(2, entropy) === 1;
    if (!(minus && size === 0)) return minus ? -size : size; // else 0 would be drawn twice as often
  }
};

// Return true with probability exp(-numerator / denominator), for a fraction of at most 1 (Algorithm 1 there).
const decays = (numerator, denominator, entropy) => {
  let draws = 1;
  while (below(denominator * draws, entropy) < numerator) draws += 1;
  return draws % 2 === 1;
};
// {% if example %}
export { decays, noise };
// {% endif %}
