import { Context } from "headwater";

class Room extends Context<number> {
  guests = 0;

  enter() {
    this.guests += 1;
    return this.guests;
  }

  crash() {
    process.exit(1);
  }
}

export default class House extends Context {
  rooms = this.children(Room);
}
