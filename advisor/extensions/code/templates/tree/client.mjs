// {% extends "client.mjs" %}
// Binary trees (tree, tree_half): a client of tree for twelve values at epsilon = 1.
import { below, chance } from "../draws.mjs";

const K = 12;
const NODES = [12, 6, 3, 2];
const OWN = [0n, 6496711356782678535n, 10627480729818066791n, 13485650502877570762n];
const OTHER = 4961093570831980854n;
const LEAVES_FIRST = 0;

// {% block own %}
// Return a height and a bit for each node there, then zeros: K + 1 numbers.
const randomised = (value, entropy) => {
  // The height does not depend on the value.
  const height = LEAVES_FIRST && chance(2n ** 63n, entropy) ? 0 : below(NODES.length, entropy);
  const nodes = NODES[height];
  let node = Math.floor(value / 2 ** height);
  let bits;
  if (OWN[height] > 0n) {
    // Few nodes: one of them is reported.
    if (!chance(OWN[height], entropy)) {
      const other = below(nodes - 1, entropy);
      node = other >= node ? other + 1 : other;
    }
    bits = Array.from({ length: nodes }, (_, at) => (at === node ? 1 : 0));
  } else {
    // Many: each bit is drawn by itself.
    bits = Array.from({ length: nodes }, (_, at) => (chance(at === node ? 2n ** 63n : OTHER, entropy) ? 1 : 0));
  }
  return [height, ...bits, ...new Array(K - nodes).fill(0)];
};

// Return a report as a line of text: height, and the node, or a character 0 or 1 for each node.
const line = ([height, ...every]) => {
  const bits = every.slice(0, NODES[height]);
  return `${height},${OWN[height] > 0n ? bits.indexOf(1) : bits.join("")}`;
};
// {% endblock %}

export { line, randomised };
