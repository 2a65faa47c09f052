"use strict";
// `read` against `jsonrepair` on the broken texts of the benchmark, in one process.
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { test } = require("node:test");
const reknit = require("..");

const cases = path.join(__dirname, "../../../bench/salvage/cases/broken.jsonl");

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

test("broken texts are read at least twice as fast as by jsonrepair", (context) => {
  const { jsonrepair } = require("jsonrepair");
  const texts = fs.readFileSync(cases, "utf8").trim().split("\n").map((line) => JSON.parse(line).text);
  const ours = best((text) => reknit.read(text).value, texts);
  const theirs = best((text) => JSON.parse(jsonrepair(text)), texts);
  context.diagnostic(`${texts.length} texts: reknit ${ours.toFixed(2)} ms, jsonrepair ${theirs.toFixed(2)} ms, ${(theirs / ours).toFixed(1)} times`);
  assert.ok(theirs / ours >= 2, `${(theirs / ours).toFixed(1)} times`);
});
