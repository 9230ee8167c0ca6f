import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { Context, type OwnedEngine, owned, readonly } from "headwater";

/** Everything that a ledger's engine can be asked for. */
export interface Account {
  readonly entries: readonly string[];
  readonly sums: Readonly<Record<string, number>>;
  /** Depends on every entry and on their order. */
  readonly chain: string;
}

const CHUNK = 8;

/** An entry says what it adds to which sum, and has a name: `key:amount:name`. */
export class Entries implements OwnedEngine<number> {
  #entries: string[] = [];
  #sums = new Map<string, number>();
  #chain = "";
  readonly #changedSums = new Set<string>();
  #checkpointed = 0;

  static account(entries: readonly string[]): Account {
    const engine = new Entries();
    for (const entry of entries) engine.apply(Buffer.from(entry));
    return engine.account;
  }

  apply(record: Uint8Array): number {
    const entry = Buffer.from(record).toString();
    const [key = "", amount = ""] = entry.split(":");
    this.#entries.push(entry);
    this.#chain = createHash("sha256").update(this.#chain).update(record).digest("hex");
    const sum = (this.#sums.get(key) ?? 0) + Number(amount);
    this.#sums.set(key, sum);
    this.#changedSums.add(key);
    return sum;
  }

  /** Only the sums and the chunks of entries that have changed, so that a lost or doubled checkpoint shows. */
  *checkpoint(): Iterable<readonly [string, Uint8Array]> {
    yield ["chain", Buffer.from(this.#chain)];
    for (const key of this.#changedSums) yield [`sum ${key}`, Buffer.from(String(this.#sums.get(key)))];
    for (let at = this.#checkpointed - (this.#checkpointed % CHUNK); at < this.#entries.length; at += CHUNK)
      yield [`entries ${at}`, Buffer.from(JSON.stringify(this.#entries.slice(at, at + CHUNK)))];
    this.#changedSums.clear();
    this.#checkpointed = this.#entries.length;
  }

  load(parts: Iterable<readonly [string, Uint8Array]>): void {
    for (const [name, bytes] of parts) {
      const [kind, key = ""] = name.split(" ");
      const text = Buffer.from(bytes).toString();
      if (kind === "chain") this.#chain = text;
      else if (kind === "sum") this.#sums.set(key, Number(text));
      else
        for (const [i, entry] of (JSON.parse(text) as string[]).entries())
          this.#entries[Number(key) + i] = entry;
    }
    this.#checkpointed = this.#entries.length;
  }

  get memoryBytes(): number {
    return this.#entries.length * 100;
  }

  get account(): Account {
    const sums = [...this.#sums].sort(([a], [b]) => (a < b ? -1 : 1));
    return { entries: this.#entries, sums: Object.fromEntries(sums), chain: this.#chain };
  }
}

export class Ledger extends Context<number> {
  entries = owned(() => new Entries(), { checkpointBytes: 1500 });

  enter(entry: string) {
    this.entries.apply(Buffer.from(entry));
    return this.entries.position;
  }

  fail(entry: string): number {
    throw new RangeError(`${entry} is entry ${this.enter(entry)}, and is refused`);
  }

  /** Enters something and ends its host, the first times. */
  burn(entry: string, fuse: string, times: number) {
    const position = this.enter(entry);
    const burnt = existsSync(fuse) ? readFileSync(fuse, "utf8").length : 0;
    if (burnt >= times) return position;
    appendFileSync(fuse, "x");
    process.exit(1);
  }

  @readonly seen() {
    return this.entries.read(({ account }) => account);
  }
}

export default class Ledgers extends Context {
  ledgers = this.children(Ledger);

  /** Enters the same in two ledgers. */
  async both(a: number, b: number, entry: string) {
    this.downgrade();
    return Promise.all([this.ledgers(a).enter(entry), this.ledgers(b).enter(entry)]);
  }

  /** Enters something in one ledger though another one refuses it. */
  async oneOf(a: number, b: number, entry: string) {
    await this.ledgers(a)
      .fail(entry)
      .catch(() => {});
    return this.ledgers(b).enter(entry);
  }

  /** Starts an event that nobody waits for and that ends its hosts. */
  order(ledger: number, entry: string, fuse: string, times: number) {
    this.event.start(this.ledgers(ledger)).burn(entry, fuse, times);
  }
}
