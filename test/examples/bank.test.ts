import assert from "node:assert/strict";
import test from "node:test";
import { run } from "headwater";
import { Random } from "#src/random.js";
import Bank, { main, type Party } from "../../examples/bank.js";
import { runErratically } from "./erratic.js";
import { printed } from "./printed.js";

const BRANCHES = ["north", "south", "east", "west"];
const ACCOUNTS = ["ada", "ben", "cleo", "dan", "eva"];
const START = 100;
const TOTAL = BRANCHES.length * ACCOUNTS.length * START;

type Books = Map<string, Map<string, number>>;

async function openBank(start = () => run(Bank)) {
  const service = await start();
  for (const branch of BRANCHES) {
    await Promise.all(ACCOUNTS.map((account) => service.root.open({ branch, account }, START)));
  }
  return service;
}

function balancesOf(books: Books): Map<string, number> {
  const balances = new Map<string, number>();
  for (const [branch, accounts] of books) {
    for (const [account, balance] of accounts) balances.set(`${branch}/${account}`, balance);
  }
  return balances;
}

function isBalanced(books: Books): void {
  const balances = [...balancesOf(books).values()];
  assert.equal(balances.length, BRANCHES.length * ACCOUNTS.length);
  assert.equal(
    balances.reduce((sum, balance) => sum + balance, 0),
    TOTAL,
    "money was lost or made",
  );
  assert.ok(balances.every((balance) => balance >= 0));
}

const hosts = { "": () => run(Bank), ", on an erratic host": () => runErratically(Bank) };

for (const [where, start] of Object.entries(hosts)) {
  test(`the total never changes, whatever is transferred at once and whatever fails${where}`, async () => {
    await using service = await openBank(start);
    const bank = service.root;
    const random = new Random(2);
    const books = balancesOf(await bank.audit());
    const book = ({ branch, account }: Party, amount: number) =>
      books.set(`${branch}/${account}`, (books.get(`${branch}/${account}`) ?? 0) + amount);
    const outcomes = new Map<string, number>();
    const count = (what: string) => outcomes.set(what, (outcomes.get(what) ?? 0) + 1);
    const someone = (branch: string): Party => ({
      branch,
      account: random.chance(0.03) ? "nobody" : random.pick(ACCOUNTS),
    });

    const transfer = async () => {
      const amount = random.chance(0.02) ? -1 : random.int(90);
      const from = someone(random.pick(BRANCHES));
      const to = someone(random.chance(0.6) ? from.branch : random.pick(BRANCHES));
      const isLocal = from.branch === to.branch;
      try {
        if (isLocal) await bank.branches(from.branch).transfer(from.account, to.account, amount);
        else await bank.transfer(from, to, amount);
        book(from, -amount);
        book(to, amount);
        count(isLocal ? "within a branch" : "across branches");
      } catch (error) {
        assert.ok(error instanceof Error);
        count(error.message.replace(/account \w+/, "account").replace(/\d+$/, "so much"));
      }
    };

    for (let round = 0; round < 4; round++) {
      const transfers: Promise<void>[] = [];
      const audits: Promise<Books>[] = [];
      for (let i = 0; i < 200; i++) {
        transfers.push(transfer());
        if (i % 4 === 0) audits.push(bank.audit());
      }
      for (const audit of await Promise.all(audits)) isBalanced(audit);
      await Promise.all(transfers);
    }

    const end = await bank.audit();
    isBalanced(end);
    assert.deepEqual(
      balancesOf(end),
      books,
      "the balances are those that the transfers which succeeded give",
    );
    assert.deepEqual([...outcomes.keys()].toSorted(), [
      "-1 is not an amount",
      "account has only so much",
      "across branches",
      "there is no account",
      "within a branch",
    ]);
  });
}

test("a transfer that the account cannot pay changes nothing", async () => {
  await using service = await openBank();
  const bank = service.root;
  const before = await bank.audit();
  await assert.rejects(bank.branches("north").transfer("ada", "ben", START + 1), /account ada has only 100/);
  const [from, to] = [
    { branch: "north", account: "ada" },
    { branch: "south", account: "ben" },
  ];
  await assert.rejects(bank.transfer(from, to, START + 1), /account ada has only 100/);
  await assert.rejects(bank.transfer(from, { ...to, account: "nobody" }, 1), /there is no account nobody/);
  await assert.rejects(bank.transfer(from, to, 0.5), /0.5 is not an amount/);
  assert.deepEqual(await bank.audit(), before);
});

test("an account cannot be opened twice", async () => {
  await using service = await openBank();
  await assert.rejects(service.root.open({ branch: "north", account: "ada" }, 1000), /exists already/);
  isBalanced(await service.root.audit());
});

test("the demonstration shows the balances after each step", async () => {
  await using service = await run(Bank);
  const lines = await printed(main, service);
  assert.deepEqual(lines, [
    "three accounts: north ada 100, ben 100; south cleo 100",
    "two transfers at once: north ada 70, ben 80; south cleo 150",
    "a transfer that fails (account ada has only 70) changes nothing: north ada 70, ben 80; south cleo 150",
  ]);
});

test("the demonstration goes on with the money that is there, however often it is run", async () => {
  await using service = await run(Bank);
  for (let i = 0; i < 2; i++) await printed(main, service);
  const [first = "", ...rest] = await printed(main, service);
  assert.equal(first, "three accounts: north ada 40, ben 60; south cleo 200");
  assert.equal(rest.length, 2);
  for (let i = 0; i < 3; i++) await printed(main, service);
  const total = [...balancesOf(await service.root.audit()).values()].reduce(
    (sum, balance) => sum + balance,
    0,
  );
  assert.equal(total, 300);
});
