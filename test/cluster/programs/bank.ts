import { Context, expose, readonly } from "headwater";

export class Account extends Context<number> {
  balance = 100;

  add(amount: number): number {
    this.balance += amount;
    return this.balance;
  }

  @readonly
  read(): number {
    return this.balance;
  }
}

/** Something that must happen once. */
export class Operation extends Context<string> {
  times = 0;

  mark(): void {
    this.times += 1;
  }

  @readonly
  read(): number {
    return this.times;
  }
}

class Broke extends Error {
  override readonly name = "Broke";
}

/** Moves money between accounts. The total never changes. */
export default class Bank extends Context {
  accounts = this.children(Account);
  operations = this.children(Operation);
  transfers = 0;

  async transfer(from: number, to: number, amount: number): Promise<number> {
    await this.accounts(from).add(-amount);
    await this.accounts(to).add(amount);
    this.transfers += 1;
    return this.transfers;
  }

  @readonly
  async total(accounts: number): Promise<number> {
    let total = 0;
    for (let i = 0; i < accounts; i++) total += await this.accounts(i).read();
    return total;
  }

  @readonly
  count(): number {
    return this.transfers;
  }

  fail(message: string): void {
    throw new Broke(message);
  }

  echo<T>(value: T): T {
    return value;
  }

  tell(client: string, message: number): void {
    this.event.send(client, message);
  }

  /** The same under a name, which is counted. */
  async once(operation: string, from: number, to: number): Promise<number> {
    await this.operations(operation).mark();
    return this.transfer(from, to, 1);
  }
}

export const api = expose(Bank, {
  transfer: (bank, from: number, to: number, amount: number) => bank.transfer(from, to, amount),
  count: (bank) => bank.count(),
});
