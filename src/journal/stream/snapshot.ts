/**
 * Snapshots of a table, so that the log can be cut. A snapshot is all keys and values as they were at one position, as one series of
 * bytes in parts of at most 512 kB, each with a digest. The manifest comes last, after all parts were read back, and replaces
 * the one before only if that is still the one which the writer has seen. So manifests only go up, and a late one of a process that
 * was paused does no harm. The log is cut behind the last but one: if a part of the last is damaged, the one before and the log do.
 */

import { createHash } from "node:crypto";
import { FrameBuffer, readWrites } from "../log/frame.js";
import { patiently } from "./epoch.js";
import type { LogPort } from "./log-port.js";
import { MESSAGE_BYTES_MAX, type Progress, readMessage } from "./messages.js";

/** What a snapshot has, and where its log goes on. */
export interface Snapshot {
  readonly position: number;
  readonly progress: Progress;
  readonly bytes: number;
  /** Of its parts, in order. */
  readonly digests: readonly string[];
}

interface Manifest {
  readonly last: Snapshot;
  readonly before: Snapshot | null;
}

const MANIFEST = "snapshot";
const WRITE_HEAD_BYTES = 6;
/** Then the thread has other work to do, which may be that of a head. */
const ROWS_AT_ONCE = 500;

/** All that a table has. */
export interface SnapshotSource {
  range(prefix: ""): Iterable<[key: string, value: Uint8Array]>;
}

/**
 * Writes a snapshot of a table that has everything up to a position, and cuts the log. The table may go on meanwhile: what it has of
 * later positions is in the log, too. `isOver`: the table has what may be in no log, since this process has become the head. Null if
 * it is over, or if there is a later snapshot.
 */
export async function writeSnapshot(
  port: LogPort,
  table: SnapshotSource,
  at: { readonly position: number; readonly progress: Progress },
  isOver: () => boolean = () => false,
): Promise<Snapshot | null> {
  const digests: string[] = [];
  let bytes = 0;
  for (const part of partsOf(table)) {
    if (isOver()) return null;
    if (part === null) {
      await new Promise<void>((resolve) => port.later(0, resolve));
      continue;
    }
    bytes += part.length;
    digests.push(digestOf(part));
    await port.putPart(partName(at.position, digests.length - 1), part);
  }
  const last: Snapshot = { position: at.position, progress: at.progress, bytes, digests };
  for (const [i, digest] of digests.entries()) {
    const kept = await port.getPart(partName(at.position, i));
    if (kept === null || digestOf(kept.bytes) !== digest) return null; // the log is as it was
  }
  const found = await manifestOf(port);
  const before = found?.manifest.last ?? null;
  if (before !== null && before.position >= last.position) return null;
  const text = Buffer.from(JSON.stringify({ last, before } satisfies Manifest));
  if (!(await port.replacePart(MANIFEST, text, found?.version ?? 0))) return null;
  if (before !== null) await port.cut(before.position);
  const older = found?.manifest.before ?? null;
  if (older !== null) await port.dropParts(prefixOf(older.position));
  return last;
}

/** The last snapshot that is sound, with its keys handed on; null if there is none. */
export async function readSnapshot(
  port: LogPort,
  after: number,
  write: (key: string, value: Buffer) => void,
): Promise<Snapshot | null> {
  const found = await patiently(port, () => manifestOf(port));
  for (const snapshot of [found?.manifest.last, found?.manifest.before]) {
    if (snapshot && snapshot.position > after && (await restored(port, snapshot, write))) return snapshot;
  }
  return null;
}

/** How far a reader is that has read up to a message that counts; null if that was cut off. */
export function progressAt(port: LogPort, position: number): Promise<Progress | null> {
  return new Promise((resolve) => {
    const following = port.follow(position - 1, {
      message: (message) => {
        following.stop();
        const read = readMessage(message);
        resolve(read === null ? null : { epoch: read.head.epoch, number: read.head.segment });
      },
      cut: () => resolve(null),
    });
  });
}

/** The position of the last snapshot; 0 if there is none. */
export async function lastSnapshot(port: LogPort): Promise<number> {
  return (await manifestOf(port))?.manifest.last.position ?? 0;
}

async function manifestOf(
  port: LogPort,
): Promise<{ readonly manifest: Manifest; readonly version: number } | null> {
  const kept = await port.getPart(MANIFEST);
  if (kept === null) return null;
  return { manifest: JSON.parse(kept.bytes.toString()) as Manifest, version: kept.version };
}

async function restored(
  port: LogPort,
  { position, digests }: Snapshot,
  write: (key: string, value: Buffer) => void,
): Promise<boolean> {
  const parts: Buffer[] = [];
  for (const [i, digest] of digests.entries()) {
    const kept = await patiently(port, () => port.getPart(partName(position, i)));
    if (kept === null || digestOf(kept.bytes) !== digest) return false;
    parts.push(kept.bytes);
  }
  let rest: Buffer = Buffer.alloc(0);
  for (const part of parts) {
    const joined = Buffer.concat([rest, part]);
    const end = endOfWrites(joined);
    readWrites(joined.subarray(0, end), (key, value) => {
      if (value !== null) write(key, Buffer.from(value));
    });
    rest = joined.subarray(end);
  }
  return true;
}

/** Null now and then, when the thread has other work to do. */
function* partsOf(table: SnapshotSource): Iterable<Buffer | null> {
  const gathered = new FrameBuffer();
  let rows = 0;
  for (const [key, value] of table.range("")) {
    rows += 1;
    if (rows % ROWS_AT_ONCE === 0) yield null;
    gathered.addAll([{ key, value }]);
    if (gathered.length < MESSAGE_BYTES_MAX) continue;
    yield* chunksOf(Buffer.from(gathered.content));
    gathered.clear();
  }
  if (gathered.length > 0) yield* chunksOf(Buffer.from(gathered.content));
}

function* chunksOf(bytes: Buffer): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += MESSAGE_BYTES_MAX)
    yield bytes.subarray(at, at + MESSAGE_BYTES_MAX);
}

/** Behind the last write that is there as a whole. */
function endOfWrites(bytes: Buffer): number {
  let end = 0;
  while (end + WRITE_HEAD_BYTES <= bytes.length) {
    const next = end + WRITE_HEAD_BYTES + bytes.readUInt16LE(end) + bytes.readUInt32LE(end + 2);
    if (next > bytes.length) break;
    end = next;
  }
  return end;
}

function prefixOf(position: number): string {
  return `at.${position}`;
}

function partName(position: number, index: number): string {
  return `${prefixOf(position)}.${index}`;
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
