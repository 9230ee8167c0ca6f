import { threadId } from "node:worker_threads";
import { Context } from "headwater";
import { spin } from "./work.js";

/** The counters of `micro`, for hosts to load. */
class Counter extends Context<number> {
  count = 0;

  bump(work: number): number {
    spin(work);
    return ++this.count;
  }

  value(): number {
    return this.count;
  }

  /** Which host it is on. */
  where(): string {
    return `${process.pid}.${threadId}`;
  }
}

export default class Root extends Context {
  counters = this.children(Counter);
}
