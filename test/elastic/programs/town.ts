import { Context, readonly } from "headwater";

class House extends Context<number> {
  visits = 0;

  /** Keeps its host busy for a while. */
  visit(ms: number): number {
    const untilMs = performance.now() + ms;
    while (performance.now() < untilMs);
    this.visits += 1;
    return this.visits;
  }

  @readonly count(): number {
    return this.visits;
  }
}

export default class Town extends Context {
  houses = this.children(House);
}
