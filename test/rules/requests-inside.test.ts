import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, type Ref, readonly, run } from "headwater";
import { refused } from "../refused.js";

/** HW-1023: inside an event, contexts are called through `this`; a request is an event of its own. */

let outside: Ref<Bank> | undefined;
function service(): Ref<Bank> {
  assert.ok(outside !== undefined);
  return outside;
}

class Account extends Context<string> {
  cents = 0;
  put(cents: number) {
    this.cents += cents;
    return this.cents;
  }
  async askForItself() {
    this.cents += 1;
    return await service().accounts(this.key).look();
  }
  @readonly look() {
    return this.cents;
  }
}
class Bank extends Context {
  transfers = 0;
  accounts = this.children(Account);
  async askFor(account: string) {
    this.transfers += 1;
    return await service().accounts(account).put(1);
  }
  forget(account: string) {
    void service().accounts(account).put(1);
  }
  async askBelow(account: string) {
    return this.accounts(account).askForItself();
  }
  async keepTheRules(account: string) {
    return this.accounts(account).put(1);
  }
  @readonly look() {
    return this.transfers;
  }
}

test("HW-1023: a request that a method makes is refused, and names the method and what it asked for", async () => {
  await using running = await run(Bank);
  const { root } = running;
  const client = running.client("ada", () => {});
  for (outside of [root, client.root, running.as({ client: "ada", request: "once" }).root]) {
    await refused(
      root.askFor("ada"),
      "HW-1023",
      "Bank.askFor",
      'Bank.accounts("ada").put(…)',
      "this.event.start",
    );
    await refused(root.forget("ada"), "HW-1023", "Bank.forget");
    await refused(root.askBelow("ada"), "HW-1023", 'Bank.accounts("ada").askForItself');
  }
  assert.equal(await root.look(), 0);
  assert.equal(await root.accounts("ada").look(), 0);
});

test("HW-1023: the service goes on taking requests from outside", async () => {
  await using running = await run(Bank);
  const { root } = running;
  outside = root;
  const refusal = refused(root.askFor("ada"), "HW-1023");
  assert.equal(await root.keepTheRules("ada"), 1);
  assert.equal(await root.accounts("ada").put(1), 2);
  await refusal;
});
