import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Context, type RunOptions, run } from "headwater";
import { temporaryDirectory } from "./append-sync.js";
import type { Subject } from "./subject.js";
import { nextTransfer, Zipf } from "./zipf.js";

/** How unevenly accounts are used, as in YCSB. */
export const SKEW = 0.999;
/** What each account begins with, so that hardly any transfer is refused. */
export const BALANCE = 1_000_000;

class Account extends Context<number> {
  balance = BALANCE;
  /** How often somebody has wanted to take something. */
  asked = 0;

  withdraw(amount: number): boolean {
    this.asked += 1;
    if (this.balance < amount) return false;
    this.balance -= amount;
    return true;
  }

  deposit(amount: number): void {
    this.balance += amount;
  }

  look(): [balance: number, asked: number] {
    return [this.balance, this.asked];
  }
}

/** Every transfer starts here, and calls two of the accounts below. */
class Bank extends Context {
  accounts = this.children(Account);

  async transfer(from: number, to: number, amount: number): Promise<boolean> {
    if (!(await this.accounts(from).withdraw(amount))) return false;
    await this.accounts(to).deposit(amount);
    return true;
  }
}

/** Transfers between accounts below one bank, in this process. */
export async function startTransfers(accounts: number, options: RunOptions = {}): Promise<Subject> {
  const service = await run(Bank, options);
  const zipf = new Zipf(accounts, SKEW);
  return {
    call() {
      const { from, to } = nextTransfer(zipf);
      return service.root.transfer(from, to, 1);
    },
    async counted() {
      let [balances, transfers] = [0, 0];
      for (let key = 0; key < accounts; key++) {
        const [balance, asked] = await service.root.accounts(key).look();
        balances += balance;
        transfers += asked;
      }
      checkBalances(balances, accounts);
      return transfers;
    },
    stop: () => service.stop(),
  };
}

/** The same with a journal in a directory of its own. */
export async function startDurableTransfers(accounts: number): Promise<Subject> {
  const directory = await temporaryDirectory();
  const subject = await startTransfers(accounts, { journal: join(directory, "journal") });
  return {
    ...subject,
    async stop() {
      await subject.stop();
      await rm(directory, { recursive: true });
    },
  };
}

/** Transfers make no money. */
export function checkBalances(sum: number, accounts: number): void {
  if (sum !== accounts * BALANCE)
    throw new Error(`the balances add up to ${sum} instead of ${accounts * BALANCE}.`);
}
