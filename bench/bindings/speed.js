"use strict";
// `read` beside `jsonrepair` on broken texts, in one process.
// usage: node speed.js PACKAGE CASES
const fs = require("node:fs");
const { jsonrepair } = require("jsonrepair");
const reknit = require(process.argv[2]);

const BAR = 2;

/** The shortest of twenty times for all texts, in milliseconds. */
function best(work, texts) {
  let best = Infinity;
  for (let round = 0; round < 20; round++) {
    const start = performance.now();
    for (const text of texts) {
      try {
        work(text);
      } catch {
        // Both refuse some texts.
      }
    }
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

const texts = fs.readFileSync(process.argv[3], "utf8").trim().split("\n").map((line) => JSON.parse(line).text);
const ours = best((text) => reknit.read(text).value, texts);
const theirs = best((text) => JSON.parse(jsonrepair(text)), texts);
const ratio = theirs / ours;
console.log(`Node, ${texts.length} texts: reknit ${ours.toFixed(2)} ms, jsonrepair ${theirs.toFixed(2)} ms: ${ratio.toFixed(1)} x, at least ${BAR} x`);
process.exit(ratio >= BAR ? 0 : 1);
