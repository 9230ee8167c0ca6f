import { setTimeout as sleep } from "node:timers/promises";
import { Context, readonly } from "headwater";

/** Waits for virtual time, in a simulation. */
export { sleep };

export class Counter extends Context<string> {
  count = 0;

  add(by: number) {
    this.count += by;
    return this.count;
  }

  @readonly current() {
    return this.count;
  }

  fail() {
    throw new RangeError("not today");
  }

  /** Adds later, by a timer that an event of its own carries out. */
  addLater(ms: number) {
    this.event.after(ms, this.add, 1);
  }

  failLater() {
    this.event.after(10, this.fail);
  }

  hear() {
    this.event.send(this.event.caller ?? "", `${this.key} has ${this.count}`);
  }

  async think() {
    const began = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await sleep(3_600_000);
    this.count += Math.floor((Date.now() - began) / 3_600_000);
    return Math.random();
  }
}

export default class Counters extends Context {
  counters = this.children(Counter);
}
