import { type Batch, ByteReader, ByteWriter } from "../columns/index.js";
import { definitionOf, definitionText, type QueryDefinition, type StreamDefinition } from "./definition.js";
import { readBytes, readOptional, readText, writeBytes, writeOptional, writeText } from "./texts.js";

/** Rows for one stream, as columns in bytes. */
export interface Push {
  readonly stream: string;
  /** Who sends it; "" for callers that do not number their batches. */
  readonly producer: string;
  /** The producer's number of the batch: sent again, it gets the answer that it got first. */
  readonly sequence: number | null;
  /** The same for callers without numbers: an Idempotency-Key. */
  readonly key: string | null;
  readonly batch: Uint8Array;
  /** The partitions that the producer seals behind these rows: a batch of the columns that name them. */
  readonly seals?: Uint8Array;
  /** The same rows, where they have just been encoded: then they are not decoded again. */
  readonly rows?: Batch;
}

/** What changes a graph. Commands are the records of its owned state: replayed, they give the same graph. */
export type Command =
  | { readonly kind: "define stream"; readonly definition: StreamDefinition }
  | { readonly kind: "define query"; readonly definition: QueryDefinition }
  | { readonly kind: "remove"; readonly name: string }
  | { readonly kind: "push"; readonly pushes: readonly Push[] }
  | { readonly kind: "tick" }
  /** All streams together retain so many bytes from now on; `null`: as many as each says. */
  | { readonly kind: "retain"; readonly bytes: number | null }
  /** Rows of a stream of another tenant, as they are there, and how far that is in event time. */
  | {
      readonly kind: "receive";
      readonly stream: string;
      readonly batches: readonly Uint8Array[];
      readonly watermark: number | null;
    }
  /** No row of this producer has an event time below `upTo` from now on; `null`: the producer sends nothing more. */
  | {
      readonly kind: "seal";
      readonly stream: string;
      readonly producer: string;
      readonly upTo: number | null;
    }
  /** From now on, these producers contribute to the partitions of a stream. */
  | { readonly kind: "producers"; readonly stream: string; readonly producers: readonly string[] }
  /** What partitions have made of the rounds that the last command dispatched: for each partition, its replies in order. */
  | { readonly kind: "replies"; readonly replies: readonly (readonly Uint8Array[])[] }
  /** An output of a stream has delivered all rows below `position`; `null`: the output is gone. */
  | {
      readonly kind: "cursor";
      readonly name: string;
      readonly stream: string;
      readonly position: number | null;
    };

/** A push of which a batch seals partitions; others are written without a word about seals. */
const SEALING_PUSH = "sealing push";

const KINDS: readonly (Command["kind"] | typeof SEALING_PUSH)[] = [
  "define stream",
  "define query",
  "remove",
  "push",
  "tick",
  "seal",
  "cursor",
  "replies",
  "receive",
  "producers",
  SEALING_PUSH,
  "retain",
];

/** A command as a record. Its time is filled in by the event that carries it out: `stamp`. */
export function encodeCommand(command: Command): Buffer {
  const out = new ByteWriter(64 + (command.kind === "push" ? sizeOf(command.pushes) : 0));
  const isSealing = command.kind === "push" && command.pushes.some(({ seals }) => seals !== undefined);
  out.u8(KINDS.indexOf(isSealing ? SEALING_PUSH : command.kind));
  out.f64(0);
  switch (command.kind) {
    case "define stream":
    case "define query":
      writeText(out, definitionText(command.definition));
      break;
    case "remove":
      writeText(out, command.name);
      break;
    case "push":
      out.varint(command.pushes.length);
      for (const push of command.pushes) {
        writePush(out, push);
        if (isSealing) writeBytes(out, push.seals ?? NO_SEALS);
      }
      break;
    case "producers":
      writeText(out, command.stream);
      writeText(out, JSON.stringify(command.producers));
      break;
    case "tick":
      break;
    case "retain":
      writeOptional(out, command.bytes);
      break;
    case "receive":
      writeText(out, command.stream);
      out.varint(command.batches.length);
      for (const batch of command.batches) writeBytes(out, batch);
      writeOptional(out, command.watermark);
      break;
    case "seal":
      writeText(out, command.stream);
      writeText(out, command.producer);
      writeOptional(out, command.upTo);
      break;
    case "cursor":
      writeText(out, command.name);
      writeText(out, command.stream);
      writeOptional(out, command.position);
      break;
    case "replies":
      out.varint(command.replies.length);
      for (const own of command.replies) {
        out.varint(own.length);
        for (const reply of own) writeBytes(out, reply);
      }
  }
  return out.written;
}

const NO_SEALS = new Uint8Array(0);

/** Writes the time of the event into a record: replayed, the record has the same time. */
export function stamp(record: Uint8Array, timeMs: number): Uint8Array {
  new DataView(record.buffer, record.byteOffset, record.byteLength).setFloat64(1, timeMs, true);
  return record;
}

export function decodeCommand(record: Uint8Array): { readonly timeMs: number; readonly command: Command } {
  const input = new ByteReader(Buffer.from(record.buffer, record.byteOffset, record.byteLength));
  const kind = KINDS[input.u8()];
  const timeMs = input.f64();
  return { timeMs, command: read(kind, input) };
}

function read(kind: (typeof KINDS)[number] | undefined, input: ByteReader): Command {
  switch (kind) {
    case "define stream":
      return { kind, definition: definitionOf(readText(input)) };
    case "define query":
      return { kind, definition: definitionOf(readText(input)) };
    case "remove":
      return { kind, name: readText(input) };
    case "push":
      return { kind, pushes: Array.from({ length: input.varint() }, () => readPush(input)) };
    case SEALING_PUSH:
      return { kind: "push", pushes: Array.from({ length: input.varint() }, () => readSealing(input)) };
    case "producers":
      return { kind, stream: readText(input), producers: JSON.parse(readText(input)) as string[] };
    case "seal":
      return { kind, stream: readText(input), producer: readText(input), upTo: readOptional(input) };
    case "cursor":
      return { kind, name: readText(input), stream: readText(input), position: readOptional(input) };
    case "replies":
      return {
        kind,
        replies: Array.from({ length: input.varint() }, () =>
          Array.from({ length: input.varint() }, () => readBytes(input)),
        ),
      };
    case "receive": {
      const stream = readText(input);
      const batches = Array.from({ length: input.varint() }, () => readBytes(input));
      return { kind, stream, batches, watermark: readOptional(input) };
    }
    case "retain":
      return { kind, bytes: readOptional(input) };
    case "tick":
    case undefined:
      return { kind: "tick" };
  }
}

function writePush(out: ByteWriter, { stream, producer, sequence, key, batch }: Push): void {
  writeText(out, stream);
  writeText(out, producer);
  writeOptional(out, sequence);
  writeText(out, key ?? "");
  writeBytes(out, batch);
}

function readPush(input: ByteReader): Push {
  const [stream, producer, sequence, key] = [
    readText(input),
    readText(input),
    readOptional(input),
    readText(input),
  ];
  return { stream, producer, sequence, key: key === "" ? null : key, batch: readBytes(input) };
}

function readSealing(input: ByteReader): Push {
  const push = readPush(input);
  const seals = readBytes(input);
  return seals.length === 0 ? push : { ...push, seals };
}

function sizeOf(pushes: readonly Push[]): number {
  return pushes.reduce((sum, { batch, producer }) => sum + batch.length + producer.length + 64, 0);
}
