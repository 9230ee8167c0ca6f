import { Context, outside, readonly } from "headwater";
import { Gates } from "../../gates.js";

export const gates = new Gates();

export interface Walk {
  readonly steps: readonly { readonly place: number; readonly asks: readonly string[] }[];
  readonly fails: boolean;
}

const far = outside("walks.far", async (place: number) => place);

export class Place extends Context<number> {
  visits = 0;

  visit(asks: readonly string[]) {
    this.visits += 1;
    for (const what of asks) {
      if (what === "start") this.event.start(this.above(Walks).places(this.key)).note();
      else if (what === "timer") this.event.after(3_600_000, this.note);
      else if (what === "tell") this.event.send("ada", "hello");
      else this.event.outside(far, this.key, this.note);
    }
  }

  note() {
    this.visits += 1;
  }

  async hold() {
    this.visits += 1;
    await gates.pass("held");
  }

  @readonly count() {
    return this.visits;
  }
}

/** A program whose events do what they are told, for tests that compare what is observed of them with that. */
export default class Walks extends Context {
  places = this.children(Place);

  async walk({ steps, fails }: Walk) {
    for (const { place, asks } of steps) await this.places(place).visit(asks);
    if (fails) throw new Error("the walk has failed");
  }
}
