import {
  type Batch,
  ByteReader,
  ByteWriter,
  decodeBatch,
  encodeBatch,
  type Schema,
} from "../columns/index.js";
import type { InputSpec } from "../plan/index.js";
import { divide } from "./divide.js";
import type { RoundResults, RunningQuery } from "./running-query.js";
import { readBytes, readOptional, readText, writeBytes, writeOptional, writeText } from "./texts.js";

type Taken = ReturnType<RunningQuery["take"]>;

/** What a partition of a query is given in one round: its own rows of each batch, and all watermarks. */
export function encodeRound(
  { waiting, watermarks }: Taken,
  columns: Readonly<Record<string, readonly number[]>> | null,
  partitions: number,
): readonly Uint8Array[] {
  const outs = Array.from({ length: partitions }, () => new ByteWriter());
  const divided = waiting.map(({ input, batch }) => ({
    input,
    parts: divide(batch, columns === null ? null : (columns[input] ?? []), partitions),
  }));
  for (const [i, out] of outs.entries()) {
    const own = divided.filter(({ parts }) => (parts[i]?.rows ?? 0) > 0);
    out.varint(own.length);
    for (const { input, parts } of own) {
      writeText(out, input);
      writeBytes(out, encodeBatch(parts[i] as Batch));
    }
    out.varint(watermarks.size);
    for (const [input, timeMs] of watermarks) {
      writeText(out, input);
      out.f64(timeMs);
    }
  }
  return outs.map(({ written }) => written);
}

/** Gives a query what a round has for it. */
export function feed(query: RunningQuery, round: Uint8Array): void {
  const input = new ByteReader(bufferOf(round));
  const inputs: Readonly<Record<string, InputSpec | undefined>> = query.inputs;
  for (let left = input.varint(); left > 0; left--) {
    const name = readText(input);
    query.push(name, decodeBatch(readBytes(input), inputs[name]?.schema ?? [], Number.POSITIVE_INFINITY));
  }
  for (let left = input.varint(); left > 0; left--) query.watermark(readText(input), input.f64());
}

export function encodeResults({ rows, reached, late, errors }: RoundResults): Buffer {
  const out = new ByteWriter();
  out.varint(rows.length);
  for (const batch of rows) writeBytes(out, encodeBatch(batch));
  writeOptional(out, reached);
  writeText(out, JSON.stringify({ late, errors }));
  return out.written;
}

function decodeResults(bytes: Uint8Array, schema: Schema): RoundResults {
  const input = new ByteReader(bufferOf(bytes));
  const rows = Array.from({ length: input.varint() }, () =>
    decodeBatch(readBytes(input), schema, Number.POSITIVE_INFINITY),
  );
  const reached = readOptional(input);
  return { rows, reached, ...(JSON.parse(readText(input)) as Pick<RoundResults, "late" | "errors">) };
}

/** The results of all partitions as those of one query: in the order of the partitions, so that their numbers are always the same. */
export function joinedResults(parts: readonly Uint8Array[], schema: Schema): RoundResults {
  const all = parts.map((bytes) => decodeResults(bytes, schema));
  const reached = all.map((each) => each.reached);
  return {
    rows: all.flatMap(({ rows }) => rows),
    reached: reached.includes(null) ? null : Math.min(...(reached as number[])),
    late: all.flatMap(({ late }) => late),
    errors: all.flatMap(({ errors }) => errors),
  };
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
