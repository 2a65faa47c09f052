// What the Node clients share. A client is started as `node CLIENT.mjs BASE_URL MODEL UPSTREAM VIA`, like those in Python (checks.py).

import assert from "node:assert/strict";

export const [baseURL, model, upstream, via] = process.argv.slice(2);
export const TEXT = "Hello there, how are you?";
export const AFTER_TOOL = "It is 14.5 degrees in Seoul.";

export async function check(name, run) {
  try {
    await run();
    console.log(`ok      ${name}`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`FAILED  ${name}\n        ${String(error.stack ?? error).replaceAll("\n", "\n        ")}`);
  }
}

export async function left() {
  return (await fetch(`${upstream}/_bench/left`)).json();
}

// The provider hears that its caller left.
export async function waitUntilLeft(before, seconds = 5) {
  const end = Date.now() + seconds * 1000;
  while ((await left()) <= before) {
    assert.ok(Date.now() < end, `the provider was not told within ${seconds} s that the client left`);
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

// The error that a call is rejected with.
export async function errorOf(call) {
  try {
    await call();
  } catch (error) {
    return error;
  }
  assert.fail("there was no error");
}

// The statuses of errors whose class is compared with that against the provider itself.
const STATUSES = [400, 401, 403, 404, 409, 413, 422, 429, 500, 503, 529];

// Prints the class and the status of the error that `ask` is rejected with for each status.
export async function printErrors(api, ask) {
  for (const status of STATUSES) {
    try {
      await ask(`fail ${status}`);
      console.log(`raised  ${api} ${status}: nothing`);
    } catch (error) {
      console.log(`raised  ${api} ${status}: ${error.constructor.name} ${error.status}`);
    }
  }
}
