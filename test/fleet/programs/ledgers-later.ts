import { Context, owned, readonly, tracked } from "headwater";
import { Entries } from "./ledgers.js";

/** The ledgers as a later version of the program has them: the engine has another name, and there is a count beside it. */
class Ledger extends Context<number> {
  static version = 2;
  static upgrade({ entries }: Record<string, unknown>) {
    return { book: entries, later: [] };
  }

  later = tracked.list<string>();
  book = owned(() => new Entries(), { checkpointBytes: 2000 });

  enter(entry: string) {
    this.later.push(entry);
    this.book.apply(Buffer.from(entry));
    return this.book.position;
  }

  @readonly seen() {
    return { ...this.book.read(({ account }) => account), later: [...this.later] };
  }
}

export default class Ledgers extends Context {
  ledgers = this.children(Ledger);
}
