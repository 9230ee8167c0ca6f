import { inspect } from "node:util";
import { showPath } from "../../model/path.js";
import { same } from "../../state/same.js";
import type { LoggedEvent } from "./log.js";

/** One thing that an observer of the run could hold against it. */
export interface Difference {
  readonly what: string;
  readonly expected: string;
  readonly actual: string;
  /** The event that it is about, if it is about one. */
  readonly ticket: number | null;
}

/** More than this many differences of one run say nothing new. */
const DIFFERENCES_MAX = 20;

/** Collects differences. */
export class Differences {
  readonly differences: Difference[] = [];

  add(what: string, expected: unknown, actual: unknown, ticket: number | null = null): void {
    if (this.differences.length >= DIFFERENCES_MAX) return;
    this.differences.push({ what, expected: show(expected), actual: show(actual), ticket });
  }

  check(what: string, expected: unknown, actual: unknown, ticket: number | null = null): void {
    if (!same(actual, expected)) this.add(what, expected, actual, ticket);
  }
}

/** How a difference names an event. */
export function nameOf({ node, ticket, path, method }: LoggedEvent): string {
  return `event ${ticket}, ${node}${showPath(path)}.${method}`;
}

function show(value: unknown): string {
  return typeof value === "string"
    ? value
    : inspect(value, { depth: 8, breakLength: Number.POSITIVE_INFINITY });
}
