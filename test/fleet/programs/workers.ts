import { AnonymousContext, Context } from "headwater";

/** Has no state, and can end the host that it runs on. */
class Worker extends AnonymousContext<number> {
  double(number: number) {
    return number * 2;
  }

  end() {
    process.exit(1);
  }

  exhaust() {
    const kept: number[][] = [];
    for (;;) kept.push(new Array(1_000_000).fill(kept.length));
  }

  never() {
    return new Promise(() => {});
  }
}

class Counter extends Context<number> {
  count = 0;

  add() {
    this.count += 1;
    return this.count;
  }
}

export default class Workers extends Context {
  workers = this.children(Worker);
  counters = this.children(Counter);
}
