"use strict";
// Reads what models write: JSON from text, repaired and fitted to a schema.
const native = require("./reknit.node");

/** A text cannot be read, or a value does not fit its schema. `code` says which, `details` where. */
class ReadError extends Error {
  constructor({ code, message, details }) {
    super(message);
    this.name = "ReadError";
    this.code = code;
    this.details = details;
  }
}

/** Calls the native part, whose errors are JSON. */
function attempt(work) {
  try {
    return work();
  } catch (error) {
    let known;
    try {
      known = JSON.parse(error.message);
    } catch {
      throw error;
    }
    throw new ReadError(known);
  }
}

/** A compiled JSON Schema. Compile one that is used often. */
class Schema {
  constructor(schema) {
    this.native = attempt(() => new native.NativeSchema(typeof schema === "string" ? schema : JSON.stringify(schema)));
  }
}

const compiled = (schema) => (schema == null ? undefined : (schema instanceof Schema ? schema : new Schema(schema)).native);

/** A value with every repair that was made. The repairs are made into objects when somebody looks at them. */
class Reading {
  #native;
  constructor(reading) {
    this.#native = reading;
    this.value = JSON.parse(reading.value);
    this.completeness = reading.completeness;
  }
  get isComplete() {
    return this.completeness === "complete";
  }
  get fixes() {
    return JSON.parse(this.#native.fixes);
  }
  /** The value as JSON text, with every digit. */
  get text() {
    return this.#native.value;
  }
}

/** Reads JSON from a model's text, and makes it fit a schema. Throws `ReadError`. */
function read(text, schema) {
  return new Reading(attempt(() => native.nativeRead(text, compiled(schema))));
}

/** Makes a value fit a schema, and changes only what has to change. Throws `ReadError`. */
function fit(value, schema) {
  return new Reading(attempt(() => native.nativeFit(JSON.stringify(value), compiled(schema))));
}

/** Reads a text that arrives in chunks. */
class Reader {
  #native = new native.NativeReader();
  #schema;
  constructor(schema) {
    this.#schema = compiled(schema);
  }
  /** Adds the next chunk. */
  push(chunk) {
    this.#native.push(chunk);
  }
  /** What the text says so far: `{value, open, state}`; `undefined` as long as no array or object has begun. */
  partial() {
    const partial = this.#native.partial();
    return partial == null ? undefined : JSON.parse(partial);
  }
  /** Reads the whole text. The reader cannot be used afterwards. */
  finish() {
    return new Reading(attempt(() => this.#native.finish(this.#schema)));
  }
}

module.exports = { ReadError, Reader, Reading, Schema, fit, read };
