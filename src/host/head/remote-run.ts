import type { Write } from "../../journal/journal.js";
import { resolvePath } from "../../model/path.js";
import { rootOf, type Slot } from "../context/index.js";
import type { Attempt, Effect, NodeEvent, StateChange } from "../event/index.js";
import type { HostId } from "../ports/index.js";
import type { AttemptId, Existing, ToHead, WireOutcome } from "../wire/index.js";
import type { Hosts } from "./hosts.js";
import type { Chain } from "./pipelining.js";
import type { RemoteCall } from "./remote-calls.js";

type AwayCall = RemoteCall & { readonly host: HostId };

interface PendingRollback {
  readonly from: HostId;
  readonly ask: number;
  /** How many hosts are still to say that they have done it. */
  left: number;
}

const NONE: readonly never[] = [];
const NO_CONTEXTS: ReadonlyMap<Slot, boolean> = new Map();

/** Lists of one host, made once: most events are on one. */
const ALONE: (readonly HostId[] | undefined)[] = [];

function alone(host: HostId): readonly HostId[] {
  ALONE[host] ??= [host];
  return ALONE[host];
}

/** A try at an event that runs on hosts. */
export class RemoteRun implements Attempt {
  isDead = false;
  ok = false;
  value: unknown = undefined;
  effects: readonly Effect[] = NONE;
  /** Has it entered the context that it starts in? And which others has it entered? */
  #hasEntered = false;
  #others: Slot[] | null = null;
  /** The hosts that take part, the event's own first. */
  #hosts: readonly HostId[];
  /** If it was pipelined, before its turn has come: behind which attempt, and what its host has said of it since. */
  behind: RemoteRun | null = null;
  early: ToHead[] | null = null;
  /** Attempts that were pipelined behind it, or behind the same attempt as it was. */
  chain: Chain | null = null;
  /** When it began, by the clock of the slow-event check. */
  beganMs = 0;
  /** Was its host told to give it up? */
  isAbandoned = false;
  /** Have its hosts forgotten it? */
  isOver = false;
  #states: Map<Slot, Uint8Array> | null = null;
  #calls: Map<number, AwayCall> | null = null;
  #writes: Map<HostId, readonly Write[]> | null = null;
  #existing: Map<HostId, Existing> | null = null;
  #rollbacks: Map<number, PendingRollback> | null = null;
  /** Calls that must wait until an earlier event lets them in. */
  waiting: Set<RemoteCall> | null = null;
  isRolledBack = false;
  #hasLeft = false;

  constructor(
    readonly event: NodeEvent,
    readonly attempt: number,
    readonly links: Hosts,
    host: HostId | null,
  ) {
    const { slot } = event.payload;
    this.#hosts = host === null ? NONE : alone(host);
    if (host !== null && !slot.shape.anonymous) this.enters(slot);
  }

  get hosts(): readonly HostId[] {
    return this.#hosts;
  }

  /** The contexts that it has entered. */
  get entered(): Slot[] {
    const own = this.#hasEntered ? [this.event.payload.slot] : [];
    return this.#others === null ? own : [...own, ...this.#others];
  }

  get attemptId(): AttemptId {
    return { node: this.event.payload.slot.node, ticket: this.event.ticket, attempt: this.attempt };
  }

  rollBack(): void {
    if (this.isRolledBack) return;
    this.isRolledBack = true;
    this.isDead = true;
    if (!this.isOver)
      for (const host of this.hosts) this.links.send(host, { kind: "rollback", ...this.attemptId });
    this.#releaseContexts();
    // Last: the quarantine may let another event go ahead, for which a context is evicted that this one was in.
    if (this.event.payload.record !== null) this.links.quarantine.waits(this.event);
  }

