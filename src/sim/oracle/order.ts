import { keyOf, type Step } from "../../model/path.js";
import { same } from "../../state/same.js";
import type { RequestSpec } from "../programs/index.js";
import { type Differences, nameOf } from "./findings.js";
import type { LaterEffect, LoggedEvent, RunLog } from "./log.js";
import { checkTimersInOrder } from "./timer-order.js";

/**
 * What the contract says about order and number: everything that was asked for happens once, later than and in the
 * order of its asking; each observer sees a logical node's messages in ticket order; tickets respect real time.
 */
export function checkOrder(
  nodes: ReadonlyMap<string, readonly LoggedEvent[]>,
  workload: readonly RequestSpec[],
  log: RunLog,
  findings: Differences,
): void {
  const born = new Born(log.events, findings);
  born.checkRequests(workload, log);
  for (const [node, events] of nodes) {
    const cancelled = cancelledTimers(events);
    for (const event of events) {
      if (event.later.length === 0) continue;
      event.later.forEach((effect, index) => {
        if (effect.kind === "start") born.checkStart(event, index, effect);
        else if (effect.kind === "send") born.checkMessage(event, index, effect);
        else if (effect.kind === "outside") born.checkOutside(event, index, effect, log);
        else if (effect.kind === "timer") {
          const mayBeAbsent = cancelled.has(effect.id) || (log.armed.get(node)?.has(effect.id) ?? false);
          born.checkTimer(event, index, effect, mayBeAbsent);
        }
      });
    }
    checkStartsInOrder(events, findings);
    checkMessagesInOrder(events, findings);
    checkTimersInOrder(events, findings);
    checkTime(node, events, log, findings);
  }
  born.checkNoOthers();
  checkNothingElseOutside(nodes, log, findings);
  checkTold(nodes, workload, log, findings);
}

/** Events by what they were born from. Unexplained events are left over in the end. */
class Born {
  /** One for each request of the workload; surplus ones. */
  readonly #requests: LoggedEvent[] = [];
  readonly #again = new Set<number>();
  readonly #others = new Map<string, LoggedEvent[]>();

