import { Context, type Service } from "headwater";

class Vase extends Context<number> {
  drops = 0;

  /** The first time, it ends its host a little later. */
  drop() {
    this.drops += 1;
    if (this.drops === 1) void Promise.reject(new Error("it is broken"));
  }
}

export default class Shop extends Context {
  vases = this.children(Vase);
}

export async function main({ root }: Service<Shop>): Promise<void> {
  await root.vases(1).drop();
  await root.vases(1).drop();
}
