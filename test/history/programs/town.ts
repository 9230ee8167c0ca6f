import { Context, readonly, tracked } from "headwater";

/** Contexts of all kinds of state, for tests that read the past. */
export class House extends Context<string> {
  people = tracked.map<string, number>();
  visits = tracked.list<number>();
  sign = "";
  large = "";

  act(what: number, n: number) {
    if (what === 0) this.people.set(`p${n % 5}`, n);
    else if (what === 1) this.people.delete(`p${n % 5}`);
    else if (what === 2) this.visits.push(n);
    else if (what === 3) this.sign = `sign ${n}`;
    else if (what === 4) this.large = "x".repeat(2000 + n);
    else if (what === 6) throw new RangeError("no");
    else if (what === 7) this.event.after(1_000_000, this.later);
    return this.event.ticket;
  }

  later() {}
}

export default class Town extends Context {
  houses = this.children(House);
  count = 0;

  async both(a: string, b: string, what: number, n: number) {
    this.count += 1;
    if (what === 5) await this.event.delete(this.houses(a));
    else await this.houses(a).act(what, n);
    await this.houses(b).act(what, n + 1);
    return this.event.ticket;
  }

  @readonly total() {
    return this.count;
  }
}
