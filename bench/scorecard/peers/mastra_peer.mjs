// Mastra: an agent with typed tools, a fallback model with retries, approvals with snapshots in libSQL. Runs that may be killed use a durable agent
// with checkpoints, and a program is a workflow, which is restarted after a kill.

import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { createDurableAgent } from "@mastra/core/agent/durable";
import { createTool } from "@mastra/core/tools";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { LibSQLStore } from "@mastra/libsql";
import { z } from "zod";
import { bound, callTool, decision, FOLDER, HELPER, INSTRUCTIONS, load, main, PHASE, programAnswer, SPEC, store, TASK, zodOf } from "./common.mjs";

const RUN = "cell";

const toolOf = (entry) =>
  createTool({
    id: entry.name,
    description: entry.description,
    inputSchema: zodOf(entry.schema),
    requireApproval: SPEC.approve.includes(entry.name),
    execute: (args, context) => callTool(entry, args, context?.agent?.toolCallId),
  });

const model = (server) => ({ model: { id: "custom/scripted", url: `${SPEC.models}/${server}/v1`, apiKey: "none" }, maxRetries: 2 });

const toolsOf = (entries) => Object.fromEntries(entries.map((entry) => [entry.name, toolOf(entry)]));
const agentOf = (id, tools) => new Agent({ id, name: id, instructions: INSTRUCTIONS, model: [model("primary"), model("backup")], tools });

/** An agent in a tool. */
const helper = SPEC.helper && {
  helper: createTool({
    id: "helper",
    description: HELPER,
    inputSchema: TASK,
    execute: async ({ input }) => (await agentOf("helper", toolsOf(SPEC.helper)).generate(input, { maxSteps: SPEC.max_turns })).text,
  }),
};

const agent = agentOf("clerk", { ...toolsOf(SPEC.tools), ...helper });

const durable = SPEC.kills && createDurableAgent({ agent, maxSteps: SPEC.max_turns });

function workflowOf() {
  const results = z.record(z.string(), z.any());
  let workflow = createWorkflow({ id: "program", inputSchema: results, outputSchema: results });
  SPEC.stages.forEach((stage, number) => {
    const steps = stage.map((call, place) => {
      const entry = SPEC.tools.find((tool) => tool.name === call.tool);
      const id = `s${number}_${place}`;
      return createStep({
        id,
        inputSchema: results,
        outputSchema: results,
        execute: async ({ inputData }) => ({ ...inputData, [call.tool]: await callTool(entry, bound(call.arguments, inputData), `cell-${id}`) }),
      });
    });
    workflow = steps.length === 1 ? workflow.then(steps[0]) : workflow.parallel(steps).map(async ({ inputData }) => Object.assign({}, ...Object.values(inputData)));
  });
  return workflow.commit();
}

const program = SPEC.program ? workflowOf() : undefined;
const mastra = new Mastra({
  agents: { clerk: durable || agent },
  ...(program ? { workflows: { program } } : {}),
  storage: new LibSQLStore({ id: "storage", url: `file:${FOLDER}/mastra.db` }),
  recovery: { durableAgents: "auto" },
  logger: false,
});

async function runProgram() {
  const run = await mastra.getWorkflow("program").createRun({ runId: RUN });
  const result = PHASE === "start" ? await run.start({ inputData: {} }) : await run.restart();
  if (result.status !== "success") return { status: "reported", error: `${result.status}: ${result.error?.message}` };
  return { status: "done", answer: programAnswer(result.result) };
}

async function runDurably() {
  const options = { runId: RUN, maxSteps: SPEC.max_turns };
  let result;
  if (PHASE === "start") result = await durable.stream(SPEC.request, options);
  else {
    const { runs } = await durable.listActiveRuns();
    result = runs.length > 0 ? await durable.recover(runs[0].runId) : await durable.stream(SPEC.request, options);
  }
  return { status: "done", answer: await result.output.text };
}

const options = { runId: RUN, maxSteps: SPEC.max_turns, modelSettings: { maxRetries: 2 } };

async function generate() {
  const clerk = mastra.getAgent("clerk");
  const asked = load("asked.json");
  if (asked && PHASE === "resume") {
    const call = { runId: RUN, toolCallId: asked.toolCallId };
    return decision() === "approve" ? clerk.approveToolCallGenerate(call) : clerk.declineToolCallGenerate({ ...call, reason: "not today" });
  }
  if (!SPEC.stream) return clerk.generate(SPEC.request, options);
  const stream = await clerk.stream(SPEC.request, options);
  return stream.getFullOutput();
}

main(async () => {
  if (SPEC.program) return runProgram();
  if (durable && !SPEC.approve.length) return runDurably();
  const result = await generate();
  if (result.finishReason === "suspended") {
    store("asked.json", { toolCallId: result.suspendPayload.toolCallId });
    return { status: "waiting", question: [{ name: result.suspendPayload.toolName, args: result.suspendPayload.args }] };
  }
  if (result.error) throw result.error;
  if (!["stop", undefined].includes(result.finishReason)) return { status: "reported", answer: result.text, error: `the loop ended with ${result.finishReason}` };
  return { status: "done", answer: result.text };
});
