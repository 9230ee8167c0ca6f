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

class Only extends Context {
  count = 0;

  bump(work: number): number {
    spin(work);
    return ++this.count;
  }

  value(): number {
    return this.count;
  }
}

class Other extends Only {}

/** An event here calls a counter below, which is on this host or on the other one. */
class Pair extends Context<number> {
  near = this.child(Only);
  far = this.child(Other);

  async bumpNear(work: number): Promise<number> {
    return await this.near.bump(work);
  }

  async bumpFar(work: number): Promise<number> {
    return await this.far.bump(work);
  }
}

export default class Root extends Context {
  counters = this.children(Counter);
  pairs = this.children(Pair);
}