  constructor(
    events: readonly LoggedEvent[],
    readonly findings: Differences,
  ) {
    for (const event of events) {
      const { origin, node } = event;
      if (origin.kind === "request") {
        if (this.#requests[origin.request] !== undefined) this.#again.add(origin.request);
        this.#requests[origin.request] = event;
      } else {
        const from = origin.kind === "message" ? origin.from : node;
        const id = `${origin.kind} ${from} ${origin.parent} ${origin.index}`;
        appendTo(this.#others, id, event);
      }
    }
  }

  checkRequests(workload: readonly RequestSpec[], { lost, answers }: RunLog): void {
    workload.forEach((request, index) => {
      const { node, method, client } = request;
      const event = this.#requests[index];
      if (event === undefined && lost.has(index)) return;
      if (event === undefined || this.#again.has(index)) {
        this.findings.add(`request ${index}`, "one event", event === undefined ? "none" : "several");
      } else if (event.node !== node || event.caller !== (client ?? undefined) || !isOf(event, request)) {
        this.findings.add(`request ${index}`, `${node} ${client} ${method}`, nameOf(event), event.ticket);
      }
      if (answers.size === 0) return;
      for (const answer of answers.get(index) ?? [])
        this.findings.check(`answer to request ${index}`, event?.result, answer, event?.ticket);
    });
  }

  checkStart(parent: LoggedEvent, index: number, effect: LaterEffect & { kind: "start" }): void {
    const event = this.#only("start", parent, index, false);
    if (event !== null) this.#checkEvent(event, parent, effect);
  }

  checkTimer(
    parent: LoggedEvent,
    index: number,
    effect: LaterEffect & { kind: "timer" },
    mayBeAbsent: boolean,
  ): void {
    const event = this.#only("timer", parent, index, mayBeAbsent);
    if (event === null) return;
    this.#checkEvent(event, parent, effect);
    const due = parent.steadyMs + effect.ms;
    if (event.steadyMs < due)
      this.findings.add(`time of ${nameOf(event)}`, `at least ${due}`, event.steadyMs, event.ticket);
  }

  /** The function was called; and what came of it, maybe not the last time, is what the event got. */
  checkOutside(
    parent: LoggedEvent,
    index: number,
    effect: LaterEffect & { kind: "outside" },
    { outside, crashes }: RunLog,
  ): void {
    const result = outside.get(keyOfCall(parent, index));
    const what = `outside call ${index} of ${nameOf(parent)}`;
    if (result === undefined) this.findings.add(what, "at least one", "none", parent.ticket);
    if (effect.method === null) return;
    const event = this.#only("outside", parent, index, false);
    if (event === null) return;
    const [given] = event.args;
    if (crashes === 0) this.findings.check(`what came of ${what}`, result, given, event.ticket);
    this.#checkEvent(event, parent, { ...effect, method: effect.method, args: [given, ...effect.args] });
  }

  checkMessage(parent: LoggedEvent, index: number, effect: LaterEffect & { kind: "send" }): void {
    const event = this.#only("message", parent, index, false);
    if (event === null) return;
    const isFrom = event.sender?.node === parent.node && event.sender.address === effect.sender;
    if (event.node !== effect.node || !isFrom || !isOf(event, effect)) {
      this.findings.add(`message ${index} of ${nameOf(parent)}`, effect, nameOf(event), event.ticket);
    }
  }

  checkNoOthers(): void {
    for (const [id, [event]] of this.#others) {
      if (event !== undefined)
        this.findings.add("an event that was not asked for", "none", `${id}: ${nameOf(event)}`);
    }
  }

  #only(kind: string, parent: LoggedEvent, index: number, mayBeAbsent: boolean): LoggedEvent | null {
    const id = `${kind} ${parent.node} ${parent.ticket} ${index}`;
    const events = this.#others.get(id) ?? [];
    this.#others.delete(id);
    const [event = null] = events;
    if (events.length > 1 || (event === null && !mayBeAbsent)) {
      this.findings.add(
        `${kind} ${index} of ${nameOf(parent)}`,
        "one event",
        `${events.length} events`,
        parent.ticket,
      );
    }
    return event;
  }

  #checkEvent(event: LoggedEvent, parent: LoggedEvent, effect: Asked): void {
    if (!isOf(event, effect)) this.findings.add(`what ${nameOf(event)} is`, effect, event.args, event.ticket);
    if (event.ticket > parent.ticket) return;
    this.findings.add(`ticket of ${nameOf(event)}`, `above ${parent.ticket}`, event.ticket, event.ticket);
  }
}

function keyOfCall({ node, ticket }: LoggedEvent, index: number): string {
  return `${node}/${ticket}/${index}`;
}

/** Nothing happens outside for an event that did not commit. */
function checkNothingElseOutside(
  nodes: ReadonlyMap<string, readonly LoggedEvent[]>,
  { outside }: RunLog,
  findings: Differences,
): void {
  if (outside.size === 0) return;
  const asked = new Set<string>();
  for (const event of [...nodes.values()].flat()) {
    event.later.forEach((effect, index) => {
      if (effect.kind === "outside") asked.add(keyOfCall(event, index));
    });
  }
  for (const key of outside.keys()) {
    if (!asked.has(key)) findings.add(`outside call ${key}`, "never made", "made");
  }
}

function appendTo<T>(lists: Map<string, T[]>, id: string, item: T): void {
  const list = lists.get(id);
  if (list === undefined) lists.set(id, [item]);
  else list.push(item);
}

type Asked = Readonly<Pick<LoggedEvent, "path" | "method" | "args">>;

function isOf(event: LoggedEvent, { path, method, args }: Asked): boolean {
  return event.method === method && samePath(event.path, path) && same(event.args, args);
}

function samePath(actual: readonly Step[], expected: readonly Step[]): boolean {
  if (actual.length !== expected.length) return false;
  for (let i = 0; i < actual.length; i++) {
    if (actual[i]?.field !== expected[i]?.field || !sameKey(actual[i], expected[i])) return false;
  }
  return true;
}

function sameKey(actual: Step | undefined, expected: Step | undefined): boolean {
  if (actual === undefined || expected === undefined) return actual === expected;
  return same(keyOf(actual), keyOf(expected));
}

