/** A JSON Schema: compiled, as an object, or as text. */
export type SchemaLike = Schema | object | string;

/** A text cannot be read, or a value does not fit its schema. */
export class ReadError extends Error {
  code: "empty" | "unreadable" | "ambiguous" | "misfit" | "too_deep" | "too_large" | "bad_schema";
  details: { line?: number; column?: number; readings?: unknown[]; problems?: { path: string; message: string }[] };
}

/** A compiled JSON Schema. Compile one that is used often. */
export class Schema {
  constructor(schema: object | string);
}

/** One repair. */
export interface Fix {
  path: string;
  kind: string;
  description: string;
  before: string;
  after: string;
}

/** A value with every repair that was made. */
export class Reading<T = unknown> {
  readonly value: T;
  readonly fixes: Fix[];
  readonly completeness: "complete" | "truncated" | "elided";
  /** Whether the text contained the whole answer. Act only on a complete one. */
  readonly isComplete: boolean;
  /** The value as JSON text, with every digit. */
  readonly text: string;
}

/** What a text says so far. */
export interface Partial {
  value: unknown;
  /** The path of the innermost value that may still change; all else is complete. */
  open: string;
  state: "open" | "ended" | "stopped";
}

/** Reads a text that arrives in chunks. */
export class Reader {
  constructor(schema?: SchemaLike);
  push(chunk: string): void;
  partial(): Partial | undefined;
  finish<T = unknown>(): Reading<T>;
}

/** Reads JSON from a model's text, and makes it fit a schema. Throws `ReadError`. */
export function read<T = unknown>(text: string, schema?: SchemaLike): Reading<T>;

/** Makes a value fit a schema, and changes only what has to change. Throws `ReadError`. */
export function fit<T = unknown>(value: unknown, schema: SchemaLike): Reading<T>;
