"use strict";
// Reads what models write: JSON from text, repaired and fitted to a schema.
const native = require(require("./platform.js").find("reknit.node"));

/** A text cannot be read, or a value does not fit its schema. `code` says which, `details` where. */
class ReadError extends Error {
  constructor({ code, message, details }) {
    super(message);
    this.name = "ReadError";
    this.code = code;
    this.details = details;
  }
}

/** A compiled JSON Schema. Compile one that is used often. */
class Schema {
  constructor(schema) {
    try {
      this.native = new native.NativeSchema(typeof schema === "string" ? schema : JSON.stringify(schema));
    } catch (error) {
      throw new ReadError(JSON.parse(error.message));
    }
  }
}

const compiled = (schema) => (schema == null ? undefined : (schema instanceof Schema ? schema : new Schema(schema)).native);

const COMPLETENESS = { c: "complete", t: "truncated", e: "elided" };

/** A value with every repair that was made. The repairs are found again when somebody looks at them. */
class Reading {
  #findFixes;
  /** `outcome` is a mark and JSON: see `outcome` in `src/lib.rs`. */
  constructor(outcome, findFixes) {
    const mark = outcome[0];
    const text = outcome.slice(1);
    if (mark === "x") throw new ReadError(JSON.parse(text));
    this.value = JSON.parse(text);
    this.completeness = COMPLETENESS[mark];
    /** The value as JSON text, with every digit. */
    this.text = text;
    this.#findFixes = findFixes;
  }
  get isComplete() {
    return this.completeness === "complete";
  }
  get fixes() {
    return JSON.parse(this.#findFixes());
  }
}

/** Reads JSON from a model's text, and makes it fit a schema. Throws `ReadError`. */
function read(text, schema) {
  const known = compiled(schema);
  return new Reading(native.nativeRead(text, known), () => native.nativeFixes(text, known));
}

/** Makes a value fit a schema, and changes only what has to change. Throws `ReadError`. */
function fit(value, schema) {
  const [text, known] = [JSON.stringify(value), compiled(schema)];
  if (text === undefined) {
    throw new ReadError({ code: "unreadable", message: `a value of the type ${typeof value} is no JSON value`, details: {} });
  }
  return new Reading(native.nativeFit(text, known), () => native.nativeFitFixes(text, known));
}

/** Reads a text that arrives in chunks. */
class Reader {
  #native = new native.NativeReader();
  #chunks = [];
  // The first half of a character whose second half is in the next chunk.
  #half = "";
  #schema;
  constructor(schema) {
    this.#schema = compiled(schema);
  }
  /** Adds the next chunk. */
  push(chunk) {
    const text = this.#half + chunk;
    const isCut = /[\uD800-\uDBFF]$/.test(text);
    this.#half = isCut ? text.slice(-1) : "";
    this.#add(isCut ? text.slice(0, -1) : text);
  }
  #add(text) {
    this.#native.push(text);
    this.#chunks.push(text);
  }
  /** What the text says so far: `{value, open, state}`; `undefined` as long as no array or object has begun. */
  partial() {
    const partial = this.#native.partial();
    return partial == null ? undefined : JSON.parse(partial);
  }
  /** Reads the whole text. The reader cannot be used afterwards. */
  finish() {
    this.#add(this.#half);
    this.#half = "";
    const findFixes = () => native.nativeFixes(this.#chunks.join(""), this.#schema);
    return new Reading(this.#native.finish(this.#schema), findFixes);
  }
}

module.exports = { ReadError, Reader, Reading, Schema, fit, read };
