import { Context, expose, outside } from "headwater";

/** What outside functions saw when they were called, for tests. */
export const seen: { traceparent: string | null }[] = [];
export const hooks: { look: () => string | null } = { look: () => null };

const ship = outside("telemetry.ship", () => {
  seen.push({ traceparent: hooks.look() });
  return "shipped";
});

/** Events that start events, on other contexts, by timers and from outside. */
export class Wheel extends Context<number> {
  turns = 0;

  turn(left: number) {
    this.turns += 1;
    if (left > 0) this.event.start(this.above(Mill).wheels(left - 1)).turn(left - 1);
    else this.event.after(1, this.rest);
  }

  rest() {
    this.event.start(this.above(Mill)).deliver();
  }
}

export default class Mill extends Context {
  wheels = this.children(Wheel);
  delivered = 0;

  deliver() {
    this.event.outside(ship, null, this.arrived);
  }

  arrived() {
    this.delivered += 1;
  }
}

export const api = expose(Mill, { turn: (mill, left: number) => mill.wheels(left).turn(left) });
