import { appendFileSync, existsSync } from "node:fs";
import { AnonymousContext, Context, readonly } from "headwater";

class Counter extends Context<number> {
  count = 0;

  add() {
    this.count += 1;
    return this.count;
  }

  @readonly value() {
    return this.count;
  }

  /** Blocks its event loop, and leaves a mark each time that it begins. */
  spin(file: string) {
    appendFileSync(file, "x");
    for (;;);
  }

  async never() {
    this.count += 100;
    await new Promise(() => {});
  }

  /** Ends its host, the first time. */
  exit(file: string) {
    if (existsSync(file)) return;
    appendFileSync(file, "x");
    process.exit(3);
  }

  /** Ends its host a little later. */
  forget() {
    setTimeout(() => {
      throw new Error("nobody cares");
    });
  }

  where() {
    return process.pid;
  }

  say(text: string) {
    console.log(text);
  }
}

class Worker extends AnonymousContext<number> {
  spin() {
    for (;;);
  }

  echo(value: number) {
    return value;
  }
}

export default class Counters extends Context {
  counters = this.children(Counter);
  workers = this.children(Worker);

  /** Adds to two counters at once, wherever they are. */
  async both(one: number, other: number) {
    this.downgrade();
    await Promise.all([this.counters(one).add(), this.counters(other).add()]);
  }
}
