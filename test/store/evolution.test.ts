import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { packageWith, runHere } from "../cli/headwater.js";

/** Versions of one program, each of which adds what it is told to ada's account and prints it. */
function bank(account: string, print: string): string {
  return `
    import { Context, outside } from "headwater";
    class Account extends Context<string> { ${account} }
    export default class Bank extends Context { accounts = this.children(Account); }
    export async function main({ root }, io) { io.print(JSON.stringify(${print})); }
  `;
}

const CENTS = "cents = 0; add(cents: number) { return (this.cents += cents); }";
const MONEY = `
  money = { cents: 0, currency: "EUR" };
  add(cents: number) { this.money.cents += cents; return this.money; }
`;
const UPGRADE = `
  static version = 2;
  static upgrade({ cents }: { cents: number }) { return { money: { cents, currency: "EUR" } }; }
`;

const ADD = 'await root.accounts("ada").add(5)';

test("a journal goes on with a new version of the program, if that says how", async (t) => {
  const folder = packageWith(t, {
    "first.ts": bank(CENTS, ADD),
    "changed.ts": bank(MONEY, ADD),
    "second.ts": bank(UPGRADE + MONEY, ADD),
  });
  const run = (version: string) => runHere(folder, "run", version, "--journal", join(folder, "journal"));
  assert.equal((await run("first")).stdout, "5\n");

  const changed = await run("changed");
  assert.deepEqual([changed.exitCode, changed.stdout], [1, ""]);
  assert.match(changed.stderr, /^error HW-3021: .*Account/m);
  assert.equal((await run("first")).stdout, "10\n", "a refused version leaves the journal to the old one");

  assert.equal((await run("second")).stdout, '{"cents":15,"currency":"EUR"}\n');
  assert.equal((await run("second")).stdout, '{"cents":20,"currency":"EUR"}\n');
  const old = await run("first");
  assert.deepEqual([old.exitCode, old.stdout], [1, ""]);
  assert.match(old.stderr, /^error HW-3021: /m);
});

test("a field can be added without a word, on one host and on several", async (t) => {
  const grown =
    "cents = 0; currency = 'EUR'; add(cents: number) { return (this.cents += cents) + this.currency; }";
  const folder = packageWith(t, { "first.ts": bank(CENTS, ADD), "grown.ts": bank(grown, ADD) });
  const run = (version: string, hosts: string) =>
    runHere(folder, "run", version, "--hosts", hosts, "--journal", join(folder, "journal"));
  assert.equal((await run("first", "1")).stdout, "5\n");
  assert.equal((await run("grown", "2")).stdout, '"10EUR"\n');
  assert.equal((await run("grown", "1")).stdout, '"15EUR"\n');
  assert.match((await run("first", "1")).stderr, /^error HW-3021: .*"currency" is gone/m);
});

test("a program that has lost a method or an outside function that the journal needs is refused", async (t) => {
  const later =
    "later() {} add(cents: number) { this.event.after(1e9, this.later); return (this.cents += cents); }";
  const call = `add(cents: number) { this.event.outside(mail, "x"); return (this.cents += cents); }`;
  const mail = 'const mail = outside("mail", () => new Promise(() => {}));';
  const folder = packageWith(t, {
    "timer.ts": bank(`cents = 0; ${later}`, ADD),
    "call.ts": `${mail} ${bank(`cents = 0; ${call}`, `(${ADD}, process.exit(3))`)}`,
    "plain.ts": bank(CENTS, ADD),
  });
  const run = (version: string, journal: string) =>
    runHere(folder, "run", version, "--journal", join(folder, journal));
  assert.equal((await run("timer", "a")).stdout, "5\n");
  const timer = await run("plain", "a");
  assert.deepEqual([timer.exitCode, timer.stdout], [1, ""]);
  assert.match(timer.stderr, /^error HW-3023: .*later/m);
  assert.equal((await run("timer", "a")).stdout, "10\n");

  assert.equal((await run("call", "b")).exitCode, 3);
  const outside = await run("plain", "b");
  assert.deepEqual([outside.exitCode, outside.stdout], [1, ""]);
  assert.match(outside.stderr, /^error HW-3023: .*"mail"/m);
});
