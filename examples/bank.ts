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

export async function main(service: Service<Bank>, io: ProgramIo) {
  const { root: bank } = service;
  const report = async (what: string) => {
    const lines = [...(await bank.audit())].map(
      ([branch, accounts]) =>
        `${branch} ${[...accounts].map(([name, balance]) => `${name} ${balance}`).join(", ")}`,
    );
    io.print(`${what}: ${lines.join("; ")}`);
  };

  await bank.open({ branch: "north", account: "ada" }, 100);
  await bank.open({ branch: "north", account: "ben" }, 100);
  await bank.open({ branch: "south", account: "cleo" }, 100);
  await report("three accounts");

  await Promise.all([
    bank.branches("north").transfer("ada", "ben", 30),
    bank.transfer({ branch: "north", account: "ben" }, { branch: "south", account: "cleo" }, 50),
  ]);
  await report("two transfers at once");

  const failure = await bank
    .branches("north")
    .transfer("ada", "ben", 500)
    .catch((error: Error) => error.message);
  await report(`a transfer that fails (${failure}) changes nothing`);
}
