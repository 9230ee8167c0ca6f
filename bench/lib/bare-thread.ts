import { parentPort } from "node:worker_threads";
import { Packr } from "msgpackr";
import type { BareRecord } from "./bare-threads.js";
import { spin } from "./work.js";

/** Answers batches of records. */
const packr = new Packr();
const counts = new Map<number, number>();

parentPort?.on("message", (bytes: Uint8Array) => {
  const answers: BareRecord[] = [];
  for (const { id, counter, method, work } of packr.unpack(bytes) as BareRecord[]) {
    spin(work);
    const count = (counts.get(counter) ?? 0) + 1;
    counts.set(counter, count);
    answers.push({ id, counter, method, work: count });
  }
  const answer = new Uint8Array(packr.pack(answers));
  parentPort?.postMessage(answer, [answer.buffer]);
});
