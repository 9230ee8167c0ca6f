import { setTimeout as sleep } from "node:timers/promises";
import { Context, expose, type ProgramIo, readonly, type Service } from "headwater";

/**
 * Accounts under branches under a bank. A transfer starts at the lowest context that is above both accounts, so
 * branches go about their own business side by side; and since it is one event, money is never lost, made, or seen
 * to be on its way.
 */
export class Account extends Context<string> {
  isOpen = false;
  balance = 0;

  open(balance: number) {
    if (this.isOpen) throw new Error(`account ${this.key} exists already`);
    this.isOpen = true;
    this.balance = checked(balance);
  }

  deposit(amount: number) {
    if (!this.isOpen) throw new Error(`there is no account ${this.key}`); // A context is made on first use.
    this.balance += checked(amount);
  }

  withdraw(amount: number) {
    if (!this.isOpen) throw new Error(`there is no account ${this.key}`);
    if (checked(amount) > this.balance) throw new Error(`account ${this.key} has only ${this.balance}`);
    this.balance -= amount;
  }

  @readonly current() {
    return this.balance;
  }
}

export class Branch extends Context<string> {
  names: string[] = [];
  accounts = this.children(Account);

  async open(name: string, balance: number) {
    await this.accounts(name).open(balance);
    this.names.push(name);
  }

  /** Between two accounts of this branch. */
  async transfer(from: string, to: string, amount: number) {
    this.downgrade();
    await this.accounts(to).deposit(amount);
    await this.accounts(from).withdraw(amount); // If this throws, the deposit is undone with the whole event.
  }

  @readonly async balances() {
    const balances = new Map<string, number>();
    for (const name of this.names) balances.set(name, await this.accounts(name).current());
    return balances;
  }
}

export interface Party {
  branch: string;
  account: string;
}

export default class Bank extends Context {
  names = new Set<string>();
  branches = this.children(Branch);

  async open({ branch, account }: Party, balance: number) {
    this.names.add(branch);
    await this.branches(branch).open(account, balance);
  }

  /** Between two accounts of any branches. */
  async transfer(from: Party, to: Party, amount: number) {
    this.downgrade();
    await this.branches(to.branch).accounts(to.account).deposit(amount);
    await this.branches(from.branch).accounts(from.account).withdraw(amount);
  }

  /** All balances of all branches at one moment, while transfers go on. */
  @readonly async audit() {
    const branches = new Map<string, Map<string, number>>();
    for (const name of this.names) branches.set(name, await this.branches(name).balances());
    return branches;
  }
}

/** Amounts are whole cents, so that sums are exact. */
function checked(amount: number) {
  if (!Number.isSafeInteger(amount) || amount < 0) throw new Error(`${amount} is not an amount`);
  return amount;
}

/** What callers may ask for with `headwater run examples/bank --port 8080`. */
export const api = expose(Bank, {
  open: (bank, party: Party, balance: number) => bank.open(party, balance),
  transfer: (bank, from: Party, to: Party, amount: number) => bank.transfer(from, to, amount),
  audit: (bank) => bank.audit(),
});

const ADA: Party = { branch: "north", account: "ada" };
const BEN: Party = { branch: "north", account: "ben" };
const CLEO: Party = { branch: "south", account: "cleo" };
const REPORT_MS = 500;
const TRANSFERS_MS = 10;

/**
 * A few transfers; with `io.forever`, a coin goes round until it is told to stop. With a journal, a later run finds the
 * accounts open and goes on with their money.
 */
export async function main({ root: bank }: Service<Bank>, io: ProgramIo) {
  const report = async (what: string) => {
    const lines = [...(await bank.audit())].map(
      ([branch, accounts]) =>
        `${branch} ${[...accounts].map(([name, balance]) => `${name} ${balance}`).join(", ")}`,
    );
    io.print(`${what}: ${lines.join("; ")}`);
  };

  const known = await bank.audit();
  for (const party of [ADA, BEN, CLEO]) {
    if (!known.get(party.branch)?.has(party.account)) await bank.open(party, 100);
  }
  await report("three accounts");

  // The first is one branch's own business. After a few runs there is no money left for them.
  await Promise.allSettled([bank.branches("north").transfer("ada", "ben", 30), bank.transfer(BEN, CLEO, 50)]);
  await report("two transfers at once");

  const failure = await bank
    .branches("north")
    .transfer("ada", "ben", 500)
    .catch((error: Error) => error.message);
  await report(`a transfer that fails (${failure}) changes nothing`);

  let reported = Date.now();
  for (let count = 0; io.forever && !io.signal.aborted; count += 3) {
    await Promise.allSettled([
      bank.transfer(ADA, BEN, 1),
      bank.transfer(BEN, CLEO, 1),
      bank.transfer(CLEO, ADA, 1),
    ]);
    await sleep(TRANSFERS_MS);
    if (Date.now() - reported < REPORT_MS) continue;
    await report(`${count + 3} transfers later`);
    reported = Date.now();
  }
}
