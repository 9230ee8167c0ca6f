import { HeadwaterError } from "../errors.js";
import type { DroppedFact, Fact } from "./facts.js";

/** A fact as one line of JSON. Of errors, it has name, code, message and stack. What was thrown need not be an error. */
export function lineOf(fact: Fact | DroppedFact): string {
  try {
    return json(fact);
  } catch {
    return json({ ...fact, error: "something that cannot be shown was thrown" } as Fact);
  }
}

function json(fact: Fact | DroppedFact): string {
  return JSON.stringify(fact, (_, value: unknown) => (value instanceof Error ? shown(value) : plain(value)));
}

function plain(value: unknown): unknown {
  return typeof value === "bigint" || typeof value === "symbol" || typeof value === "function"
    ? String(value)
    : value;
}

/** The texts of an error may be made by code of the application, which may throw. */
function shown(error: Error): Record<string, string> {
  try {
    const { name, message, stack = "" } = error;
    const code = error instanceof HeadwaterError ? { code: error.code } : {};
    return { name: String(name), ...code, message: String(message), stack: String(stack) };
  } catch {
    return { name: "Error", message: "an error that cannot be shown" };
  }
}
