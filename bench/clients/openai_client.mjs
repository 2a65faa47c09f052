// The official `openai` client: chat completions and responses.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { AFTER_TOOL, TEXT, baseURL, check, errorOf, left, model, printErrors, waitUntilLeft } from "./checks.mjs";

// The packages are in a folder of their own, which NODE_PATH names.
const OpenAI = createRequire(import.meta.url)("openai");
const client = new OpenAI({ baseURL: `${baseURL}/v1`, apiKey: "sk-scripted", maxRetries: 0 });
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
const tool = { type: "function", function: { name: "get_weather", description: "The weather in a city", parameters } };
const city = {
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "number" } },
  required: ["city", "degrees"],
  additionalProperties: false,
};
const user = (content) => [{ role: "user", content }];
const ask = (text, options = {}, request = {}) => client.chat.completions.create({ model, messages: user(text), ...options }, request);

await check("models are listed", async () => {
  const ids = [];
  for await (const entry of client.models.list()) ids.push(entry.id);
  assert.ok(ids.length > 0);
});

await check("chat", async () => {
  const answer = await ask("hello");
  assert.equal(answer.choices[0].message.content, TEXT);
  assert.equal(answer.usage.total_tokens, 18);
});

await check("chat, streaming", async () => {
  const words = [];
  for await (const chunk of await ask("hello", { stream: true })) words.push(chunk.choices[0]?.delta?.content ?? "");
  assert.equal(words.join(""), TEXT);
  assert.ok(words.filter((word) => word).length > 1, "the text came in one piece");
});

await check("tools: call, result, answer", async () => {
  const messages = user("weather in Seoul?");
  const answer = await client.chat.completions.create({ model, messages, tools: [tool] });
  const { message, finish_reason } = answer.choices[0];
  assert.equal(finish_reason, "tool_calls");
  const call = message.tool_calls[0];
  assert.deepEqual([call.function.name, JSON.parse(call.function.arguments)], ["get_weather", { city: "Seoul" }]);
  messages.push(message, { role: "tool", tool_call_id: call.id, content: "14.5" });
  const last = await client.chat.completions.create({ model, messages, tools: [tool] });
  assert.equal(last.choices[0].message.content, AFTER_TOOL);
});

await check("tools, streaming", async () => {
  const stream = client.chat.completions.stream({ model, messages: user("weather in Seoul?"), tools: [tool] });
  const { tool_calls } = await stream.finalMessage();
  assert.deepEqual(JSON.parse(tool_calls[0].function.arguments), { city: "Seoul" });
});

await check("structured output", async () => {
  const response_format = { type: "json_schema", json_schema: { name: "city", schema: city, strict: true } };
  const answer = await ask("structured", { response_format });
  assert.deepEqual(JSON.parse(answer.choices[0].message.content), { city: "Seoul", degrees: 14.5 });
});

await check("error 429", async () => {
  const error = await errorOf(() => ask("fail 429"));
  assert.ok(error instanceof OpenAI.RateLimitError, String(error));
});

await check("error 500", async () => {
  const error = await errorOf(() => ask("fail 500"));
  assert.ok(error instanceof OpenAI.InternalServerError && error.status === 500, String(error));
});

await check("error 401", async () => {
  const error = await errorOf(() => ask("fail 401"));
  assert.ok(error.status === 401, String(error));
});

await check("cancellation of a stream reaches the provider", async () => {
  const before = await left();
  const stream = await ask("slow", { stream: true });
  let seen = 0;
  for await (const _ of stream) if (++seen === 4) break;
  await waitUntilLeft(before);
});

await check("cancellation of a call reaches the provider", async () => {
  const before = await left();
  const error = await errorOf(() => ask("slow", {}, { signal: AbortSignal.timeout(1500) }));
  assert.ok(error instanceof OpenAI.APIUserAbortError, String(error));
  await waitUntilLeft(before);
});

await check("responses", async () => {
  const answer = await client.responses.create({ model, input: "hello" });
  assert.equal(answer.output_text, TEXT);
});

await check("responses, streaming", async () => {
  const words = [];
  let last;
  for await (const event of await client.responses.create({ model, input: "hello", stream: true })) {
    if (event.type === "response.output_text.delta") words.push(event.delta);
    last = event.type;
  }
  assert.equal(words.join(""), TEXT);
  assert.equal(last, "response.completed");
});

await check("responses: tools", async () => {
  const tools = [{ type: "function", name: "get_weather", description: "The weather in a city", parameters, strict: true }];
  const answer = await client.responses.create({ model, input: user("weather in Seoul?"), tools });
  const call = answer.output.find((item) => item.type === "function_call");
  assert.deepEqual([call.name, JSON.parse(call.arguments)], ["get_weather", { city: "Seoul" }]);
});

await printErrors("chat", (text) => ask(text));
await printErrors("chat, streaming", (text) => ask(text, { stream: true }));
await printErrors("responses", (input) => client.responses.create({ model, input }));
process.exit();
