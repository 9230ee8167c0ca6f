import { isWellFormed } from "../../model/key.js";
import { decode, encode } from "../../state/codec.js";
import { isSimple } from "../../state/values.js";
import type { EventHeader, Existing, ToHead, ToHost, WireEffect, WireOutcome, WireValue } from "./wire.js";

/**
 * Messages between the head and its hosts, many at a time as one piece of binary data. Contexts and names are said once
 * and are numbers from then on; tickets are said as differences, and times when they change. Both ends are of one program and trust each
 * other. The messages that most events need are a few bytes (`bytes.ts`); the others are packed as they are. What belongs
 * to the application goes through the same encoding as everywhere, unless it is a simple value.
 */
export type HostMessage = ToHost | ToHead;

/** What stands in front of each message of a batch, and of what must be known before it. */
export const KIND = {
  context: 0,
  name: 1,
  afresh: 2,
  run: 3,
  over: 4,
  finish: 5,
  forget: 6,
  other: 7,
  evict: 8,
  ask: 9,
  enter: 10,
  call: 11,
  return: 12,
  returned: 13,
  publish: 14,
} as const;

/** How an event that is to run depends on others: as the head will say, not at all, or only on the one before it. */
export const HOW = { notAlone: 0, alone: 1, after: 2 } as const;

/** Of a caller's context: is it held, and is there a state of it? */
export const HELD = { held: 1, state: 2 } as const;

/** What most events do not have: a caller, an origin, states of ancestors. */
export type RestOfHeader = [caller: unknown, EventHeader["origin"] | null, EventHeader["seen"]];

export const NONE: readonly never[] = [];

/** A value, or the code and the text of one of our errors. With a stack, an error of the application has the code null. */
export type PackedWireValue =
  | readonly [unknown]
  | readonly [string, unknown]
  | readonly [code: string | null, value: unknown, stack: unknown];

export interface PackedEnd {
  readonly ok: boolean;
  readonly value: PackedWireValue;
  readonly effects: 0 | Uint8Array;
  readonly writes: 0 | WireOutcome["writes"];
  readonly existing: 0 | Uint8Array;
}

export function packedEnd({ ok, value, effects, writes, existing }: WireOutcome): PackedEnd {
  return {
    ok,
    value: packedWireValue(value),
    effects: effects.length === 0 ? 0 : encode(effects),
    writes: writes.length === 0 ? 0 : writes,
    existing: existing.length === 0 ? 0 : encode(existing),
  };
}

export function unpackedEnd({ ok, value, effects, writes, existing }: PackedEnd): WireOutcome {
  return {
    ok,
    value: unpackedWireValue(value),
    effects: effects === 0 ? NONE : (decode(effects) as WireEffect[]),
    writes: writes === 0 ? NONE : writes,
    existing: existing === 0 ? NONE : (decode(existing) as Existing),
  };
}

export function packedWireValue(wire: WireValue): PackedWireValue {
  const { stack } = wire;
  const value = packedValue("code" in wire ? wire.message : wire.value);
  if (stack !== undefined) return ["code" in wire ? wire.code : null, value, packedValue(stack)];
  return "code" in wire ? [wire.code, value] : [value];
}

export function unpackedWireValue(packed: PackedWireValue): WireValue {
  if (packed.length === 1) return { value: unpackedValue(packed[0]) };
  const [code, value] = packed;
  const stack = packed.length === 3 ? { stack: unpackedValue(packed[2]) as string } : {};
  if (code === null) return { value: unpackedValue(value), ...stack };
  return { code, message: unpackedValue(value) as string, ...stack };
}

/** Other than simple values are encoded; so binary data is always an encoding. */
export function packedValue(value: unknown): unknown {
  return isPlain(value) ? value : encode(value);
}

export function unpackedValue(packed: unknown): unknown {
  return packed instanceof Uint8Array ? decode(packed) : packed;
}

/** Is it a simple value, or a list of some, that need not be encoded? */
function isPlain(value: unknown): boolean {
  return Array.isArray(value) ? value.every(isUnchanged) : isUnchanged(value);
}

/** Not what would be changed on the way: halves of characters, integers of any length, the sign of zero. */
function isUnchanged(value: unknown): boolean {
  if (typeof value === "string") return isWellFormed(value);
  return isSimple(value) && typeof value !== "bigint" && !Object.is(value, -0);
}
