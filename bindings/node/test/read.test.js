"use strict";
const assert = require("node:assert/strict");
const { test } = require("node:test");
const reknit = require("..");

const ORDER = {
  type: "object",
  required: ["symbol", "shares"],
  properties: { symbol: { type: "string" }, shares: { type: "integer" }, limitPrice: { type: "number" } },
};

test("valid JSON comes back as JSON.parse reads it", () => {
  const reading = reknit.read('{"a": [1, 2.5, "x", true, null]}');
  assert.deepEqual(reading.value, { a: [1, 2.5, "x", true, null] });
  assert.deepEqual(reading.fixes, []);
  assert.ok(reading.isComplete);
});

test("broken text is repaired and every repair is recorded", () => {
  const reading = reknit.read("Sure!\n```json\n{symbol: 'TSLA', \"shares\": \"1,000\", limit_price: 468.285,}\n```", ORDER);
  assert.deepEqual(reading.value, { symbol: "TSLA", shares: 1000, limitPrice: 468.285 });
  const kinds = reading.fixes.map((fix) => fix.kind);
  for (const kind of ["fence", "bare_key", "number_in_string", "key_spelling"]) assert.ok(kinds.includes(kind), kind);
});

test("a truncated text says so", () => {
  const reading = reknit.read('{"items": [1, 2');
  assert.deepEqual([reading.value, reading.completeness, reading.isComplete], [{ items: [1, 2] }, "truncated", false]);
});

test("the text of a value has every digit", () => {
  assert.equal(reknit.read("[12345678901234567890, 1.50]").text, "[12345678901234567890,1.50]");
});

test("an error has a code and its place", () => {
  assert.throws(() => reknit.read('{"n": @}'), (error) => {
    assert.ok(error instanceof reknit.ReadError);
    assert.deepEqual([error.code, error.details.line, error.details.column], ["unreadable", 1, 7]);
    return true;
  });
  assert.throws(() => reknit.read('{"symbol": "TSLA"}', ORDER), { code: "misfit" });
  assert.throws(() => reknit.read("I cannot help with that."), { code: "empty" });
  assert.throws(() => new reknit.Schema({ type: "intger" }), { code: "bad_schema" });
});

test("a value is fitted to a schema that was compiled once", () => {
  const fitted = reknit.fit({ symbol: "TSLA", Shares: "5" }, new reknit.Schema(ORDER));
  assert.deepEqual(fitted.value, { symbol: "TSLA", shares: 5 });
  assert.equal(fitted.fixes.length, 2);
});

test("a text in chunks shows what is complete so far", () => {
  const reader = new reknit.Reader({ properties: { days: { type: "integer" } } });
  assert.equal(reader.partial(), undefined);
  reader.push('{"days": "3", "city": "Par');
  assert.deepEqual(reader.partial(), { value: { days: "3", city: "Par" }, open: "$.city", state: "open" });
  reader.push('is"}');
  assert.deepEqual(reader.finish().value, { days: 3, city: "Paris" });
  assert.throws(() => reader.push("more"), /finished/);
});

test("a character may be cut in two by the chunks", () => {
  const reader = new reknit.Reader();
  const text = '{"mood": "😀"}';
  const middle = text.indexOf("😀") + 1;
  reader.push(text.slice(0, middle));
  reader.push(text.slice(middle));
  assert.deepEqual(reader.finish().value, { mood: "😀" });
});

test("what is no JSON value cannot be fitted", () => {
  assert.throws(() => reknit.fit(undefined, ORDER), { name: "ReadError", code: "unreadable" });
});
