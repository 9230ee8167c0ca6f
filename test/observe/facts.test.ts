import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AnonymousContext,
  Context,
  expose,
  type Fact,
  hostsOf,
  KINDS,
  type Kind,
  MemoryJournal,
  run,
  serve,
} from "headwater";
import { Gates } from "../gates.js";
import { refused } from "../refused.js";
import { until } from "../waits.js";
import House from "./programs/house.js";

/** What observers of a running program are told, kind by kind. */

const gates = new Gates();

class Account extends Context<string> {
  balance = 0;

  deposit(amount: number) {
    if (amount < 0) throw new RangeError("deposits are positive");
    this.balance += amount;
    return this.balance;
  }

  async depositBehind(gate: string) {
    await gates.pass(gate);
    return this.deposit(1);
  }
}

class Bank extends Context {
  accounts = this.children(Account);

  depositLater(account: string, amount: number) {
    this.event.start(this.accounts(account)).deposit(amount);
  }

  async hold(gate: string) {
    await gates.pass(gate);
    await this.accounts("ada").deposit(1);
  }
}

type Of<K extends Kind> = Extract<Fact, { kind: K }>;

/** The facts of one kind that a service has told so far. */
function told<K extends Kind>(service: Awaited<ReturnType<typeof bank>>, kind: K): Of<K>[] {
  const facts: Of<K>[] = [];
  service.observe([kind], (fact) => {
    if (fact.kind === kind) facts.push(fact as Of<K>);
  });
  return facts;
}

const bank = (options = {}) => run(Bank, { onError: () => {}, ...options });

test("a settled event says who asked for what, how it ended, and how long it took for what", async () => {
  await using service = await bank();
  const facts = told(service, "event");
  const asked = Date.now();
  await service.as({ client: "cleo" }).root.accounts("ada").deposit(5);
  await service.root.depositLater("ben", 2);
  await assert.rejects(service.root.accounts("ada").deposit(-1), RangeError);
  await until(() => facts.length === 4);
  assert.deepEqual(
    facts.map(({ ticket, context, method, startedBy, parent, caller, ok, error, attempts, host }) => ({
      ticket,
      what: `${context}.${method}`,
      startedBy,
      parent,
      caller,
      outcome: ok ? "ok" : error,
      attempts,
      host,
    })),
    [
      {
        what: 'Bank.accounts("ada").deposit',
        startedBy: "request",
        parent: null,
        caller: "cleo",
        outcome: "ok",
      },
      { what: "Bank.depositLater", startedBy: "request", parent: null, caller: null, outcome: "ok" },
      { what: 'Bank.accounts("ben").deposit', startedBy: "start", parent: 2, caller: null, outcome: "ok" },
      {
        what: 'Bank.accounts("ada").deposit',
        startedBy: "request",
        parent: null,
        caller: null,
        outcome: "RangeError",
      },
    ].map((fact, i) => ({ ticket: i + 1, ...fact, attempts: 1, host: null })),
  );
  for (const { atMs, waitedMs, ranMs, journaledMs, totalMs } of facts) {
    assert.ok(atMs >= asked);
    for (const ms of [waitedMs, ranMs, journaledMs, totalMs]) assert.ok(ms >= 0, String(ms));
  }
});

test("an event that waits says for whom, and so does a call below", async () => {
  await using service = await bank();
  const facts = told(service, "wait");
  const below = service.root.accounts("ada").depositBehind("below");
  await gates.reached("below");
  const above = service.root.hold("above");
  const later = service.root.accounts("ben").deposit(1);
  await gates.reached("above");
  gates.open("above");
  await until(() => facts.length === 2);
  gates.open("below");
  await Promise.all([below, above, later]);
  assert.deepEqual(
    facts.map(
      ({ ticket, context, for: other, forContext }) =>
        `${ticket} in ${context} for ${other} in ${forContext}`,
    ),
    ['3 in Bank.accounts("ben") for 2 in Bank', '2 in Bank.accounts("ada") for 1 in Bank.accounts("ada")'],
  );
});

test("groups of the journal are counted and timed, and its end is told", async () => {
  const journal = new MemoryJournal();
  await using service = await bank({ journal, onFailure: () => {} });
  const facts = told(service, "journal");
  await Promise.all(Array.from({ length: 20 }, (_, i) => service.root.accounts(`a${i}`).deposit(1)));
  await until(() => facts.reduce((sum, { events }) => sum + events, 0) === 20);
  for (const { node, ms } of facts) assert.deepEqual([node, ms >= 0], ["Bank", true]);
  const halted = told(service, "halted");
  await journal.close();
  await assert.rejects(service.root.accounts("ada").deposit(1));
  await until(() => halted.length === 1);
  assert.equal(halted[0]?.error.code, "HW-3007");
});

test("failures of the application are told to observers and to onError alike", async () => {
  const heard: string[] = [];
  await using service = await bank({
    onError: ({ context, error }: { context: string; error: unknown }) => heard.push(`${context}: ${error}`),
  });
  const facts = told(service, "failure");
  await service.root.depositLater("ada", -1);
  await until(() => facts.length === 1);
  assert.deepEqual(
    facts.map(({ context, error }) => `${context}: ${error}`),
    heard,
  );
  assert.equal(facts[0]?.startedBy, "start");
});

