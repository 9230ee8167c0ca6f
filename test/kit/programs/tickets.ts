import { Context } from "headwater";
import { nextNumber } from "./counter.js";

export class Desk extends Context<string> {
  issued: number[] = [];

  issue() {
    const number = nextNumber();
    this.issued.push(number);
    return number;
  }
}

export default class Tickets extends Context {
  desks = this.children(Desk);
}
