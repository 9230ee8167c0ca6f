import { inspect } from "node:util";
import { same } from "../state/same.js";
import type { LaterEffect, LoggedEvent, Result, RunLog } from "./log.js";
import { checkOrder } from "./order.js";
import type { BuiltProgram, RequestSpec } from "./program.js";
import { SequentialProgram } from "./sequential.js";

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

/** Collects differences, and knows the events of a run by where they came from. */
export class Findings {
  readonly differences: Difference[] = [];

  add(what: string, expected: unknown, actual: unknown, ticket: number | null = null): void {
    if (this.differences.length >= DIFFERENCES_MAX) return;
    this.differences.push({ what, expected: show(expected), actual: show(actual), ticket });
  }

  check(what: string, expected: unknown, actual: unknown, ticket: number | null = null): void {
    if (!same(actual, expected)) this.add(what, expected, actual, ticket);
  }
}

/**
 * Compares a run with the contract: runs the same events one at a time in ticket order and looks at results, later
 * effects and final states; then looks at the order of things as each observer saw it.
 */
export async function compare(
  built: BuiltProgram,
  workload: readonly RequestSpec[],
  log: RunLog,
): Promise<readonly Difference[]> {
  const findings = new Findings();
  const nodes = eventsByNode(built, log);
  const program = new SequentialProgram(built.roots);
  for (const [node, events] of nodes) {
    await replay(program, events, findings);
    checkStates(node, program.states(node), log.states.get(node) ?? new Map(), findings);
  }
  checkOrder(nodes, workload, log, findings);
  return findings.differences;
}

/** The events of each logical node in the order of their tickets. */
function eventsByNode(built: BuiltProgram, log: RunLog): Map<string, LoggedEvent[]> {
  const nodes = new Map<string, LoggedEvent[]>(Object.keys(built.roots).map((node) => [node, []]));
  for (const event of log.events) nodes.get(event.node)?.push(event);
  for (const events of nodes.values()) events.sort((a, b) => a.ticket - b.ticket);
  return nodes;
}

async function replay(
  program: SequentialProgram,
  events: readonly LoggedEvent[],
  findings: Findings,
): Promise<void> {
  const byTicket = new Map(events.map((event) => [event.ticket, event]));
  for (const event of events) {
    const { node, ticket, path, method, args, time, caller, origin } = event;
    const set = origin.kind === "timer" ? byTicket.get(origin.parent)?.later[origin.index] : undefined;
    const timer = set?.kind === "timer" ? set.id : undefined;
    const expected = await program.run({ node, ticket, path, method, args, time, caller, timer });
    if (!sameResult(event.result, expected)) {
      findings.add(`result of ${nameOf(event)}`, shortResult(expected), shortResult(event.result), ticket);
    }
    if (!sameLater(event.later, expected.later)) {
      findings.add(`later effects of ${nameOf(event)}`, expected.later, event.later, ticket);
    }
  }
}

function sameResult(actual: Result, expected: Result): boolean {
  if (actual.ok) return expected.ok && same(actual.value, expected.value);
  if (expected.ok) return false;
  const { name, code, message } = expected.error;
  return actual.error.name === name && actual.error.code === code && actual.error.message === message;
}

function sameLater(actual: readonly LaterEffect[], expected: readonly LaterEffect[]): boolean {
  return (actual.length === 0 && expected.length === 0) || same(actual, expected);
}

function checkStates(
  node: string,
  expected: ReadonlyMap<string, object>,
  actual: ReadonlyMap<string, object>,
  findings: Findings,
): void {
  for (const context of new Set([...expected.keys(), ...actual.keys()])) {
    const what = `final state of ${context} in ${node}`;
    findings.check(what, expected.get(context) ?? "as it began", actual.get(context) ?? "as it began");
  }
}

/** How a difference names an event. */
export function nameOf({ node, ticket, path, method }: LoggedEvent): string {
  const steps = path.map(({ field, key }) => (key === undefined ? field : `${field}(${show(key)})`));
  return `event ${ticket} of ${node}, ${[...steps, method].join(".")}`;
}

function shortResult(result: Result): unknown {
  return result.ok ? result.value : `${result.error.name}: ${result.error.message}`;
}

function show(value: unknown): string {
  return typeof value === "string"
    ? value
    : inspect(value, { depth: 8, breakLength: Number.POSITIVE_INFINITY });
}
