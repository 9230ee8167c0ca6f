import { Batch, ByteWriter, type Cell, encodeBatch, encodeRow, type Schema } from "../columns/index.js";
import { definitionOf, definitionText } from "../graph/index.js";
import type { NodeDefinition, Planned } from "./plan.js";

/** Rows of a push as they were given, as columns, or `null` where they are to be decoded. */
type Rows = readonly (readonly Cell[])[] | Batch | null;

export interface Pushed {
  readonly kind: "push";
  readonly timeMs: number;
  readonly stream: string;
  /** The rows as columns in bytes. */
  readonly bytes: Uint8Array;
  readonly rows: Rows;
}

type Decoded =
  | Pushed
  | { readonly kind: "tick"; readonly timeMs: number }
  | { readonly kind: "define"; readonly definitions: readonly NodeDefinition[] };

/**
 * The records of a context's graph: a byte for the kind, then
 *
 *     push     the time of the event as a double, the stream's name behind its length, the rows as columns
 *     tick     the time of the event
 *     define   definitions as JSON
 */
const PUSH = 1;
const TICK = 2;
const DEFINE = 3;
const NAME_AT = 9;

/** The record that was made last: where it is applied at once, it is not decoded again. */
let justEncoded: { readonly record: Uint8Array; readonly pushed: Pushed } | null = null;

export function pushRecord(
  stream: string,
  schema: Schema,
  rows: readonly (readonly Cell[])[],
  timeMs: number,
): Uint8Array {
  const out = new ByteWriter(128);
  out.u8(PUSH);
  out.f64(timeMs);
  out.text(stream);
  const rowsAt = out.written.length;
  const [only] = rows;
  if (rows.length !== 1 || only === undefined || !encodeRow(out, schema, only))
    out.raw(encodeBatch(Batch.of(schema, rows)));
  const record = out.written;
  justEncoded = { record, pushed: { kind: "push", timeMs, stream, bytes: record.subarray(rowsAt), rows } };
  return record;
}

export function tickRecord(timeMs: number): Uint8Array {
  const out = new ByteWriter(16);
  out.u8(TICK);
  out.f64(timeMs);
  return out.written;
}

export function defineRecord({ definitions }: Planned): Uint8Array {
  const text = JSON.stringify(definitions.map(definitionText));
  return Buffer.concat([Buffer.from([DEFINE]), Buffer.from(text, "utf8")]);
}

export function decodeRecord(record: Uint8Array): Decoded {
  const known = justEncoded;
  justEncoded = null;
  return known?.record === record ? known.pushed : decoded(record);
}

function decoded(record: Uint8Array): Decoded {
  const bytes = Buffer.from(record.buffer, record.byteOffset, record.byteLength);
  if (bytes[0] === DEFINE) {
    const texts = JSON.parse(bytes.toString("utf8", 1)) as string[];
    return { kind: "define", definitions: texts.map((text) => definitionOf<NodeDefinition>(text)) };
  }
  const timeMs = bytes.readDoubleLE(1);
  if (bytes[0] === TICK) return { kind: "tick", timeMs };
  // Names have at most 63 characters, all of one byte.
  const rowsAt = NAME_AT + 1 + (bytes[NAME_AT] as number);
  const stream = bytes.toString("latin1", NAME_AT + 1, rowsAt);
  return { kind: "push", timeMs, stream, bytes: Buffer.from(bytes.subarray(rowsAt)), rows: null };
}
