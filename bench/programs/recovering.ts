import { Context, expose } from "headwater";

/** A program that has much to come back to: timers that are far from due, and clients that have gone away. */
class Desk extends Context<number> {
  count = 0;
  add() {
    this.count++;
    return this.count;
  }
  setTimers(count: number) {
    for (let i = 0; i < count; i++) this.event.after(1e9 + i, this.add);
  }
}
export default class Office extends Context {
  desks = this.children(Desk);
}

export const api = expose(Office, { add: (office, desk: number) => office.desks(desk).add() });
