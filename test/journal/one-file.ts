import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { open } from "lmdb";
import { EntryBuffer } from "#src/journal/entry.js";
import type { Write } from "#src/journal/journal.js";
import { FrameBuffer } from "#src/journal/log/frame.js";
import { IDENTITY } from "./support.js";

function withCrc(bytes: Uint8Array): Buffer {
  const crc = Buffer.alloc(4);
  crc.writeUInt32LE(crc32(bytes));
  return Buffer.concat([crc, bytes]);
}

/** Makes a journal as versions before the log did: one lmdb file, with commits that are not in the main table yet. */
export async function makeOneFile(
  directory: string,
  main: Readonly<Record<string, string>>,
  commits: readonly Readonly<Record<string, string | null>>[],
): Promise<void> {
  mkdirSync(directory, { recursive: true });
  const card = { headwater: "journal", layout: 1, ...IDENTITY, complete: true };
  writeFileSync(join(directory, "journal.json"), JSON.stringify(card));
  const root = open<Buffer, Uint8Array>({ path: directory, noSubdir: false, maxDbs: 3, encoding: "binary" });
  const binary = { encoding: "binary", keyEncoding: "binary" } as const;
  const [table, log] = [
    root.openDB<Buffer, Uint8Array>("main", binary),
    root.openDB<Buffer, Uint8Array>("log", binary),
  ];
  const meta = root.openDB<Buffer, string>("meta", { encoding: "binary", useVersions: true });
  const entries = new EntryBuffer();
  await root.transaction(() => {
    for (const [text, value] of Object.entries(main)) {
      const { key, stored } = entries.add(text, Buffer.from(value));
      void table.put(key, stored);
    }
    for (const [i, commit] of commits.entries()) {
      const frame = new FrameBuffer();
      const writes = Object.entries(commit).map(
        ([key, value]): Write => ({ key, value: value === null ? null : Buffer.from(value) }),
      );
      frame.addAll(writes);
      const { length } = frame;
      const key = Buffer.alloc(8);
      key.writeBigUInt64BE(BigInt(i + 7));
      void log.put(key, withCrc(frame.seal({ epoch: 0, segment: 0, sequence: 0 }).subarray(32, 32 + length)));
    }
    void meta.put("owner", withCrc(Buffer.from(JSON.stringify(IDENTITY))), 5);
  });
  await root.close();
}
