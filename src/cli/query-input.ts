import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { ColumnSpec, Schema } from "../streams/columns/index.js";
import { CsvReader, inferCsv, inferNdjson, NdjsonReader, type Reader } from "../streams/door/index.js";

export type InputFormat = "csv" | "ndjson";

/** So much of an input is looked at to find its columns. */
const SAMPLE_BYTES = 1024 * 1024;
/** Records are read in pieces of about this size, each of which becomes a batch. */
const PIECE_BYTES = 1024 * 1024;

/** A file or stdin, of which the beginning has been read. */
export interface QueryInput {
  readonly name: string;
  readonly format: InputFormat;
  readonly sample: Buffer;
  /** All of it, the sample included. */
  readonly pieces: AsyncIterable<Buffer>;
  readonly progress: { readonly total: number | null; read: number };
}

/** Opens what `--from` names: a path, or `-` for stdin. gzip is recognised by its first bytes. */
export async function openInput(from: string, format: InputFormat | null): Promise<QueryInput> {
  const progress = { total: from === "-" ? null : (await stat(from)).size, read: 0 };
  const source: Readable =
    from === "-" ? process.stdin : createReadStream(from, { highWaterMark: 256 * 1024 });
  const pieces = gathered(inflated(counted(source, progress)));
  const first = await pieces.next();
  const sample = first.done === true ? Buffer.alloc(0) : first.value;
  const bare = from === "-" ? "stdin" : basename(from).replace(/\.gz$/i, "");
  return {
    name: bare
      .replace(/\.[^.]*$/, "")
      .replace(/\W+/g, "_")
      .replace(/^(\d)/, "_$1")
      .toLowerCase(),
    format: format ?? formatOf(bare, sample),
    sample: sample.subarray(0, SAMPLE_BYTES),
    pieces: joined(sample, pieces),
    progress,
  };
}

function formatOf(name: string, sample: Buffer): InputFormat {
  if (/\.(ndjson|jsonl|json)$/i.test(name)) return "ndjson";
  if (/\.(csv|tsv)$/i.test(name)) return "csv";
  return /^\s*\{/.test(sample.toString("utf8", 0, 100)) ? "ndjson" : "csv";
}

/** The columns of an input: found in its sample, with the types that were given instead of the types that were found. */
export function schemaOf(
  { format, sample }: QueryInput,
  csv: CsvOptions,
  given: ReadonlyMap<string, ColumnSpec["type"]>,
): Schema {
  const whole = wholeLines(sample);
  const found = format === "csv" ? inferCsv(whole, csv) : inferNdjson(whole);
  return found.map((spec) => ({ ...spec, type: given.get(spec.name) ?? spec.type }));
}

export interface CsvOptions {
  readonly header: boolean;
  readonly delimiter: number;
}

export function readerOf({ format }: QueryInput, schema: Schema, csv: CsvOptions): Reader {
  return format === "csv" ? new CsvReader(schema, undefined, csv) : new NdjsonReader(schema);
}

/** The sample may end inside a record, whose value would be taken for another one. */
function wholeLines(sample: Buffer): Buffer {
  const end = sample.lastIndexOf(10) + 1;
  return sample.length < SAMPLE_BYTES || end === 0 ? sample : sample.subarray(0, end);
}

async function* counted(source: Readable, progress: { read: number }): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk as Uint8Array);
    progress.read += bytes.length;
    yield bytes;
  }
}

async function* inflated(source: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const first = await source.next();
  if (first.done === true) return;
  const isGzip = first.value[0] === 0x1f && first.value[1] === 0x8b;
  if (!isGzip) {
    yield first.value;
    yield* source;
    return;
  }
  const { Readable: Streams } = await import("node:stream");
  const all = Streams.from(joined(first.value, source));
  const gunzip = createGunzip();
  all.on("error", (error) => gunzip.destroy(error));
  for await (const chunk of all.pipe(gunzip)) yield chunk as Buffer;
}

async function* gathered(source: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let size = 0;
  for await (const chunk of source) {
    waiting.push(chunk);
    size += chunk.length;
    if (size < PIECE_BYTES) continue;
    yield Buffer.concat(waiting);
    [waiting, size] = [[], 0];
  }
  if (size > 0) yield Buffer.concat(waiting);
}

async function* joined(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}
