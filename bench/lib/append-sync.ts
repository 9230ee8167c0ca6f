import { closeSync, fdatasync, openSync, rmSync, write } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subject } from "./subject.js";
import { spin } from "./work.js";

/** What Headwater writes for one such event: a key, the context's new state, lengths. */
const RECORD_BYTES = 64;
const CAPACITY = 2 ** 20;

/**
 * What one would write by hand: counters in memory, one record per event appended to a file, and a reply when the file is
 * synced. All that come while a sync is on its way share the next one.
 */
export async function startAppendSync(contexts: number): Promise<Subject> {
  const directory = await temporaryDirectory();
  const file = openSync(join(directory, "log"), "w");
  const counts = new Float64Array(contexts);
  let gathering = { bytes: Buffer.alloc(CAPACITY), end: 0, replies: [] as (() => void)[] };
  let spare = { bytes: Buffer.alloc(CAPACITY), end: 0, replies: [] as (() => void)[] };
  let isBusy = false;

  const goOn = () => {
    if (gathering.replies.length === 0) {
      isBusy = false;
      return;
    }
    const group = gathering;
    gathering = spare;
    write(file, group.bytes, 0, group.end, null, (failure) => {
      if (failure) throw failure;
      fdatasync(file, (error) => {
        if (error) throw error;
        const { replies } = group;
        group.end = 0;
        group.replies = [];
        spare = group;
        goOn();
        for (const reply of replies) reply();
      });
    });
  };

  return {
    call(counter, work) {
      spin(work);
      const count = (counts[counter] ?? 0) + 1;
      counts[counter] = count;
      const { bytes, end, replies } = gathering;
      bytes.writeUInt32LE(counter, end);
      bytes.writeDoubleLE(count, end + 4);
      gathering.end = end + RECORD_BYTES;
      if (!isBusy) {
        isBusy = true;
        setImmediate(goOn);
      }
      return new Promise<void>((resolve) => replies.push(resolve));
    },
    counted: async () => counts.reduce((sum, count) => sum + count, 0),
    async stop() {
      closeSync(file);
      await rm(directory, { recursive: true });
    },
  };
}

const directories: string[] = [];
process.on("exit", () => {
  for (const each of directories) rmSync(each, { recursive: true, force: true, maxRetries: 5 });
});

/** A directory that is gone when we are, also if nobody came to remove it. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "headwater-bench-"));
  directories.push(directory);
  return directory;
}
