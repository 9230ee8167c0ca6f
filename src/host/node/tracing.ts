import type { Core } from "../../core/core.js";
import { HeadwaterError } from "../../errors.js";
import { ticketIn } from "../../model/path.js";
import type { Feed } from "../../observe/index.js";
import type { Slot } from "../context/index.js";
import type { EventRequest, NodeEvent, Origin } from "../event/index.js";
import { Trails } from "./trails.js";

/** The kinds of facts that come from here. */
export const TRACED = ["event", "wait", "trail", "journal"] as const;

/** When an event got how far, by the clock that only goes forward. */
interface Times {
  begunMs: number;
  appendedMs: number;
  journaledMs: number;
}

/**
 * Notes what becomes of the events of one logical node. There is one only while an observer wants to know: without one, an event
 * carries nothing along for it.
 */
export class Tracing {
  /** Of events that are under way. */
  readonly #times = new Map<NodeEvent, Times>();
  readonly #trails: Trails | null;

  constructor(
    readonly node: string,
    readonly feed: Feed,
    readonly now: () => number,
    readonly hostOf: (slot: Slot) => number | null,
  ) {
    this.#trails = feed.wants("trail") ? new Trails(now, hostOf) : null;
  }

  /** Has the core tell what is wanted of it, and nothing else. */
  begin(core: Core<EventRequest>): void {
    const isWanted = this.feed.wants("wait") || this.#trails !== null;
    core.notes = isWanted ? { waits: [], entries: this.#trails === null ? null : [] } : null;
  }

  /** An attempt at the event begins. */
  begun(event: NodeEvent): void {
    const nowMs = this.now();
    this.#times.set(event, { begunMs: nowMs, appendedMs: nowMs, journaledMs: nowMs });
  }

  /** The event, and those along with it, go to the journal. */
  appended(first: NodeEvent): void {
    const nowMs = this.now();
    for (let at: NodeEvent | null = first; at !== null; at = at.along) {
      const times = this.#times.get(at);
      if (times !== undefined) times.appendedMs = nowMs;
    }
  }

  /** The journal has them. */
  journaled(first: NodeEvent, isStored: boolean): void {
    const nowMs = this.now();
    let [events, sinceMs] = [0, nowMs];
    for (let at: NodeEvent | null = first; at !== null; at = at.along) {
      const times = this.#times.get(at);
      events += 1;
      if (times === undefined) continue;
      times.journaledMs = nowMs;
      sinceMs = Math.min(sinceMs, times.appendedMs);
    }
    if (isStored && this.feed.wants("journal"))
      this.feed.note({ kind: "journal", node: this.node, events, ms: nowMs - sinceMs });
  }

  settled(event: NodeEvent): void {
    this.#noteEvent(event);
    const trail = this.#trails?.taken(event) ?? null;
    if (trail !== null && event.payload.migration === null)
      this.feed.note({ kind: "trail", node: this.node, ...trail });
  }

  #noteEvent(event: NodeEvent): void {
    const times = this.#times.get(event);
    this.#times.delete(event);
    const { slot, method, origin, caller, execution, migration, waiting } = event.payload;
    if (times === undefined || migration !== null || !this.feed.wants("event")) return;
    const { begunMs, appendedMs, journaledMs } = times;
    const ok = execution?.ok ?? true;
    this.feed.note({
      kind: "event",
      node: this.node,
      ticket: event.ticket,
      context: String(slot),
      method: method.name,
      isReadonly: method.readonly,
      startedBy: origin.kind,
      parent: parentOf(this.node, origin),
      parentNode:
        origin.kind === "message" ? origin.from : parentOf(this.node, origin) === null ? null : this.node,
      caller: caller ?? null,
      trace: waiting?.trace ?? null,
      ok,
      error: ok ? null : nameOf(execution?.value),
      attempts: event.attempt,
      host: this.hostOf(slot),
      waitedMs: Math.max(0, begunMs - event.steadyMs),
      ranMs: appendedMs - begunMs,
      journaledMs: journaledMs - appendedMs,
      totalMs: Math.max(0, this.now() - event.steadyMs),
    });
  }

  /** Takes out of the core who had to wait for whom, and who entered what. */
  heard(core: Core<EventRequest>): void {
    const { notes } = core;
    if (notes === null || (notes.waits.length === 0 && (notes.entries?.length ?? 0) === 0)) return;
    core.notes = { waits: [], entries: notes.entries === null ? null : [] };
    for (const { entry, obstacle } of notes.waits) this.#waits(entry.event, entry.context.owner, obstacle);
    for (const { event, context, attempt } of notes.entries ?? [])
      if (attempt === event.attempt) this.#trails?.entered(event, context.owner as Slot);
  }

  #waits(event: NodeEvent, context: unknown, obstacle: NodeEvent): void {
    const [wanted, forContext] = [String(context), String(obstacle.context.owner)];
    this.#trails?.waits(event, wanted, obstacle.ticket, forContext);
    if (this.feed.wants("wait"))
      this.feed.note({
        ...{ kind: "wait", node: this.node, ticket: event.ticket },
        ...{ context: wanted, for: obstacle.ticket, forContext },
      });
  }
}

/** The ticket of the event that started an event. */
function parentOf(node: string, origin: Origin): number | null {
  if (origin.kind === "timer") return ticketIn(node, origin.id);
  return "parent" in origin ? origin.parent : null;
}

function nameOf(thrown: unknown): string {
  if (thrown instanceof HeadwaterError) return thrown.code;
  try {
    return thrown instanceof Error ? String(thrown.name) : typeof thrown;
  } catch {
    return "Error";
  }
}
