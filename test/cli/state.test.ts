import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { headwater, packageWith, Running } from "./headwater.js";

const PROGRAM = `
  import { Context } from "headwater";
  class Account extends Context {
    balance = 0;
    add(by) { this.balance += by; }
  }
  export default class Bank extends Context {
    accounts = this.children(Account);
    name = "west";
    async open() { await this.accounts("ada").add(70); this.name = "east"; }
  }
  export async function main(service, io) {
    await service.root.open();
    console.log("opened");
    await new Promise((resolve) => io.signal.addEventListener("abort", resolve));
  }
`;

test("headwater state shows a context of a program that runs, and later what its journal has", async (t) => {
  const folder = packageWith(t, { "bank.js": PROGRAM });
  const running = new Running(["run", "bank.js", "--journal", "data"], folder);
  t.after(() => running.interrupt("SIGKILL"));
  const at = ["--journal", join(folder, "data")];
  const shown = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await headwater("state", ...args, ...at, "--json");
    return exitCode === 0 ? JSON.parse(stdout.split("\n")[0] ?? "") : stderr;
  };
  await running.hasWritten("opened");
  const account = 'Bank.accounts("ada")';
  const root = await shown();
  assert.deepEqual([root.address, root.className, root.state], ["Bank", "Bank", { name: "east" }]);
  assert.deepEqual(root.below, { accounts: { addresses: [account], hasMore: false } });
  assert.deepEqual((await shown(account)).state, { balance: 70 });
  const absent = await headwater("state", "Bank.vaults(1)", ...at);
  assert.deepEqual([absent.exitCode, /HW-2004/.test(absent.stderr)], [2, true]);
  const people = await headwater("state", account, ...at);
  assert.match(people.stdout, /^Bank\.accounts\("ada"\) {2}Account\n\{\n {2}"balance": 70\n\}/);

  running.interrupt("SIGKILL");
  await running.ended;
  const kept = await shown(account);
  assert.match(kept.key, /accounts\("ada"\)/);
  assert.match(JSON.stringify(kept.value), /70/);
  assert.equal((await headwater("state", 'Bank.accounts("ben")', ...at)).exitCode, 2);
});
