import { type Key, keyFrom, showKey } from "./key.js";
import type { Step } from "./path.js";

/** A step that may stand for several: `rooms(*)` is `{ field: "rooms", isAny: true }`. */
export interface PatternStep extends Step {
  readonly isAny?: true;
}

/** The address of a context, or of several, as a program writes it, taken apart: `Game.buildings(*).hallway`. */
export interface AddressText {
  /** The name in front: that of a logical node. */
  readonly root: string;
  readonly path: readonly PatternStep[];
}

const STEP = /\.([\p{ID_Start}$_][\p{ID_Continue}$]*)(?:\(((?:"(?:[^"\\]|\\.)*"|[^"()])*)\))?/uy;

/** Null if it is no address. */
export function addressIn(text: string): AddressText | null {
  const end = text.indexOf(".");
  if (end < 0) return { root: text, path: [] };
  const path: PatternStep[] = [];
  STEP.lastIndex = end;
  while (STEP.lastIndex < text.length) {
    const [, field, keys] = STEP.exec(text) ?? [];
    if (field === undefined) return null;
    const step = stepOf(field, keys);
    if (step === null) return null;
    path.push(step);
  }
  return { root: text.slice(0, end), path };
}

/** Written in one way, however it was written: so that two texts that mean the same are the same. */
export function showAddress({ root, path }: AddressText): string {
  const steps = path.map(({ field, key, isAny }) => {
    if (isAny) return `.${field}(*)`;
    return key === undefined ? `.${field}` : `.${field}(${showKey(key)})`;
  });
  return `${root}${steps.join("")}`;
}

function stepOf(field: string, keys: string | undefined): PatternStep | null {
  if (keys === undefined) return { field };
  if (keys.trim() === "*") return { field, isAny: true };
  const key = keyIn(keys);
  return key === null ? null : { field, key };
}

function keyIn(text: string): Key | null {
  try {
    return keyFrom(JSON.parse(`[${text}]`) as unknown[], text);
  } catch {
    return null;
  }
}
