import { Context } from "headwater";

/** What an event can learn of the contexts of its callers, and in which order it gets the results of its calls. */

class Grandchild extends Context {
  n = 0;

  look() {
    return [this.event.read(Kid).x, this.event.read(Order).x];
  }
  async giveUp() {
    this.n += 1;
    this.downgrade();
    return this.n;
  }
  add() {
    this.n += 1;
    return this.n;
  }
}

export class Kid extends Context<string> {
  x = 1;
  below = this.child(Grandchild);

  get() {
    this.x += 1;
    return this.key;
  }
  async slow() {
    for (let i = 0; i < 3; i++) await this.below.add();
    return this.key;
  }
  fail(): string {
    throw new RangeError(`${this.key} has failed`);
  }
  async failLate(): Promise<string> {
    for (let i = 0; i < 3; i++) await this.below.add();
    throw new RangeError(`${this.key} has failed`);
  }
  look() {
    return this.event.read(Order).x;
  }
  async lookTwice() {
    const before = this.event.read(Order).x;
    await this.below.add();
    return [before, this.event.read(Order).x];
  }
  async lookFromBelow() {
    const looking = this.below.look();
    this.x += 10;
    return looking;
  }
  async giveUp() {
    this.x += 1;
    await this.below.add();
    this.downgrade();
    return this.x;
  }
}

export default class Order extends Context {
  x = 1;
  log: string[] = [];
  kids = this.children(Kid);

  async pushAll(names: string[]) {
    this.log = [];
    await Promise.all(names.map(async (name) => this.log.push(await this.#ask(name))));
    return this.log;
  }
  #ask(name: string): Promise<string> {
    return name.startsWith("slow") ? this.kids(name).slow() : this.kids(name).get();
  }
  async firstError(names: string[]) {
    return Promise.all(names.map((name) => this.#fail(name))).catch((error: Error) => error.message);
  }
  #fail(name: string): Promise<string> {
    return name.startsWith("slow") ? this.kids(name).failLate() : this.kids(name).fail();
  }
  async race(names: string[]) {
    return Promise.race(names.map((name) => this.#ask(name)));
  }
  async any(failing: string, names: string[]) {
    return Promise.any([this.#fail(failing), ...names.map((name) => this.#ask(name))]);
  }
  async besideTurns(name: string) {
    this.log = [];
    const asking = this.#ask(name).then((answer) => this.log.push(answer));
    for (let i = 0; i < 20; i++) await null;
    this.log.push("turns");
    await asking;
    return this.log;
  }
  async lookedAt(name: string) {
    this.x = 1;
    const looking = this.kids(name).look();
    this.x = 2;
    return [await looking, await this.kids(name).look()];
  }
  async lookedAtTwice(name: string) {
    this.x = 1;
    const looking = this.kids(name).lookTwice();
    this.x = 2;
    return looking;
  }
  async lookedAtFromBelow(name: string) {
    this.x = 1;
    const looking = this.kids(name).lookFromBelow();
    this.x = 2;
    return looking;
  }
  /** The kid is to give itself up in a call that was made when this was still held. */
  async giveUpBefore(name: string) {
    const giving = this.kids(name).giveUp();
    this.downgrade();
    return giving;
  }
  async giveUpAfter(name: string) {
    this.downgrade();
    return this.kids(name).giveUp();
  }
  /** The kid in between is entered before the one below it gives itself up: it must be given up first. */
  async giveUpBelow(name: string, isKidGivenUp: boolean) {
    this.downgrade();
    await this.kids(name).below.add();
    if (isKidGivenUp) await this.kids(name).giveUp();
    else await this.kids(name).get();
    return this.kids(name).below.giveUp();
  }
  /** The second call in a context: the first one had found what is in between not entered yet. */
  async lookBelow(name: string) {
    this.x = 1;
    await this.kids(name).below.add();
    await this.kids(name).get();
    return this.kids(name).below.look();
  }
}
