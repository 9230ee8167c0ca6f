import { Context, expose } from "headwater";
export default class Counter extends Context {
  static version = 1;
  static upgrade(fields) {
    return { ...fields };
  }
  count = 0;

  add() {
    this.count += 1;
    return this.count;
  }
}
export const api = expose(Counter, { add: (counter) => counter.add() });
