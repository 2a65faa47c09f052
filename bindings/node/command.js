#!/usr/bin/env node
"use strict";
// Starts the command, and ends as it ends.
const { spawn } = require("node:child_process");
const { find } = require("./platform.js");

const child = spawn(find("bin/reknit"), process.argv.slice(2), { stdio: "inherit" });
// A terminal sends SIGINT to both.
process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`reknit cannot be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (!signal) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