test("requests that are refused are told, by the program and by its server", async (t) => {
  const service = await bank({ limits: { inFlight: 1 } });
  const api = expose(Bank, { later: (root, account: string) => root.depositLater(account, 1) });
  const lines: string[] = [];
  const server = await serve(service, api, { log: (line) => lines.push(line) });
  t.after(async () => {
    await server.close();
    await service.stop();
  });
  const facts = told(service, "refused");
  const first = service.root.accounts("ada").depositBehind("full");
  await gates.reached("full");
  await refused(service.root.accounts("ben").deposit(1), "HW-1301");
  gates.open("full");
  await first;
  await fetch(`${server.url}/api/nothing`, {
    method: "POST",
    body: "[]",
    headers: { "content-type": "application/json" },
  });
  await until(() => facts.length === 2);
  assert.deepEqual(
    facts.map(({ what, code, target, from }) => [what, code, target, from === null]),
    [
      ["request", "HW-1301", 'Bank.accounts("ben").deposit', true],
      ["request", "HW-4004", 'POST "/api/nothing"', false],
    ],
  );
  assert.equal(lines.length, 1);
});

const module = new URL("./programs/house.ts", import.meta.url).href;

test("hosts that join, drain, go and are lost are told, and every step of a migration", async (t) => {
  const service = await run(House, { hosts: 2, module, journal: new MemoryJournal(), onWarning: () => {} });
  t.after(() => service.stop({ graceMs: 0 }));
  const hosts: string[] = [];
  const migrations: string[] = [];
  service.observe(["host"], (fact) => {
    if (fact.kind === "host") hosts.push(`${fact.host} ${fact.what}`);
  });
  service.observe(["migration"], (fact) => {
    if (fact.kind === "migration" && fact.context === "House.rooms(1)")
      migrations.push(`${fact.from} to ${fact.to}: ${fact.step}`);
  });
  const events: (number | null)[] = [];
  service.observe(["event"], (fact) => {
    if (fact.kind === "event") events.push(fact.host);
  });
  await service.root.rooms(1).enter();
  const of = hostsOf(service);
  const from = of.where("House.rooms(1)");
  await of.move("House.rooms(1)", 1 - from);
  await service.root.rooms(1).enter();
  await until(() => events.length === 2);
  assert.deepEqual(events, [from, 1 - from]);
  await until(() => migrations.length === 4);
  assert.deepEqual(
    migrations,
    ["copying", "waiting", "locked", "moved"].map((step) => `${from} to ${1 - from}: ${step}`),
  );
  await of.add();
  await of.remove(0);
  await until(() => hosts.includes("0 removed"));
  assert.deepEqual(hosts, ["2 joined", "0 draining", "0 removed"]);
  const crashed = service.root.rooms(7).crash();
  await assert.rejects(crashed, { code: "HW-6003" });
  assert.ok(hosts.some((each) => / lost$/.test(each)));
  await until(
    () =>
      hosts.filter((each) => / lost$/.test(each)).length ===
      hosts.filter((each) => / joined$/.test(each)).length - 1,
  );
});

test("what a policy decides is told, and what events cost on hosts", async (t) => {
  const decided: string[] = [];
  const hosts = {
    max: 2,
    policy: () => [{ kind: "note", reason: "all is well" }] as const,
    onDecision: ({ text }: { text: string }) => decided.push(text),
  };
  const service = await run(House, { hosts, module });
  t.after(() => service.stop({ graceMs: 0 }));
  const decisions: string[] = [];
  const loads: string[] = [];
  service.observe(["decision", "load"], (fact) => {
    if (fact.kind === "decision") decisions.push(fact.text);
    if (fact.kind === "load") loads.push(fact.load.context.join("."));
  });
  await service.root.rooms(1).enter();
  await until(() => decisions.length > 0 && loads.length > 0);
  assert.deepEqual(loads[0], "House.rooms(1)");
  assert.equal(decisions[0], decided.at(-decisions.length));
});

test("a head that was busy while its hosts reported several times still knows what each event cost", async (t) => {
  const service = await run(House, { hosts: 2, module });
  t.after(() => service.stop({ graceMs: 0 }));
  const loads: string[] = [];
  service.observe(["load"], (fact) => {
    if (fact.kind === "load") loads.push(fact.load.context.join("."));
  });
  await service.root.rooms(1).enter();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500); // hosts report once a second
  await until(() => loads.length > 0);
  assert.deepEqual(loads, ["House.rooms(1)"]);
});

test("without observers, nothing is made for them; every kind can be observed", async () => {
  class Echo extends AnonymousContext {
    say(what: string) {
      return what;
    }
  }
  await using service = await run(Echo);
  assert.equal(await service.root.say("before"), "before");
  const seen = new Set<string>();
  const observation = service.observe(KINDS, ({ kind }) => void seen.add(kind));
  assert.equal(await service.root.say("observed"), "observed");
  await until(() => seen.has("event"));
  observation.stop();
  seen.clear();
  assert.equal(await service.root.say("after"), "after");
  assert.equal(seen.size, 0);
});
