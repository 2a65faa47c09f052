// What the peers in JavaScript share; see common.py.
//
// usage of each peer: node PEER.mjs FOLDER PHASE

import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

export const [FOLDER, PHASE] = process.argv.slice(2);
export const SPEC = JSON.parse(readFileSync(join(FOLDER, "spec.json"), "utf8"));
export const HELPER = "Hands a task to the helper, which has tools of its own.";
export const TASK = z.object({ input: z.string() });
export const INSTRUCTIONS = "You work for a shop. Do what the user asks for with the tools.";

/** The service refused the call, or failed. */
export class ToolError extends Error {
  constructor(message, mayBeSentAgain, retryAfter) {
    super(message);
    Object.assign(this, { mayBeSentAgain, retryAfter });
  }
}

const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

/** `Retry-After`, as seconds or as a date. */
function secondsOf(value) {
  if (value === null) return undefined;
  return /^\d+$/.test(value) ? Number(value) : Math.max(0, (Date.parse(value) - Date.now()) / 1000);
}

/** Makes a call, without retries. `key` is the id of the model's call, which is the same after a restart. */
export async function callOnce(tool, args, key) {
  const isRepeatable = ["read", "idempotent", "keyed"].includes(tool.effect);
  const headers = { "Content-Type": "application/json", ...(key && tool.effect !== "read" ? { "Idempotency-Key": key } : {}) };
  let response, text;
  try {
    const signal = AbortSignal.timeout(1000 * SPEC.limit);
    response = await fetch(`${SPEC.service}/api/capabilities/${tool.name}`, { method: "POST", headers, body: JSON.stringify(args), signal });
    text = await response.text();
  } catch (error) {
    throw new ToolError(`${tool.name} did not answer: ${error.message}`, isRepeatable);
  }
  if (response.status === 429 || response.status >= 500) {
    const isSafe = isRepeatable || [429, 503].includes(response.status);
    throw new ToolError(`${tool.name}: HTTP ${response.status}: ${text}`, isSafe, secondsOf(response.headers.get("Retry-After")));
  }
  if (!response.ok) throw new ToolError(`${tool.name}: HTTP ${response.status}: ${text}`, false);
  try {
    return JSON.parse(text);
  } catch {
    throw new ToolError(`${tool.name} answered with something that is not JSON: ${text.slice(0, 200)}`, isRepeatable);
  }
}

/** Makes a call, and sends it again after failures that pass, as often and as long as the service asks for. */
export async function callTool(tool, args, key) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await callOnce(tool, args, key);
    } catch (error) {
      if (!error.mayBeSentAgain || attempt === SPEC.retries) throw error;
      await sleep(error.retryAfter ?? 2 ** attempt);
    }
  }
}

/** The Zod schema of a JSON Schema, as a developer would write it by hand. */
export function zodOf(schema) {
  if (schema.enum) return z.enum(schema.enum);
  switch (schema.type) {
    case "array":
      return z.array(zodOf(schema.items));
    case "object": {
      const field = ([name, inner]) => [name, schema.required.includes(name) ? zodOf(inner) : zodOf(inner).optional()];
      return z.object(Object.fromEntries(Object.entries(schema.properties).map(field)));
    }
    case "integer":
      return "exclusiveMinimum" in schema ? z.int().gt(schema.exclusiveMinimum) : z.int();
    case "number":
      return "exclusiveMinimum" in schema ? z.number().gt(schema.exclusiveMinimum) : z.number();
    default:
      return { string: z.string(), boolean: z.boolean() }[schema.type].describe(schema.description ?? "");
  }
}

/** An argument of a program: "{get_order.total}" is taken from the result of that tool. */
export function bound(args, results) {
  const value = (item) => {
    const found = typeof item === "string" && item.match(/^\{(\w+)\.(\w+)\}$/);
    return found ? results[found[1]][found[2]] : item;
  };
  return Object.fromEntries(Object.entries(args).map(([name, item]) => [name, value(item)]));
}

export function programAnswer(results) {
  return "DONE: " + SPEC.answer.replace(/\{(\w+)\.(\w+)\}/g, (_, tool, field) => String(results[tool][field]));
}

const decisionFile = join(FOLDER, "decision.json");
export const decision = () => (existsSync(decisionFile) ? JSON.parse(readFileSync(decisionFile, "utf8")).decision : undefined);
export const storeDecision = () => writeFileSync(decisionFile, JSON.stringify({ decision: SPEC.decision }));

export const load = (name) => (existsSync(join(FOLDER, name)) ? JSON.parse(readFileSync(join(FOLDER, name), "utf8")) : undefined);
export const store = (name, value) => writeFileSync(join(FOLDER, name), JSON.stringify(value));

/** Runs a peer: `work` returns its status, answer, error and question. An exception is what the user of the peer sees. */
export async function main(work) {
  if (PHASE === "decide") return storeDecision();
  rmSync(join(FOLDER, "result.json"), { force: true });
  const began = performance.now();
  let outcome;
  try {
    outcome = await work();
  } catch (error) {
    console.error(error);
    outcome = { status: "reported", error: `${error.name}: ${error.message}` };
  }
  const seconds = (performance.now() - began) / 1000;
  store("result.json", { answer: "", error: "", question: null, ...outcome, seconds });
  process.exit(0);
}
