import { type Key, keyFrom } from "./key.js";
import type { Step } from "./path.js";

/** The address of a context as a program writes it, taken apart: `Game.buildings(1).hallway`. */
export interface AddressText {
  /** The name in front: of a logical node, or of its root class. */
  readonly root: string;
  readonly path: readonly Step[];
}

const STEP = /\.([\p{ID_Start}$_][\p{ID_Continue}$]*)(?:\(((?:"(?:[^"\\]|\\.)*"|[^"()])*)\))?/uy;

/** Null if it is no address. */
export function addressIn(text: string): AddressText | null {
  const end = text.indexOf(".");
  if (end < 0) return { root: text, path: [] };
  const path: Step[] = [];
  STEP.lastIndex = end;
  while (STEP.lastIndex < text.length) {
    const [, field, keys] = STEP.exec(text) ?? [];
    if (field === undefined) return null;
    const key = keys === undefined ? undefined : keyIn(keys);
    if (key === null) return null;
    path.push(key === undefined ? { field } : { field, key });
  }
  return { root: text.slice(0, end), path };
}

function keyIn(text: string): Key | null {
  try {
    return keyFrom(JSON.parse(`[${text}]`) as unknown[], text);
  } catch {
    return null;
  }
}
