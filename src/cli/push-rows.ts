import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import { HeadwaterError } from "../errors.js";
import { type ColumnType, column, type Schema } from "../streams/columns/index.js";
import { CsvReader, inferCsv } from "../streams/door/index.js";
import { writerOf } from "../streams/outputs/index.js";
import { misused, unreadable } from "./arguments.js";
import { onInterrupt } from "./interrupt.js";
import { nameIn, type Use } from "./stream-doors.js";
import { paint } from "./terminal.js";

/** What one request carries, about. */
const BATCH_BYTES = 256 * 1024;
/** How often a file that is followed is looked at. */
const LOOK_MS = 200;
const PROGRESS_MS = 1000;
const COMMA = 0x2c;
const TAB = 0x09;

/** What is read, and how much of it is there. */
interface Progress {
  total: number | null;
  read: number;
}

/** Sends whole records, a bounded piece at a time: the next is read when the last is answered. */
export async function pushRows({ command, args, terminal, client }: Use): Promise<void> {
  const { operands, values, flags } = args;
  const name = nameIn(command, operands[1]);
  const from = values.get("from") ?? operands[2] ?? "-";
  const producer = values.get("producer");
  if (flags.has("follow") && from === "-") throw misused(command, "--follow is for files.");
  const interrupt = flags.has("follow") ? onInterrupt(() => {}) : null;
  const progress: Progress = { total: null, read: 0 };
  let sequence = producer === undefined ? 0 : await client.producer(name, producer).next();
  let [rows, line, said] = [0, 1, performance.now()];
  const send = async (lines: string) => {
    if (lines.trim() === "") return;
    const batch = producer === undefined ? null : { producer, sequence };
    try {
      rows += (await client.pushNdjson(name, lines, batch)).rows;
    } catch (error) {
      if (line === 1 || !(error instanceof HeadwaterError) || error.code !== "HW-5302") throw error;
      const what = `${error.message.slice(error.code.length + 2)} The lines are counted from line ${line} of the input.`;
      throw new HeadwaterError("HW-5302", `${what} ${rows} rows before them were pushed.`);
    }
    sequence++;
    for (let at = lines.indexOf("\n"); at >= 0; at = lines.indexOf("\n", at + 1)) line++;
    if (!process.stderr.isTTY || performance.now() - said < PROGRESS_MS) return;
    said = performance.now();
    terminal.say(paint(terminal, "dim", progressText(progress, rows)));
  };
  try {
    const pieces = unpacked(from === "-" ? stdin(progress) : file(from, progress, interrupt?.signal ?? null));
    const isCsv = formatOf(values.get("input"), from) === "csv";
    const schema = isCsv ? schemaOf((await client.describe(name)).columns) : null;
    for await (const lines of schema === null ? wholeLines(pieces) : csvLines(pieces, schema, from))
      await send(lines);
  } catch (error) {
    throw isSystemError(error) ? unreadable(command, from, error) : error;
  } finally {
    interrupt?.release();
  }
  terminal.say(`${rows} rows were taken.`);
  if (flags.has("json")) terminal.out(JSON.stringify({ rows }));
}

function formatOf(given: string | undefined, from: string): "csv" | "ndjson" {
  if (given !== undefined) return given === "csv" ? "csv" : "ndjson";
  return /\.(csv|tsv)(\.gz)?$/i.test(from) ? "csv" : "ndjson";
}

function progressText({ total, read }: Progress, rows: number): string {
  const share = total === null || total === 0 ? "" : ` of ${Math.ceil(total / 1e6)} MB`;
  return `${Math.floor(read / 1e6)} MB${share}, ${rows.toLocaleString("en")} rows`;
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && "errno" in error && "path" in error;
}

async function* stdin(progress: Progress): AsyncGenerator<Buffer> {
  for await (const chunk of process.stdin) {
    progress.read += (chunk as Buffer).length;
    yield chunk as Buffer;
  }
}

/** A file to its end, or with a signal, on and on: a file that became shorter or another one is read from its beginning. */
async function* file(path: string, progress: Progress, signal: AbortSignal | null): AsyncGenerator<Buffer> {
  let [at, inode] = [0, (await stat(path)).ino];
  for (;;) {
    const found = await stat(path).catch(() => null); // it is being replaced
    if (found !== null && (found.ino !== inode || found.size < at)) [at, inode] = [0, found.ino];
    progress.total = found?.size ?? progress.total;
    if (found !== null && found.size > at)
      for await (const chunk of createReadStream(path, { start: at, highWaterMark: BATCH_BYTES })) {
        const bytes = chunk as Buffer;
        at += bytes.length;
        progress.read += bytes.length;
        yield bytes;
      }
    if (signal === null || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LOOK_MS);
      signal.addEventListener("abort", () => resolve(), { once: true });
      signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
    });
  }
}

/** gzip is recognised by its first bytes. */
async function* unpacked(source: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const first = await source.next();
  if (first.done === true) return;
  const all = joined(first.value, source);
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) return yield* all;
  const { Readable } = await import("node:stream");
  const packed = Readable.from(all);
  const gunzip = createGunzip({ chunkSize: BATCH_BYTES });
  packed.on("error", (error) => gunzip.destroy(error));
  for await (const chunk of packed.pipe(gunzip)) yield chunk as Buffer;
}

async function* joined(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

async function* wholeLines(source: AsyncGenerator<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of source) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const end = bytes.lastIndexOf(10) + 1;
    rest = bytes.subarray(end);
    if (end > 0) yield bytes.toString("utf8", 0, end);
  }
  if (rest.length > 0) yield rest.toString("utf8");
}

function schemaOf(columns: readonly { name: string; type: string; nullable: boolean }[]): Schema {
  return columns.map(({ name, type, nullable }) =>
    type === "numeric" ? column(name, "text", nullable) : column(name, type as ColumnType, nullable),
  );
}

/** Records of CSV as lines of JSON. The header says which columns of the stream they have, in any order. */
async function* csvLines(
  source: AsyncGenerator<Buffer>,
  schema: Schema,
  from: string,
): AsyncGenerator<string> {
  const delimiter = /\.tsv(\.gz)?$/i.test(from) ? TAB : COMMA;
  let reader: CsvReader | null = null;
  let rest: Buffer = Buffer.alloc(0);
  const take = (bytes: Buffer, isLast: boolean): string => {
    reader ??= new CsvReader(headed(bytes, schema, delimiter), undefined, { delimiter });
    const { batch, used } = reader.read(bytes, isLast);
    rest = bytes.subarray(used);
    return batch.rows === 0 ? "" : writerOf("json", batch.schema).lines(batch).join("\n");
  };
  for await (const piece of source) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    if (reader === null && bytes.indexOf(10) < 0) rest = bytes;
    else yield take(bytes, false);
  }
  if (rest.length > 0) yield take(rest, true);
}

function headed(bytes: Buffer, schema: Schema, delimiter: number): Schema {
  const header = bytes.subarray(0, bytes.indexOf(10) < 0 ? bytes.length : bytes.indexOf(10) + 1);
  return inferCsv(header, { header: true, delimiter }).map(({ name }) => {
    const spec = schema.find((each) => each.name === name);
    if (spec !== undefined) return spec;
    const known = schema.map((each) => each.name).join(", ");
    throw new HeadwaterError(
      "HW-5302",
      `Line 1: the stream has no column ${JSON.stringify(name)}; it has ${known}.`,
    );
  });
}
