"use strict";
// Finds the native parts: beside this file if they were built here, and in the package for this platform otherwise.
const fs = require("node:fs");
const path = require("node:path");

/** The path of `reknit.node` or `bin/reknit`. */
function find(file) {
  const own = path.join(__dirname, file);
  if (fs.existsSync(own)) return own;
  const name = `reknit-${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/${file}`);
  } catch {
    throw new Error(
      `${file} of reknit is missing: the package ${name} is not installed. npm installs it together with reknit unless optional packages ` +
        "are left out; for a platform without one, run bindings/node/build --command in a clone of the repository.",
    );
  }
}

module.exports = { find };
