// Checks client.mjs against test_vectors.json: node check.mjs
import { readFileSync } from "node:fs";
import { report } from "./client.mjs";

// A source of bytes that are no secret: SplitMix64, for tests alone.
const knownBytes = (seed) => {
  const cut = (x) => BigInt.asUintN(64, x);
  let state = BigInt(seed);
  return (count) => {
    const words = new DataView(new ArrayBuffer(Math.ceil(count / 8) * 8));
    for (let at = 0; at < count; at += 8) {
      state = cut(state + 0x9e3779b97f4a7c15n);
      let x = cut((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n);
      x = cut((x ^ (x >> 27n)) * 0x94d049bb133111ebn);
      words.setBigUint64(at, x ^ (x >> 31n));
    }
    return new Uint8Array(words.buffer, 0, count);
  };
};

const known = JSON.parse(readFileSync(new URL("test_vectors.json", import.meta.url), "utf8"));
for (const each of known.vectors) {
  const made = report(each.answer, knownBytes(each.seed));
  if (made !== each.report) {
    console.error(`client.mjs: seed ${each.seed}: got ${made}, expected ${each.report}`);
    process.exit(1);
  }
}
console.log(`client.mjs makes the ${known.vectors.length} reports of test_vectors.json`);
