import { workerData } from "node:worker_threads";
import { spin } from "./work.js";

const { counts } = workerData as { readonly counts: Int32Array };

export default function bump({ counter, work }: { readonly counter: number; readonly work: number }): number {
  spin(work);
  return Atomics.add(counts, counter, 1) + 1;
}
