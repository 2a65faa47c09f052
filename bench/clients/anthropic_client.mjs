// The official `@anthropic-ai/sdk` client: messages.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { AFTER_TOOL, TEXT, baseURL, check, errorOf, left, model, printErrors, waitUntilLeft } from "./checks.mjs";

// The packages are in a folder of their own, which NODE_PATH names.
const Anthropic = createRequire(import.meta.url)("@anthropic-ai/sdk");
const client = new Anthropic({ baseURL, apiKey: "sk-ant-scripted", maxRetries: 0 });
const input_schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const tool = { name: "get_weather", description: "The weather in a city", input_schema };
const user = (content) => [{ role: "user", content }];
const ask = (text, options = {}, request = {}) => client.messages.create({ model, max_tokens: 100, messages: user(text), ...options }, request);

await check("messages", async () => {
  const answer = await ask("hello");
  assert.deepEqual([answer.content[0].text, answer.stop_reason, answer.usage.output_tokens], [TEXT, "end_turn", 7]);
});

await check("messages, streaming", async () => {
  const words = [];
  const stream = client.messages.stream({ model, max_tokens: 100, messages: user("hello") }).on("text", (word) => words.push(word));
  const answer = await stream.finalMessage();
  assert.equal(words.join(""), TEXT);
  assert.ok(words.length > 1, "the text came in one piece");
  assert.equal(answer.stop_reason, "end_turn");
});

await check("tools: call, result, answer", async () => {
  const messages = user("weather in Seoul?");
  const answer = await client.messages.create({ model, max_tokens: 100, messages, tools: [tool] });
  const call = answer.content.at(-1);
  assert.deepEqual([answer.stop_reason, call.name, call.input], ["tool_use", "get_weather", { city: "Seoul" }]);
  messages.push({ role: "assistant", content: answer.content });
  messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "14.5" }] });
  const last = await client.messages.create({ model, max_tokens: 100, messages, tools: [tool] });
  assert.equal(last.content[0].text, AFTER_TOOL);
});

await check("tools, streaming", async () => {
  const answer = await client.messages.stream({ model, max_tokens: 100, messages: user("weather in Seoul?"), tools: [tool] }).finalMessage();
  assert.deepEqual(answer.content.at(-1).input, { city: "Seoul" });
});

await check("structured output by a tool that must be called", async () => {
  const schema = { type: "object", properties: { city: { type: "string" }, degrees: { type: "number" } }, required: ["city", "degrees"] };
  const tools = [{ name: "report", description: "Reports", input_schema: schema }];
  const answer = await ask("structured", { tools, tool_choice: { type: "tool", name: "report" } });
  assert.deepEqual(answer.content.at(-1).input, { city: "Seoul", degrees: 14.5 });
});

await check("error 429", async () => {
  const error = await errorOf(() => ask("fail 429"));
  assert.ok(error instanceof Anthropic.RateLimitError, String(error));
});

await check("error 500", async () => {
  const error = await errorOf(() => ask("fail 500"));
  assert.ok(error instanceof Anthropic.InternalServerError && error.status === 500, String(error));
});

await check("error 401", async () => {
  const error = await errorOf(() => ask("fail 401"));
  assert.ok(error.status === 401, String(error));
});

await check("cancellation of a stream reaches the provider", async () => {
  const before = await left();
  const stream = await ask("slow", { stream: true });
  let seen = 0;
  for await (const _ of stream) if (++seen === 5) break;
  await waitUntilLeft(before);
});

await check("cancellation of a call reaches the provider", async () => {
  const before = await left();
  const error = await errorOf(() => ask("slow", {}, { signal: AbortSignal.timeout(1500) }));
  assert.ok(error instanceof Anthropic.APIUserAbortError, String(error));
  await waitUntilLeft(before);
});

await printErrors("messages", (text) => ask(text));
await printErrors("messages, streaming", (text) => ask(text, { stream: true }));
process.exit();
