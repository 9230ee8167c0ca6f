import { same } from "../../state/same.js";
import type { BuiltProgram, RequestSpec } from "../programs/index.js";
import { type Difference, Differences, nameOf } from "./findings.js";
import type { LaterEffect, LoggedEvent, LoggedResult, RunLog } from "./log.js";
import { checkOrder } from "./order.js";
import { type FiredTimer, SequentialProgram } from "./sequential.js";

export type { Difference } from "./findings.js";

/**
 * Compares a run with the contract: runs the same events one at a time in ticket order and looks at results, later
 * effects and final states; then looks at the order of things as each observer saw it.
 */
export async function compare(
  built: BuiltProgram,
  workload: readonly RequestSpec[],
  log: RunLog,
): Promise<readonly Difference[]> {
  const findings = new Differences();
  const nodes = eventsByNode(built, log);
  const program = new SequentialProgram(built.roots);
  for (const [node, events] of nodes) {
    await replay(program, events, log, findings);
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
  log: RunLog,
  findings: Differences,
): Promise<void> {
  const byTicket = new Map<number, LoggedEvent>();
  for (const event of events) {
    const { ticket, origin, later } = event;
    if (later.length > 0) byTicket.set(ticket, event);
    if (isGivenUp(event)) {
      checkGivenUp(event, log, findings);
      continue;
    }
    const timer = origin.kind === "timer" ? timerOf(byTicket, origin) : undefined;
    const outcome = program.run(event, timer);
    const expected = outcome instanceof Promise ? await outcome : outcome;
    if (!sameResult(event.result, expected)) {
      findings.add(`result of ${nameOf(event)}`, shortResult(expected), shortResult(event.result), ticket);
    }
    if (!sameLater(later, expected.later)) {
      findings.add(`later effects of ${nameOf(event)}`, expected.later, later, ticket);
    }
  }
}

/** The events that end every host they run on are not part of the sequential run: they change nothing. */
function isGivenUp({ result }: LoggedEvent): boolean {
  return !result.ok && (result.error.code === "HW-6003" || result.error.code === "HW-6031");
}

/** It was proved that they do; and events that no caller can ask for again are still there. */
function checkGivenUp(event: LoggedEvent, { lostAlone, parked }: RunLog, findings: Differences): void {
  const { node, ticket, origin } = event;
  const proofs = lostAlone.get(`${node}/${ticket}`) ?? 0;
  if (proofs < 3) findings.add(`hosts that ${nameOf(event)} ended alone`, "at least 3", proofs, ticket);
  const isParked = parked.has(`${node}/${ticket}`);
  findings.check(`whether ${nameOf(event)} is parked`, origin.kind !== "request", isParked, ticket);
}

function timerOf(
  byTicket: ReadonlyMap<number, LoggedEvent>,
  { parent, index }: { readonly parent: number; readonly index: number },
): FiredTimer | undefined {
  const set = byTicket.get(parent)?.later[index];
  return set?.kind === "timer" ? set : undefined;
}

function sameResult(actual: LoggedResult, expected: LoggedResult): boolean {
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
  findings: Differences,
): void {
  for (const context of new Set([...expected.keys(), ...actual.keys()])) {
    const what = `final state of ${context} in ${node}`;
    findings.check(what, expected.get(context) ?? "as it began", actual.get(context) ?? "as it began");
  }
}

function shortResult(result: LoggedResult): unknown {
  return result.ok ? result.value : `${result.error.name}: ${result.error.message}`;
}
