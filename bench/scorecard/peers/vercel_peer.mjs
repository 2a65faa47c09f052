// Vercel AI SDK: `ToolLoopAgent` with typed tools, retries of model calls, a limit of steps, and approvals whose messages are kept as JSON.
//
// Errors of tools are shown to the model, which is the default. The SDK itself has no fallback models: its documentation leaves them to the AI Gateway.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, tool, ToolLoopAgent } from "ai";
import { callTool, decision, HELPER, INSTRUCTIONS, load, main, SPEC, store, TASK, zodOf } from "./common.mjs";

const provider = createOpenAICompatible({ name: "scripted", baseURL: `${SPEC.models}/primary/v1`, apiKey: "none" });

const toolOf = (entry) =>
  tool({
    description: entry.description,
    inputSchema: zodOf(entry.schema),
    execute: (args, { toolCallId }) => callTool(entry, args, toolCallId),
  });

const toolsOf = (entries) => Object.fromEntries(entries.map((entry) => [entry.name, toolOf(entry)]));
const common = { model: provider("scripted"), instructions: INSTRUCTIONS, stopWhen: stepCountIs(SPEC.max_turns), maxRetries: 2 };

/** A subagent in a tool. */
const helper = SPEC.helper && {
  helper: tool({
    description: HELPER,
    inputSchema: TASK,
    execute: async ({ input }) => (await new ToolLoopAgent({ ...common, tools: toolsOf(SPEC.helper) }).generate({ prompt: input })).text,
  }),
};

const agent = new ToolLoopAgent({
  ...common,
  tools: { ...toolsOf(SPEC.tools), ...helper },
  toolApproval: Object.fromEntries(SPEC.approve.map((name) => [name, "user-approval"])),
  timeout: { stepMs: 40_000, firstChunkMs: 1000 * SPEC.model_limit, chunkMs: 1000 * SPEC.model_limit },
});

async function generate(messages) {
  if (!SPEC.stream) return agent.generate({ messages });
  const result = await agent.stream({ messages });
  for await (const part of result.fullStream) if (part.type === "error") throw part.error;
  const [text, content, finishReason, responseMessages] = await Promise.all([
    result.text, result.content, result.finishReason, result.responseMessages ?? result.response.then((response) => response.messages),
  ]);
  return { text, content, finishReason, responseMessages };
}

main(async () => {
  let messages = load("messages.json") ?? [{ role: "user", content: SPEC.request }];
  const asked = load("approvals.json");
  if (asked) {
    const isApproved = decision() === "approve";
    const answer = (approvalId) => ({ type: "tool-approval-response", approvalId, approved: isApproved, ...(isApproved ? {} : { reason: "not today" }) });
    messages.push({ role: "tool", content: asked.map(answer) });
  }
  const result = await generate(messages);
  const requests = result.content.filter((part) => part.type === "tool-approval-request" && !part.isAutomatic);
  if (requests.length > 0) {
    store("messages.json", [...messages, ...result.responseMessages]);
    store("approvals.json", requests.map((part) => part.approvalId));
    return { status: "waiting", question: requests.map((part) => ({ name: part.toolCall.toolName, args: part.toolCall.input })) };
  }
  if (result.finishReason !== "stop") return { status: "reported", answer: result.text, error: `the loop ended with ${result.finishReason}` };
  return { status: "done", answer: result.text };
});