function cancelledTimers(events: readonly LoggedEvent[]): Set<string> {
  const cancelled = new Set<string>();
  for (const { later } of events)
    for (const effect of later) if (effect.kind === "cancel") cancelled.add(effect.timer);
  return cancelled;
}

/** In ticket order, the starts of one event come in the order in which it asked for them. */
function checkStartsInOrder(events: readonly LoggedEvent[], findings: Differences): void {
  const last = new Map<number, number>();
  for (const event of events) {
    const { origin, ticket } = event;
    if (origin.kind !== "start") continue;
    const before = last.get(origin.parent) ?? -1;
    if (origin.index < before) {
      findings.add(
        `place of ${nameOf(event)}`,
        `start ${origin.index} before start ${before}`,
        "after",
        ticket,
      );
    }
    last.set(origin.parent, origin.index);
  }
}

/** In ticket order, the messages from one logical node come in the order of its tickets, then of its asking. */
function checkMessagesInOrder(events: readonly LoggedEvent[], findings: Differences): void {
  const last = new Map<string, { parent: number; index: number }>();
  for (const event of events) {
    const { origin, ticket } = event;
    if (origin.kind !== "message") continue;
    const before = last.get(origin.from);
    if (before !== undefined && !isBefore(before, origin)) {
      findings.add(
        `place of ${nameOf(event)}`,
        "messages in the sender's order",
        { before, after: origin },
        ticket,
      );
    }
    last.set(origin.from, origin);
  }
}

function isBefore(a: { parent: number; index: number }, b: { parent: number; index: number }): boolean {
  return a.parent === b.parent ? a.index < b.index : a.parent < b.parent;
}

function checkTime(
  node: string,
  events: readonly LoggedEvent[],
  { commitOrder, crashes }: RunLog,
  findings: Differences,
): void {
  // A crash makes known at one go what the journal has, whatever was to come before it.
  const isInTotalOrder = commitOrder === "total" && crashes === 0;
  let acknowledged = Number.POSITIVE_INFINITY;
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i] as LoggedEvent;
    const { submittedStep, acknowledgedStep, ticket } = event;
    if (acknowledged < submittedStep) {
      const expected = "above all events acknowledged before it was submitted";
      findings.add(`ticket of ${nameOf(event)}`, expected, ticket, ticket);
    }
    if (isInTotalOrder && acknowledged < acknowledgedStep) {
      findings.add(
        `commit of ${nameOf(event)}`,
        "before that of all later tickets",
        acknowledgedStep,
        ticket,
      );
    }
    acknowledged = Math.min(acknowledged, acknowledgedStep);
    const earlier = events[i - 1];
    // Of events that leave nothing in the journal, a process that goes on from there does not know how late it was.
    if (crashes === 0 && earlier !== undefined && earlier.steadyMs > event.steadyMs) {
      findings.add(
        `time in ${node}`,
        `${nameOf(event)} not earlier than ${earlier.steadyMs}`,
        event.steadyMs,
        ticket,
      );
    }
  }
}

/** Every message to a connected client arrives once, per sender in ticket order, then in the order of asking. */
function checkTold(
  nodes: ReadonlyMap<string, readonly LoggedEvent[]>,
  workload: readonly RequestSpec[],
  log: RunLog,
  findings: Differences,
): void {
  const expected = new Map<string, unknown[]>();
  for (const [node, events] of nodes) {
    for (const { ticket, later } of events) {
      if (later.length === 0) continue;
      later.forEach((effect, index) => {
        if (effect.kind === "tell")
          appendTo(expected, `${node} ${effect.client}`, { ticket, index, message: effect.message });
      });
    }
  }
  const actual = new Map<string, unknown[]>();
  for (const { client, node, ticket, index, message } of log.told)
    appendTo(actual, `${node} ${client}`, { ticket, index, message });
  for (const client of new Set(workload.map((request) => request.client))) {
    if (client === null) continue;
    for (const node of nodes.keys()) {
      const pair = `${node} ${client}`;
      findings.check(`what ${node} told client ${client}`, expected.get(pair) ?? [], actual.get(pair) ?? []);
    }
  }
}
