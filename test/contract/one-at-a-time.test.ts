import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Context, readonly, run } from "headwater";
import { Gates, turns } from "../gates.js";

/** DESIGN.md, the contract, lines 1 and 2: one at a time in ticket order, and in real time. */

let gates = new Gates();
beforeEach(() => {
  gates = new Gates();
});

class Account extends Context<number> {
  balance = 0;
  async deposit(amount: number) {
    const found = this.balance;
    await turns(1);
    this.balance = found + amount;
    return this.balance;
  }
  async depositAt(gate: string, amount: number) {
    await gates.pass(gate);
    return this.deposit(amount);
  }
  @readonly look() {
    return this.balance;
  }
}
class Bank extends Context {
  moves: string[] = [];
  accounts = this.children(Account);
  async transfer(from: number, to: number, amount: number) {
    this.moves.push(`${from}->${to}`);
    const left = await this.accounts(from).deposit(-amount);
    await turns(1);
    return [left, await this.accounts(to).deposit(amount)];
  }
  @readonly async total(of: number[]) {
    let sum = 0;
    for (const account of of) {
      sum += await this.accounts(account).look();
      await turns(1);
    }
    return sum;
  }
  @readonly history() {
    return this.moves;
  }
}

test("line 1: events on one context run one after the other in the order of their requests", async () => {
  const bank = await run(Bank);
  const account = bank.root.accounts(1);
  const balances = await Promise.all(Array.from({ length: 30 }, () => account.deposit(1)));
  assert.deepEqual(
    balances,
    Array.from({ length: 30 }, (_, i) => i + 1),
  );
  await bank.stop();
});

test("line 1: events over several contexts never see each other half done", async () => {
  const bank = await run(Bank);
  const { root } = bank;
  const accounts = [0, 1, 2];
  for (const account of accounts) await root.accounts(account).deposit(100);
  const requests: Promise<unknown>[] = [];
  const totals: Promise<number>[] = [];
  for (let i = 0; i < 12; i++) {
    requests.push(root.transfer(i % 3, (i + 1) % 3, i + 1));
    totals.push(root.total(accounts));
    requests.push(root.accounts(i % 3).deposit(0));
  }
  assert.deepEqual(new Set(await Promise.all(totals)), new Set([300]));
  await Promise.all(requests);
  assert.equal((await root.history()).length, 12);
  await bank.stop();
});

test("line 1: an event below waits for an earlier one above it, and finds what that one left", async () => {
  const bank = await run(Bank);
  const transfer = bank.root.transfer(1, 2, 10);
  const deposit = bank.root.accounts(2).deposit(1);
  assert.deepEqual(await transfer, [-10, 10]);
  assert.equal(await deposit, 11);
  await bank.stop();
});

test("line 1: an event above waits below for an earlier one, and finds what that one left", async () => {
  const bank = await run(Bank);
  const slow = bank.root.accounts(2).depositAt("slow", 5);
  await gates.reached("slow");
  const transfer = bank.root.transfer(1, 2, 10);
  await turns();
  gates.open("slow");
  assert.equal(await slow, 5);
  assert.deepEqual(await transfer, [-10, 15]);
  await bank.stop();
});

test("line 1: a read sees all earlier events and none of the later ones", async () => {
  const bank = await run(Bank);
  const { root } = bank;
  const account = root.accounts(1);
  const requests = [
    account.deposit(1),
    root.total([1, 2]),
    account.deposit(10),
    account.look(),
    root.transfer(1, 2, 4),
  ];
  requests.push(root.total([1]), root.accounts(2).look());
  assert.deepEqual(await Promise.all(requests), [1, 1, 11, 11, [7, 4], 7, 4]);
  await bank.stop();
});

test("line 2: an event that was acknowledged comes before one that is submitted afterwards", async () => {
  const bank = await run(Bank);
  const { root } = bank;
  const ada = bank.client("ada", () => {});
  const slow = root.accounts(9).depositAt("slow", 1);
  await gates.reached("slow");
  for (let i = 1; i <= 5; i++) {
    await root.accounts(1).deposit(1);
    assert.equal(await ada.root.accounts(1).look(), i);
    assert.equal(await root.total([1]), i, "also for a read from above that does not touch what is slow");
  }
  gates.open("slow");
  await slow;
  await bank.stop();
});

test("line 1: what an event finds depends only on the events before it, not on which objects they used", async () => {
  class Pair extends Context {
    left: number[] = [];
    right: number[] = [];
    share() {
      const both = [1];
      this.left = both;
      this.right = both;
    }
    push() {
      this.left.push(2);
      return this.right;
    }
  }
  const { root, stop } = await run(Pair);
  await root.share();
  assert.deepEqual(
    await root.push(),
    [1],
    "state is values: the two fields became two lists when the event ended",
  );
  await stop();
});
