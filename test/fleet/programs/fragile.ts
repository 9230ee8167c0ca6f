import { Context, type Service } from "headwater";

function breaks(): never {
  throw new Error("it is broken");
}

class Vase extends Context<number> {
  drops = 0;

  /** The first time, it ends its host a little later. */
  drop() {
    this.drops += 1;
    if (this.drops === 1) setTimeout(breaks);
  }
}

export default class Shop extends Context {
  vases = this.children(Vase);
}

export async function main({ root }: Service<Shop>): Promise<void> {
  await root.vases(1).drop();
  await root.vases(1).drop();
}
