import { HeadwaterError } from "../errors.js";

/** One event of a recorded load: when it was asked for, where it started, and what it cost. */
export interface LoadEvent {
  readonly atMs: number;
  /** From the root down, as the program would write it: `["Game", "buildings(1)", "hallway"]`. */
  readonly context: readonly string[];
  readonly costMs: number;
  /** It only reads, and so runs beside others that only read. */
  readonly reads?: boolean;
  /** By how much its context grew. */
  readonly bytes?: number;
}

/** A load is a file of JSON lines, so that it can be cut, joined and made up with ordinary tools. */
export function lineOf({ atMs, context, costMs, reads, bytes }: LoadEvent): string {
  const optional = { ...(reads ? { reads } : {}), ...(bytes ? { bytes } : {}) };
  return JSON.stringify({ atMs: round(atMs), context, costMs: round(costMs), ...optional });
}

export function eventIn(line: string, number: number): LoadEvent {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw notALoad(number, "it is not JSON");
  }
  const { atMs, context, costMs, reads, bytes } = (value ?? {}) as Record<string, unknown>;
  if (!isAmount(atMs)) throw notALoad(number, "atMs is not a number of milliseconds");
  if (!isAmount(costMs)) throw notALoad(number, "costMs is not a number of milliseconds");
  if (!Array.isArray(context) || context.length === 0 || !context.every((step) => typeof step === "string")) {
    throw notALoad(number, "context is not a list of names");
  }
  if (reads !== undefined && typeof reads !== "boolean")
    throw notALoad(number, "reads is neither true nor false");
  if (bytes !== undefined && !Number.isFinite(bytes)) throw notALoad(number, "bytes is not a number");
  return {
    atMs,
    context: context as string[],
    costMs,
    ...(reads === true ? { reads } : {}),
    ...(bytes === undefined ? {} : { bytes: bytes as number }),
  };
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function notALoad(line: number, why: string): HeadwaterError {
  return new HeadwaterError(
    "HW-6022",
    `line ${line} of the load is not an event: ${why}. A line looks like this: ` +
      `{"atMs": 1204.5, "context": ["Game", "buildings(1)"], "costMs": 0.8}`,
  );
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