  leave(): void {
    if (this.ok) for (const [slot, exists] of this.#existingIf(isChanged)) slot.makes(exists);
    this.#releaseContexts();
    if (this.isRolledBack || this.isOver) return;
    const { node, ticket, attempt } = this.attemptId;
    for (const host of this.hosts) this.links.send(host, { kind: "forget", node, ticket, attempt });
  }

  /** The journal has it, or it is taken back: nothing keeps the contexts on their hosts for its sake. */
  #releaseContexts(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    if (this.#hasEntered) this.event.payload.slot.residence.users -= 1;
    if (this.#others !== null) for (const slot of this.#others) slot.residence.users -= 1;
  }

  touched(): Iterable<Slot> {
    return this.entered;
  }

  /** Which of them it has changed is known to their hosts only. */
  changes(note: (slot: Slot, isMade: boolean) => void): void {
    for (const slot of this.entered) note(slot, false);
    for (const [slot] of this.#existingIf(isChanged)) note(slot, true);
  }

  collectChanges(_: Map<Slot, StateChange>, writes: Write[]): void {
    for (const each of this.#writes?.values() ?? []) writes.push(...each);
  }

  joinedBy(host: HostId): void {
    if (!this.#hosts.includes(host)) this.#hosts = [...this.#hosts, host];
  }

  hasEntered(slot: Slot): boolean {
    return slot === this.event.payload.slot ? this.#hasEntered : (this.#others?.includes(slot) ?? false);
  }

  enters(slot: Slot): void {
    if (this.hasEntered(slot)) return;
    if (slot === this.event.payload.slot) this.#hasEntered = true;
    else (this.#others ??= []).push(slot);
    slot.residence.users += 1;
  }

  /** The last known states of contexts that it has entered, for calls on other hosts. */
  get states(): Map<Slot, Uint8Array> {
    this.#states ??= new Map();
    return this.#states;
  }

  /** Calls that run, or ran, on another host than their caller's. */
  get calls(): Map<number, AwayCall> {
    this.#calls ??= new Map();
    return this.#calls;
  }

  /** Callers that wait until calls were rolled back on other hosts. */
  get rollbacks(): Map<number, PendingRollback> {
    this.#rollbacks ??= new Map();
    return this.#rollbacks;
  }

  /** Calls that a host has given up are taken back on the hosts that they ran on; `number` is that of this request. */
  rollBackCalls(
    from: HostId,
    { ask, calls }: Extract<ToHead, { kind: "rollbackCalls" }>,
    number: number,
  ): void {
    const byHost = new Map<HostId, number[]>();
    for (const call of calls) {
      const host = this.calls.get(call)?.host;
      if (host === undefined) continue;
      byHost.set(host, [...(byHost.get(host) ?? []), call]);
    }
    if (byHost.size === 0) return this.links.send(from, { kind: "callsRolledBack", ...this.attemptId, ask });
    this.rollbacks.set(number, { from, ask, left: byHost.size });
    for (const [host, own] of byHost)
      this.links.send(host, { kind: "rollbackCalls", ...this.attemptId, calls: own, ask: number });
  }

  /** One of those hosts has done it. */
  callsRolledBack(number: number): void {
    const waiting = this.rollbacks.get(number);
    if (waiting === undefined) return;
    waiting.left -= 1;
    if (waiting.left > 0) return;
    this.rollbacks.delete(number);
    this.links.send(waiting.from, { kind: "callsRolledBack", ...this.attemptId, ask: waiting.ask });
  }

  /** What the journal is to have of the contexts that were changed on a host, as it says now. */
  changedOn(host: HostId, { writes, existing }: Pick<WireOutcome, "writes" | "existing">): void {
    this.existsOn(host, existing);
    if (writes.length === 0 && this.#writes === null) return;
    this.#writes ??= new Map();
    this.#writes.set(host, writes);
  }

  /** Which contexts of a host exist for the event, as the host says now. */
  existsOn(host: HostId, existing: Existing): void {
    if (existing.length === 0 && this.#existing === null) return;
    this.#existing ??= new Map();
    this.#existing.set(host, existing);
  }

  /** The contexts that it has made, deleted or given up, and whether they exist for it. */
  existing(): ReadonlyMap<Slot, boolean> {
    return this.#existingIf(() => true);
  }

  #existingIf(isMeant: (each: Existing[number]) => boolean): ReadonlyMap<Slot, boolean> {
    if (this.#existing === null) return NO_CONTEXTS;
    const root = rootOf(this.event.payload.slot);
    const meant = [...this.#existing.values()].flat().filter(isMeant);
    return new Map(meant.map(([path, exists]) => [resolvePath(root, path), exists]));
  }
}

/** Has the event made or deleted it? */
function isChanged([, , changed]: Existing[number]): boolean {
  return changed;
}
