import { HeadwaterError } from "../errors.js";
import type { ContextClass } from "../model/context.js";
import { decode, encode } from "../state/codec.js";
import { type Armed, armedIn, type State } from "../state/fields.js";
import type { Slot } from "./slot.js";

/** A state under the names of its fields, so that the order of their declaration may change. */
interface StoredState {
  readonly version: number;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly armed: Armed;
}

/** What a context class may say about its state in the journal. */
interface Versioned {
  /** Counts the shapes that the state of this class has had. */
  readonly version?: number;
  /** Makes the fields of the present version from those of an older one. */
  upgrade?(fields: Record<string, unknown>, version: number): Record<string, unknown>;
}

export function versionOf(cls: ContextClass): number {
  return (cls as Versioned).version ?? 1;
}

export function encodeState(slot: Slot, state: State): Uint8Array {
  const { fields, cls } = slot.shape;
  const stored: StoredState = {
    version: versionOf(cls),
    fields: Object.fromEntries(fields.map((field, i) => [field, state[i]])),
    armed: armedIn(slot, state),
  };
  return encode(stored);
}

export function decodeState(slot: Slot, bytes: Uint8Array): State {
  const { version, fields, armed } = decode(bytes) as StoredState;
  const values = version === versionOf(slot.shape.cls) ? fields : upgraded(slot, fields, version);
  const state: unknown[] = slot.shape.fields.map((field) => {
    if (Object.hasOwn(values, field)) return values[field];
    throw unlike(slot, `it has no field "${field}"`);
  });
  for (const field of Object.keys(values)) {
    if (!slot.shape.fields.includes(field))
      throw unlike(slot, `it has a field "${field}" that the class has not`);
  }
  if (armed.length > 0) state.push(armed);
  return state;
}

function upgraded(
  slot: Slot,
  fields: StoredState["fields"],
  version: number,
): Readonly<Record<string, unknown>> {
  const cls = slot.shape.cls as Versioned;
  if (cls.upgrade === undefined)
    throw unlike(slot, `it is of version ${version}, the class of ${versionOf(slot.shape.cls)}`);
  return cls.upgrade({ ...fields }, version);
}

function unlike(slot: Slot, how: string): HeadwaterError {
  const { name } = slot.shape;
  return new HeadwaterError(
    "HW-3021",
    `the state of ${slot} in the journal does not fit the class ${name}: ${how}. Give ${name} a higher ` +
      "`static version` and a `static upgrade(fields, version)` that makes the new fields from the old ones.",
  );
}
