import { HeadwaterError } from "../../errors.js";
import { encodeRows, type Schema } from "../columns/index.js";
import { cellsOfRows } from "../door/index.js";
import type { PartitionStatus } from "../graph/index.js";
import type { Described } from "./describe.js";

/** How a reader waits for a seal. */
export interface SealWait {
  /** How long at most; without it, not at all. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

/** The columns that name a partition of a stream. */
export function keyOf({ name, columns, seals }: Described): Schema {
  if (seals !== null)
    return seals.columns.flatMap((each) => columns.find((column) => column.name === each) ?? []);
  throw new HeadwaterError(
    "HW-5411",
    `the partitions of "${name}" are not sealed: it was not registered with the columns and the producers of seals.`,
  );
}

/** Partitions as seals are sent: for each, the values of the columns that name it. */
export function encodedKeys(stream: Described, keys: readonly (readonly unknown[])[]): Buffer {
  const schema = keyOf(stream);
  const rows = keys.map((values, i) => {
    if (Array.isArray(values) && values.length === schema.length)
      return Object.fromEntries(schema.map(({ name }, place): [string, unknown] => [name, values[place]]));
    const names = schema.map(({ name }) => name).join(", ");
    throw new HeadwaterError("HW-5302", `Seal ${i + 1}: a partition is named by the values of (${names}).`);
  });
  return encodeRows(schema, cellsOfRows(rows, schema));
}

export function notSealedYet(stream: string, key: string, { state, waitingFor }: PartitionStatus) {
  const who = waitingFor.length === 0 ? "" : ` It waits for ${waitingFor.slice(0, 10).join(", ")}.`;
  const what = state === "open" ? "is not sealed yet" : "has not begun";
  return new HeadwaterError("HW-5412", `the partition ${key.slice(0, 200)} of "${stream}" ${what}.${who}`);
}
