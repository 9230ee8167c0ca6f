import { TRAIL_MAX, type TrailEffect, type TrailFact } from "../../observe/index.js";
import type { Slot } from "../context/index.js";
import type { Effect, NodeEvent } from "../event/index.js";

/** Of a message of an error of the application. */
const MESSAGE_LENGTH_MAX = 2_000;
const STACK_LENGTH_MAX = 8_000;

interface Wait {
  readonly context: string;
  readonly for: number;
  readonly forContext: string;
  readonly sinceMs: number;
  ms: number | null;
}

interface Trail {
  /** By when the attempt has entered them, in milliseconds by the clock that only goes forward. */
  readonly entered: Map<Slot, number>;
  attempt: number;
  readonly waits: Wait[];
  leftOut: number;
}

/** The ways of the events of a logical node that are under way; there are some only while an observer wants to know. */
export class Trails {
  readonly #trails = new Map<NodeEvent, Trail>();

  constructor(
    readonly now: () => number,
    readonly hostOf: (slot: Slot) => number | null,
  ) {}

  entered(event: NodeEvent, slot: Slot): void {
    const trail = this.#of(event);
    const nowMs = this.now();
    const name = String(slot);
    if (trail.attempt !== event.attempt) trail.entered.clear(); // it was taken back
    trail.attempt = event.attempt;
    for (const wait of trail.waits)
      if (wait.ms === null && wait.context === name) wait.ms = nowMs - wait.sinceMs;
    if (trail.entered.has(slot)) return;
    if (trail.entered.size < TRAIL_MAX) trail.entered.set(slot, nowMs);
    else trail.leftOut += 1;
  }

  waits(event: NodeEvent, context: string, ticket: number, forContext: string): void {
    const trail = this.#of(event);
    const sinceMs = this.now();
    // It waits for one after the other.
    for (const wait of trail.waits)
      if (wait.ms === null && wait.context === context) wait.ms = sinceMs - wait.sinceMs;
    if (trail.waits.length < TRAIL_MAX)
      trail.waits.push({ context, for: ticket, forContext, sinceMs, ms: null });
    else trail.leftOut += 1;
  }

  /** The whole way of an event that is settled; it is forgotten here. */
  taken(event: NodeEvent): Omit<TrailFact, "kind" | "atMs" | "node"> | null {
    const trail = this.#trails.get(event);
    this.#trails.delete(event);
    const { execution } = event.payload;
    if (trail === undefined || execution === null) return null;
    const nowMs = this.now();
    const { entered, waits, leftOut } = trail;
    const { ok, effects, value } = execution;
    return {
      ticket: event.ticket,
      contexts: [...entered].map(([slot, atMs]) => {
        return {
          context: String(slot),
          host: this.hostOf(slot),
          afterMs: Math.max(0, atMs - event.steadyMs),
        };
      }),
      waits: waits.map(({ ms, sinceMs, ...wait }) => ({ ...wait, ms: ms ?? nowMs - sinceMs })),
      effects: effects.slice(0, TRAIL_MAX).map((effect) => shown(effect, nowMs)),
      leftOut: leftOut + Math.max(0, effects.length - TRAIL_MAX),
      thrown: ok ? null : thrownAs(value),
    };
  }

  #of(event: NodeEvent): Trail {
    const known = this.#trails.get(event);
    if (known !== undefined) return known;
    const trail: Trail = { entered: new Map(), attempt: event.attempt, waits: [], leftOut: 0 };
    this.#trails.set(event, trail);
    return trail;
  }
}

function shown(effect: Effect, nowMs: number): TrailEffect {
  const none = { method: null, inMs: null };
  switch (effect.kind) {
    case "start":
    case "send":
      return { what: effect.kind, to: String(effect.slot), method: effect.method.name, inMs: null };
    case "tell":
      return { what: "tell", to: effect.client, ...none };
    case "timer": {
      const inMs = Math.max(0, effect.due - nowMs);
      return { what: "timer", to: String(effect.slot), method: effect.method.name, inMs };
    }
    case "cancel":
      return { what: "cancel", to: String(effect.id), ...none };
    case "outside":
      return { what: "outside", to: effect.outside.name, method: effect.method?.name ?? null, inMs: null };
  }
}

/** The texts of what was thrown are made by code of the application, which may throw. */
function thrownAs(value: unknown): TrailFact["thrown"] {
  try {
    const { message, stack } = value instanceof Error ? value : { message: String(value), stack: "" };
    return {
      message: String(message).slice(0, MESSAGE_LENGTH_MAX),
      stack: String(stack ?? "").slice(0, STACK_LENGTH_MAX),
    };
  } catch {
    return { message: "something that cannot be shown was thrown", stack: "" };
  }
}
