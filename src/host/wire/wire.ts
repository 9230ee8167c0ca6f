import type { Ticket } from "../../core/event.js";
import { HeadwaterError } from "../../errors.js";
import type { Write } from "../../journal/journal.js";
import { Outside } from "../../model/outside.js";
import { type Path, pathOf, resolvePath } from "../../model/path.js";
import type { Method } from "../../model/shape.js";
import type { Slot } from "../context/index.js";
import { type Effect, isAnswer, methodOf, type Origin } from "../event/index.js";
import { textOf } from "../ports/index.js";

/** What the head of a program and its hosts say to each other: plain data, and names of contexts and methods. */

/** Which attempt at which event. */
export interface AttemptId {
  readonly node: string;
  readonly ticket: Ticket;
  readonly attempt: number;
}

/** What a host must know of an event to take part in it. */
export interface EventHeader {
  readonly slot: Slot;
  readonly method: Method;
  readonly ticket: Ticket;
  readonly attempt: number;
  readonly time: number;
  readonly steadyMs: number;
  readonly args: unknown[];
  readonly caller: string | null;
  readonly origin: Origin;
  /** The states of declared ancestors; null for one that cannot be made. */
  readonly seen: readonly (readonly [Path, Uint8Array | null])[];
  /**
   * Has the event seen nothing that could be taken back? If it then stays in its own context and asks for nothing, it is
   * over for its host when it has ended.
   */
  readonly isAlone: boolean;
  /** The ticket of the event before it in its context, if it is pipelined: it starts when that event is over. */
  readonly after: Ticket | null;
}

/** A call as the host that makes it names it. */
export interface CallRequest {
  readonly path: Path;
  readonly method: string;
  readonly args: unknown[];
  readonly positions: readonly number[];
  /** The head's number for the call, of another host, in which this one is made; 0 if there is none. */
  readonly within: number;
  /** The contexts of its callers: from that host those of the calls there, from the head all. */
  readonly callers: readonly CallerOnWire[];
  /** The states, at this moment, of other contexts above or below that the event has entered on that host. */
  readonly seen: readonly (readonly [Path, Uint8Array])[];
  /** If there is something to say that the head has not been told. */
  readonly existing?: Existing | undefined;
}

/** What held of a context when it made a call: was it held, and which state had it, or why was there none to be stored? */
export type CallerOnWire = readonly [path: Path, isHeld: boolean, state: Uint8Array | StoredNot];

/** The code and the text of the error. */
export type StoredNot = readonly [code: string, message: unknown];

/** How a call or an event ended. */
export interface WireOutcome {
  readonly ok: boolean;
  readonly value: WireValue;
  readonly effects: readonly WireEffect[];
  /** What the journal is to have of the contexts that were changed here, so far. */
  readonly writes: readonly Write[];
  readonly existing: Existing;
}

/**
 * Contexts on a host that exist (true) or do not (false) for an event, so far: the event has made or deleted them (true), or
 * given them up as they were (false).
 */
export type Existing = readonly (readonly [Path, exists: boolean, isChanged: boolean])[];

/** What an event has of the contexts above one that it enters, apart from those of the callers. */
export interface AboveOnWire {
  /** Contexts that it holds. */
  readonly held: readonly Path[];
  /** The states, as it left them, of contexts that it has entered on other hosts. */
  readonly seen: readonly (readonly [Path, Uint8Array])[];
}

