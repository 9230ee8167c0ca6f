import { Context, expose, readonly, run, serve, tracked } from "headwater";

/**
 * A bank that notes down everything that a transfer causes, as a process of its own. It is loaded when it says "loaded"
 * and begins when it is told to: `bank.ts JOURNAL DURABILITY PORT`.
 */

export interface Party {
  readonly branch: string;
  readonly account: string;
}

export interface Transfer {
  readonly id: string;
  readonly from: Party;
  readonly to: Party;
  readonly amount: number;
}

/** What a client is told: by its desk, numbered by the desk, or by the transfer itself, numbered by the paying account. */
export type Notice =
  | { readonly by: "desk"; readonly number: number; readonly id: string }
  | { readonly by: string; readonly number: number; readonly id: string };

export const START = 1000;
const SETTLE_MS = 5;

/** An answer, not a failure: it has a name of its own. */
class NotEnough extends Error {
  override name = "NotEnough";
}

class Account extends Context<string> {
  balance = START;
  history = tracked.list<readonly [id: string, amount: number]>();
  settled = tracked.list<string>();

  add(id: string, amount: number) {
    if (this.balance + amount < 0) throw new NotEnough(`${this.key} has only ${this.balance}`);
    this.balance += amount;
    this.event.after(SETTLE_MS, this.settle, id);
    return this.history.push([id, amount]);
  }

  settle(id: string) {
    this.settled.push(id);
  }

  @readonly all() {
    return { balance: this.balance, history: [...this.history], settled: [...this.settled] };
  }
}

class Branch extends Context<string> {
  accounts = this.children(Account);

  async transfer({ id, from, to, amount }: Transfer) {
    this.downgrade();
    await this.accounts(to.account).add(id, amount);
    const number = await this.accounts(from.account).add(id, -amount);
    const { caller } = this.event;
    this.event.start(this.above(Bank).tally).count(id);
    this.event.send(this.event.peer(Auditor)).note(id);
    if (caller === undefined) return;
    this.event.send(caller, { by: `${from.branch}/${from.account}`, number, id } satisfies Notice);
    this.event.start(this.above(Bank).desks(caller)).done(id);
  }
}

/** Numbers what a client is told. */
class Desk extends Context<string> {
  told = 0;

  done(id: string) {
    this.told += 1;
    this.event.send(this.key, { by: "desk", number: this.told, id } satisfies Notice);
  }
}

class Tally extends Context {
  counted = tracked.list<string>();

  count(id: string) {
    this.counted.push(id);
  }

  @readonly all() {
    return [...this.counted];
  }
}

class Bank extends Context {
  branches = this.children(Branch);
  desks = this.children(Desk);
  tally = this.child(Tally);

  async transfer({ id, from, to, amount }: Transfer) {
    this.downgrade();
    await this.branches(to.branch).accounts(to.account).add(id, amount);
    const number = await this.branches(from.branch).accounts(from.account).add(id, -amount);
    const { caller } = this.event;
    this.event.start(this.tally).count(id);
    this.event.send(this.event.peer(Auditor)).note(id);
    if (caller === undefined) return;
    this.event.send(caller, { by: `${from.branch}/${from.account}`, number, id } satisfies Notice);
    this.event.start(this.desks(caller)).done(id);
  }
}

/** A logical node of its own. */
class Auditor extends Context {
  noted = tracked.list<string>();

  note(id: string) {
    this.noted.push(id);
  }

  @readonly all() {
    return [...this.noted];
  }
}

const api = expose(
  { bank: Bank, auditor: Auditor },
  {
    transfer: ({ bank }, transfer: Transfer) =>
      transfer.from.branch === transfer.to.branch
        ? bank.branches(transfer.from.branch).transfer(transfer)
        : bank.transfer(transfer),
    account: ({ bank }, { branch, account }: Party) => bank.branches(branch).accounts(account).all(),
    tally: ({ bank }) => bank.tally.all(),
    noted: ({ auditor }) => auditor.all(),
  },
);

export type BankApi = typeof api;

const [journal = "", durability, port] = process.argv.slice(2);
process.send?.("loaded");
process.once("message", async () => {
  const service = await run(
    { bank: Bank, auditor: Auditor },
    { journal, durability: durability === "written" ? "written" : "synced" },
  );
  const server = await serve(service, api, { port: Number(port) });
  process.send?.("serving");
  process.once("SIGTERM", async () => {
    await server.close();
    await service.stop();
    process.exit(0);
  });
});
