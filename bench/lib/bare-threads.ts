import { Worker } from "node:worker_threads";
import { Packr } from "msgpackr";
import type { Subject } from "./subject.js";

export interface BareRecord {
  readonly id: number;
  readonly counter: number;
  readonly method: string;
  readonly work: number;
}

/** A batch on its way, and the one promise for all its records. */
interface Batch {
  readonly records: BareRecord[];
  readonly done: Promise<void>;
  readonly resolve: () => void;
}

function newBatch(): Batch {
  let resolve = () => {};
  const done = new Promise<void>((settle) => (resolve = settle));
  return { records: [], done, resolve };
}

class Thread {
  readonly #packr = new Packr();
  readonly #worker = new Worker(new URL("./thread.mjs", import.meta.url), {
    workerData: { module: new URL("./bare-thread.ts", import.meta.url).href },
  });
  readonly #sent: Batch[] = [];
  #batch = newBatch();
  #id = 0;
  counted = 0;

  constructor(readonly batchMax: number) {
    this.#worker.on("message", (bytes: Uint8Array) => {
      this.counted += (this.#packr.unpack(bytes) as BareRecord[]).length;
      this.#sent.shift()?.resolve();
    });
  }

  call(counter: number, work: number): Promise<void> {
    const batch = this.#batch;
    this.#id += 1;
    batch.records.push({ id: this.#id, counter, method: "bump", work });
    if (batch.records.length === this.batchMax) this.#flush(batch);
    else if (batch.records.length === 1) setImmediate(() => this.#flush(batch));
    return batch.done;
  }

  #flush(batch: Batch): void {
    if (batch !== this.#batch) return;
    this.#batch = newBatch();
    this.#sent.push(batch);
    const bytes = new Uint8Array(this.#packr.pack(batch.records));
    this.#worker.postMessage(bytes, [bytes.buffer]);
  }

  stop(): Promise<number> {
    return this.#worker.terminate();
  }
}

/**
 * What bare messages between threads can do: records in batches, packed by msgpackr, each batch one promise. No order, no
 * events, no undo. With `batchMax` 1, what bare threads can do with work that takes its time.
 */
export async function startBareThreads(_: number, threads: number, batchMax: number): Promise<Subject> {
  const all = Array.from({ length: threads }, () => new Thread(batchMax));
  const thread = (key: number) => all[key % threads] as Thread;
  return {
    call: (key, work) => thread(key).call(key, work),
    counted: async () => all.reduce((sum, { counted }) => sum + counted, 0),
    async stop() {
      await Promise.all(all.map((each) => each.stop()));
    },
  };
}