export type ToHost =
  | ({ readonly kind: "run" } & EventHeader)
  /** A pipelined event may start, though the one before it is not over. */
  | ({ readonly kind: "start"; readonly isAlone: boolean } & AttemptId)
  /** The event may enter a context of this host, as one of its calls asked for. */
  | ({ readonly kind: "enter"; readonly ask: number } & AboveOnWire & AttemptId)
  /** A call of another host. `call` is the head's number for it. */
  | ({
      readonly kind: "call";
      readonly call: number;
      readonly header: EventHeader;
      readonly asked: CallRequest;
    } & AboveOnWire &
      AttemptId)
  | ({
      readonly kind: "returned";
      readonly ask: number;
      readonly call: number;
      readonly doom: WireValue | null;
    } & WireOutcome &
      AttemptId)
  | ({ readonly kind: "refused"; readonly ask: number; readonly error: WireValue } & AttemptId)
  | ({ readonly kind: "rollbackCalls"; readonly calls: readonly number[]; readonly ask: number } & AttemptId)
  | ({ readonly kind: "callsRolledBack" | "retracted"; readonly ask: number } & AttemptId)
  /** The event takes longer than it may: it fails, here where it started. */
  | ({ readonly kind: "abandon"; readonly ms: number } & AttemptId)
  /** The event has ended well on another host. */
  | ({ readonly kind: "publish" } & AttemptId)
  | ({ readonly kind: "rollback" } & AttemptId)
  /** The event is in the journal: nothing of it will be undone. */
  | ({ readonly kind: "forget" } & AttemptId)
  | ({ readonly kind: "view"; readonly path: Path; readonly look: number } & AttemptId)
  /** A context is on this host from now on, and this is its state, or a part of it with more to come. */
  | {
      readonly kind: "load";
      readonly node: string;
      readonly path: Path;
      readonly writes: readonly Write[];
      /** Does the last value go on in the next part? */
      readonly isCut: boolean;
      readonly isLast: boolean;
    }
  /** A context is not needed here at present. The journal has its state. */
  | { readonly kind: "evict"; readonly slot: Slot }
  /** These contexts are on this host no longer. */
  | { readonly kind: "handOver"; readonly node: string; readonly paths: readonly Path[] }
  /** Contexts are to be copied: `anew` from the beginning, of `paths` what has changed since they were copied last. */
  | ({
      readonly kind: "copyContexts";
      readonly paths: readonly Path[];
      readonly anew: readonly Path[];
      /** How large the first piece is to be. */
      readonly bytes: number;
    } & CopyOf)
  /** The last piece has arrived, and the next one, of this size, is wanted. */
  | ({ readonly kind: "nextPiece"; readonly bytes: number } & CopyOf)
  /** To be kept for contexts that may come (`pieces.ts`). */
  | ({ readonly kind: "stagePiece"; readonly piece: Uint8Array } & CopyOf)
  /** These contexts have come. */
  | ({ readonly kind: "install"; readonly paths: readonly Path[] } & CopyOf)
  /** The copy is not wanted any more. */
  | ({ readonly kind: "dropCopy" } & CopyOf);

/** Which copy of contexts of which logical node. */
export interface CopyOf {
  readonly node: string;
  readonly copy: number;
}

export type ToHead =
  | ({ readonly kind: "ask"; readonly ask: number } & CallRequest & AttemptId)
  | ({ readonly kind: "release"; readonly path: Path; readonly changed: boolean } & AttemptId)
  | ({ readonly kind: "retract"; readonly ask: number } & AttemptId)
  /** The event has stopped, and is to start again. */
  | ({ readonly kind: "restart" } & AttemptId)
  /** `isOver`: nothing of it can be taken back any more, and its host has forgotten it. */
  | ({ readonly kind: "finish"; readonly isOver: boolean } & WireOutcome & AttemptId)
  | ({
      readonly kind: "return";
      readonly call: number;
      readonly doom: WireValue | null;
      /** The states, at this moment, of the contexts that the event has entered here and that have others below. */
      readonly entered: readonly (readonly [Path, Uint8Array])[];
    } & WireOutcome &
      AttemptId)
  | ({ readonly kind: "rollbackCalls"; readonly calls: readonly number[]; readonly ask: number } & AttemptId)
  | ({
      readonly kind: "callsRolledBack";
      readonly ask: number;
      readonly writes: readonly Write[];
      readonly entered: readonly (readonly [Path, Uint8Array])[];
      readonly existing: Existing;
    } & AttemptId)
  | ({
      readonly kind: "viewed";
      readonly path: Path;
      readonly look: number;
      readonly state: Uint8Array | null;
    } & AttemptId)
  | ({ readonly kind: "copiedPiece"; readonly piece: Uint8Array; readonly isLast: boolean } & CopyOf)
  | ({ readonly kind: "pieceStaged" } & CopyOf);

