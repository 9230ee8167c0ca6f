import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { Context, readonly } from "headwater";

/** Accounts under branches under a bank, with transfers, failures, timers, later events and an audit. */
export class Account extends Context<number> {
  balance = 100;
  history: string[] = [];

  add(amount: number, id: string) {
    if (this.balance + amount < 0) throw new RangeError(`${this.key} has only ${this.balance}`);
    this.balance += amount;
    this.history.push(id);
    return this.balance;
  }

  @readonly seen() {
    return { balance: this.balance, history: this.history };
  }
}

/** Ends the thread that it runs on, the first times. */
class Bomb extends Context<number> {
  fuse = 0;

  burn(file: string, times: number) {
    this.fuse += 1;
    const burnt = existsSync(file) ? readFileSync(file, "utf8").length : 0;
    if (burnt < times) {
      appendFileSync(file, "x");
      process.exit(1);
    }
    return this.fuse;
  }
}

class Branch extends Context<number> {
  accounts = this.children(Account);
  transfers = 0;

  async transfer(from: number, to: number, amount: number, id: string) {
    this.transfers += 1;
    this.downgrade();
    await this.accounts(to).add(amount, id);
    return this.accounts(from).add(-amount, id);
  }

  note(id: string) {
    this.event.start(this.accounts(0)).add(0, `noted ${id}`);
  }
}

export default class Bank extends Context {
  branches = this.children(Branch);
  bombs = this.children(Bomb);

  async across(from: [number, number], to: [number, number], amount: number, id: string) {
    this.downgrade();
    await Promise.all([
      this.branches(to[0]).accounts(to[1]).add(amount, id),
      this.branches(from[0]).accounts(from[1]).add(-amount, id),
    ]);
    this.event.start(this.branches(to[0])).note(id);
  }

  /** Tries, and goes on without if it fails. */
  async maybe(branch: number, amount: number, id: string) {
    try {
      return await this.branches(branch).transfer(1, 2, amount, id);
    } catch (error) {
      return (error as Error).message;
    }
  }

  async audit(branches: number, accounts: number) {
    const all = [];
    for (let b = 0; b < branches; b++) {
      for (let a = 0; a < accounts; a++) all.push(await this.branches(b).accounts(a).seen());
    }
    return all;
  }
}
