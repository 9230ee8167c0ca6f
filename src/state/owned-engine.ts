import { HeadwaterError } from "../errors.js";
import { isWellFormed } from "../model/key.js";
import type { OwnedEngine } from "../model/owned.js";
import { CHECKPOINT, checkpointValue, type OwnedStore, partKey, partName, type Seat } from "./owned-store.js";
import { all, keyOf, type Version } from "./tracked-version.js";

/** Names of parts are parts of keys. */
const NAME_BYTES_MAX = 200;
const PART_BYTES_MAX = 64 * 2 ** 20;

/** An engine that has loaded the checkpoint of a version and has applied the records behind it. */
export function rebuilt(version: Version, make: () => OwnedEngine, where: string): OwnedEngine {
  const parts: [string, Uint8Array][] = [];
  const records: [number, Uint8Array][] = [];
  let hasCheckpoint = false;
  for (const { at, value } of all(version)) {
    const key = keyOf(at);
    const name = partName(key);
    if (typeof key === "number") records.push([key, value as Uint8Array]);
    else if (name !== null) parts.push([name, value as Uint8Array]);
    else if (key === CHECKPOINT) hasCheckpoint = true;
  }
  const engine = make();
  let what = "`load` of its checkpoint";
  try {
    if (hasCheckpoint) engine.load(parts);
    for (const [position, record] of records) {
      what = `\`apply\` of the record at position ${position}, which had been applied before,`;
      engine.apply(record);
    }
  } catch (error) {
    throw broken(where, `it could not be built again: ${what} threw`, error);
  }
  return engine;
}

/** Makes a checkpoint of the engine and drops the records behind it. The engine is at this version, which is open and the root. */
export function checkpointed(open: Version, seat: Seat, where: string): void {
  const { engine } = seat;
  if (engine === null) return;
  let parts: Part[];
  try {
    parts = [...engine.checkpoint()];
    for (const part of parts) checkPart(part, where);
  } catch (error) {
    seat.clear(); // it may take unwritten changes for written
    throw error instanceof HeadwaterError ? error : broken(where, "its `checkpoint` threw", error);
  }
  const store = open.store as OwnedStore;
  const { position, records } = store;
  let bytes = 0;
  for (const [name, part] of parts) {
    if (part === null) store.remove(open, partKey(name));
    else store.put(open, partKey(name), part);
    bytes += part?.byteLength ?? 0;
  }
  for (let at = position - records + 1; at <= position; at++) store.remove(open, at);
  store.put(open, CHECKPOINT, checkpointValue(position, bytes));
}

type Part = readonly [name: string, bytes: Uint8Array | null];

function checkPart([name, part]: Part, where: string): void {
  const why = whyNotPart(name, part);
  if (why === null) return;
  throw broken(where, `its \`checkpoint\` gave a part that cannot be kept: ${why}`, undefined);
}

function whyNotPart(name: unknown, part: unknown): string | null {
  if (typeof name !== "string" || !isWellFormed(name) || Buffer.byteLength(name) > NAME_BYTES_MAX)
    return `its name is not a text of at most ${NAME_BYTES_MAX} bytes`;
  if (part === null) return null;
  if (!(part instanceof Uint8Array)) return `"${name}" is no Uint8Array`;
  if (part.byteLength <= PART_BYTES_MAX) return null;
  return `"${name}" has ${part.byteLength} bytes, and ${PART_BYTES_MAX} is the most`;
}

export function broken(where: string, what: string, cause: unknown): HeadwaterError {
  return new HeadwaterError(
    "HW-1110",
    `${where} holds an engine that cannot be relied on: ${what}${cause === undefined ? "" : ` ${shown(cause)}`}. An engine is ` +
      "synchronous and deterministic, takes back what it was given before, and does not call itself.",
    { cause },
  );
}

function shown(cause: unknown): string {
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
}
