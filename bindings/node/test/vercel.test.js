"use strict";
// Tool calls of the Vercel AI SDK whose arguments are broken are repaired by `read`, without asking the model again.
const assert = require("node:assert/strict");
const { test } = require("node:test");
const { generateText, jsonSchema, stepCountIs, tool } = require("ai");
const { MockLanguageModelV3 } = require("ai/test");
const reknit = require("..");

/** For `experimental_repairToolCall` of `generateText` and `streamText`. */
async function repairToolCall({ toolCall, inputSchema }) {
  try {
    const reading = reknit.read(toolCall.input, await inputSchema({ toolName: toolCall.toolName }));
    return reading.isComplete ? { ...toolCall, input: reading.text } : null;
  } catch {
    return null; // The SDK reports the error.
  }
}

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

/** A model that calls the tool once with this input, and then answers. */
function careless(input) {
  let turn = 0;
  return new MockLanguageModelV3({
    doGenerate: async () =>
      turn++ === 0
        ? { content: [{ type: "tool-call", toolCallId: "1", toolName: "forecast", input }], finishReason: { unified: "tool-calls" }, usage, warnings: [] }
        : { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop" }, usage, warnings: [] },
  });
}

const schema = { type: "object", required: ["city", "days"], properties: { city: { type: "string" }, days: { type: "integer" } } };

/** The schema with a check, as zod would make it: the SDK calls `repairToolCall` if it fails. */
const inputSchema = jsonSchema(schema, {
  validate: (value) =>
    Number.isInteger(value?.days) && typeof value.city === "string"
      ? { success: true, value }
      : { success: false, error: new Error("days must be an integer") },
});

async function called(input, repair) {
  const calls = [];
  const forecast = tool({ inputSchema, execute: async (given) => (calls.push(given), "sun") });
  await generateText({ model: careless(input), tools: { forecast }, prompt: "x", stopWhen: stepCountIs(2), experimental_repairToolCall: repair });
  return calls;
}

test("a call with a wrong type, and one that is not quite JSON, are repaired", async () => {
  assert.deepEqual(await called('{"city": "Seoul", "days": "3"}', repairToolCall), [{ city: "Seoul", days: 3 }]);
  assert.deepEqual(await called("{city: 'Seoul', days: 3,}", repairToolCall), [{ city: "Seoul", days: 3 }]);
});

test("a truncated call is not made", async () => {
  assert.deepEqual(await called('{"city": "Seo', repairToolCall), []);
});

test("without the repair such calls are not made", async () => {
  assert.deepEqual(await called('{"city": "Seoul", "days": "3"}', undefined), []);
});