/** A value or an error; our own errors keep their codes. Errors that may be reported keep their stacks. */
export type WireValue =
  | { readonly value: unknown; readonly stack?: string }
  | { readonly code: string; readonly message: string; readonly stack?: string };

const STACK_LENGTH_MAX = 4096;

export function wired(value: unknown): WireValue {
  if (!(value instanceof Error)) return { value };
  const stack = stackOf(value);
  if (value instanceof HeadwaterError) return { code: value.code, message: value.message, ...stack };
  return { value, ...stack };
}

/** Formatting a stack takes long, and the stacks of answers are never reported. */
function stackOf(error: Error): { readonly stack?: string } {
  if (isAnswer(error)) return {};
  return { stack: textOf(error).slice(0, STACK_LENGTH_MAX) };
}

export function unwired(wire: WireValue): unknown {
  const value = "code" in wire ? HeadwaterError.restored(wire.code, wire.message) : wire.value;
  const { stack } = wire;
  if (stack !== undefined) Object.defineProperty(value, "stack", { value: stack, configurable: true });
  return value;
}

export type WireEffect =
  | {
      readonly kind: "start" | "send";
      readonly node: string;
      readonly path: Path;
      readonly method: string;
      readonly args: unknown[];
      /** Of messages: the address of the context that sends it. */
      readonly sender?: string;
    }
  | { readonly kind: "tell"; readonly client: string; readonly message: unknown }
  | {
      readonly kind: "timer";
      readonly id: string;
      readonly owner: Path;
      readonly due: number;
      readonly path: Path;
      readonly method: string;
      readonly args: unknown[];
    }
  | { readonly kind: "cancel"; readonly id: string; readonly due: number | null }
  | {
      readonly kind: "outside";
      readonly outside: string;
      readonly input: unknown;
      readonly path: Path;
      readonly method: string | null;
      readonly args: unknown[];
    };

export function wireEffect(effect: Effect): WireEffect {
  switch (effect.kind) {
    case "start":
    case "send": {
      const { kind, slot, method, args } = effect;
      const wire = { kind, node: slot.node, path: pathOf(slot), method: method.name, args };
      return kind === "start" ? wire : { ...wire, sender: effect.sender };
    }
    case "timer": {
      const { kind, id, owner, due, slot, method, args } = effect;
      return { kind, id, owner: pathOf(owner), due, path: pathOf(slot), method: method.name, args };
    }
    case "outside": {
      const { kind, outside, input, slot, method, args } = effect;
      return { kind, outside: outside.name, input, path: pathOf(slot), method: method?.name ?? null, args };
    }
    default:
      return effect;
  }
}

/** `node` is that of the event. */
export function unwireEffect(effect: WireEffect, node: string, roots: ReadonlyMap<string, Slot>): Effect {
  switch (effect.kind) {
    case "start":
    case "send": {
      const { kind, args, sender = "" } = effect;
      const target = found(effect.node, effect.path, effect.method, roots);
      return kind === "start" ? { kind, ...target, args } : { kind, ...target, args, sender };
    }
    case "timer": {
      const { kind, id, due, args } = effect;
      const owner = at(node, effect.owner, roots);
      return { kind, id, owner, due, ...found(node, effect.path, effect.method, roots), args };
    }
    case "outside": {
      const slot = at(node, effect.path, roots);
      const method = effect.method === null ? null : methodOf(slot, effect.method);
      const outside = Outside.named(effect.outside) as Outside<never, unknown>;
      return { kind: "outside", outside, input: effect.input, slot, method, args: effect.args };
    }
    default:
      return effect;
  }
}

export function at(node: string, path: Path, roots: ReadonlyMap<string, Slot>): Slot {
  return resolvePath(roots.get(node) as Slot, path);
}

export function found(
  node: string,
  path: Path,
  method: string,
  roots: ReadonlyMap<string, Slot>,
): { readonly slot: Slot; readonly method: Method } {
  const slot = at(node, path, roots);
  return { slot, method: methodOf(slot, method) };
}
