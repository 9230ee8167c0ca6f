import { decode, encode } from "./codec.js";
import type { RecordedEffect } from "./effects.js";

/**
 * What goes to a worker and what comes back, as arguments and result of an event. Flat lists of simple values are sent as
 * they are: their own copies, which need no look at what a copy would lose, and no memory of their own. All else is
 * encoded.
 */
export type Parcel = readonly unknown[];

/** What comes back: what the stage did, returned or threw, and how long it kept its thread busy. */
export type Report =
  | {
      readonly ok: boolean;
      readonly value: unknown;
      /** Which of its receivers the stage returned, if it did: `return res.send(x)`. */
      readonly receiver?: number;
      readonly effects: readonly RecordedEffect[];
      readonly busyMs: number;
    }
  | { readonly refused: string };

/** Inputs become arguments, of which there cannot be any number. */
const PLAIN_MAX = 64;

/** Throws a `StageRefusal` for what cannot be copied. */
export function packInputs(inputs: readonly unknown[]): Parcel {
  return inputs.length <= PLAIN_MAX && inputs.every(isPlain) ? inputs.slice() : [encode(inputs)];
}

export function unpackInputs(parcel: Parcel): readonly unknown[] {
  const [bytes] = parcel;
  return bytes instanceof Uint8Array ? (decode(bytes) as unknown[]) : parcel;
}

/** Throws a `StageRefusal` for what cannot be copied. */
export function packReport(report: Report): Parcel {
  return (!("refused" in report) && packPlain(report)) || [encode(report)];
}

export function unpackReport(parcel: Parcel): Report {
  const [bytes] = parcel;
  return bytes instanceof Uint8Array ? (decode(bytes) as Report) : unpackPlain(parcel);
}

const NO_RECEIVER = -1;
/** What stands in front of the effects, and in front of the arguments of one. */
const [HEAD, EFFECT_HEAD] = [4, 4];

function packPlain({ ok, value, receiver, effects, busyMs }: Exclude<Report, { refused: string }>) {
  if (!isPlain(value)) return null;
  const packed: unknown[] = [ok, busyMs, receiver ?? NO_RECEIVER, value];
  for (const [on, did, name, given] of effects) {
    if (did === "callWith") return null;
    const args = did === "set" ? [given] : given;
    if (!args.every(isPlain)) return null;
    packed.push(on, did, name, args.length);
    for (const each of args) packed.push(each);
  }
  return packed;
}

function unpackPlain(parcel: Parcel): Report {
  const [ok, busyMs, receiver, value] = parcel as [boolean, number, number, unknown];
  const effects: RecordedEffect[] = [];
  for (let i = HEAD; i < parcel.length; ) {
    const [on, did, name, count] = parcel.slice(i, i + EFFECT_HEAD) as [
      number,
      RecordedEffect[1],
      string,
      number,
    ];
    const args = parcel.slice(i + EFFECT_HEAD, i + EFFECT_HEAD + count);
    effects.push([on, did, name, did === "set" ? args[0] : args] as RecordedEffect);
    i += EFFECT_HEAD + count;
  }
  return { ok, value, effects, busyMs, ...(receiver === NO_RECEIVER ? {} : { receiver }) };
}

function isPlain(value: unknown): boolean {
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
    case "undefined":
      return true;
    default:
      return value === null;
  }
}
