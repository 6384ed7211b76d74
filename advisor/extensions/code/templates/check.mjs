// Checks client.mjs against test_vectors.json: node check.mjs
import { readFileSync } from "node:fs";
import { report } from "./client.mjs";

// A source of bytes that are no secret: SplitMix64, for tests alone.
const knownBytes = (seed) => {
  const cut = (x) => BigInt.asUintN(64, x);
  let state = BigInt(seed);
  return (count) => {
    const word = new DataView(new ArrayBuffer(count)); // clients draw words of 8 bytes
    state = cut(state + 0x9e3779b97f4a7c15n);
    let x = cut((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n);
    x = cut((x ^ (x >> 27n)) * 0x94d049bb133111ebn);
    word.setBigUint64(0, x ^ (x >> 31n));
    return new Uint8Array(word.buffer);
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
