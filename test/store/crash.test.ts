import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { connect, type HeadwaterError, type ServiceClient } from "headwater/client";
import { Random } from "#src/random.js";
import { turns } from "../gates.js";
import { until } from "../waits.js";
import { type BankApi, type Notice, type Party, START, type Transfer } from "./programs/bank.js";
import { compiledPrograms, fixedPort, Standby } from "./standby.js";
import { temporaryDirectory } from "./support.js";

/** A bank is killed again and again while its clients go on; the books are compared with what the clients know. */

const BRANCHES = ["north", "south", "east"];
const NAMES = ["ada", "ben", "cleo"];
const PARTIES: readonly Party[] = BRANCHES.flatMap((branch) => NAMES.map((account) => ({ branch, account })));
const IN_FLIGHT = 6;
/** A slow machine is no fault of the service. */
const PATIENCE_MS = 90_000;

type Outcome = "open" | "done" | "refused";

/** Somebody who asks for transfers all the time, and keeps account of what was answered. */
class Customer {
  readonly outcomes = new Map<string, Outcome>();
  readonly transfers = new Map<string, Transfer>();
  answered = 0;
  #count = 0;

  constructor(
    readonly name: string,
    readonly random: Random,
    /** Asks for one; resolves to true if it was done, to false if the bank refused it. */
    readonly ask: (transfer: Transfer) => Promise<boolean>,
  ) {}

  async goOn(until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      const transfer = this.#next();
      this.transfers.set(transfer.id, transfer);
      this.outcomes.set(transfer.id, "open");
      this.outcomes.set(transfer.id, (await this.ask(transfer)) ? "done" : "refused");
      this.answered += 1;
      if (this.random.chance(0.3)) await turns(this.random.int(100)); // or all of them would always ask at once
    }
  }

  #next(): Transfer {
    const from = this.random.pick(PARTIES);
    const others = PARTIES.filter((each) => each !== from);
    const near = others.filter(({ branch }) => branch === from.branch);
    const to = this.random.pick(this.random.chance(0.5) ? near : others);
    const amount = this.random.chance(0.1) ? 10 * START * PARTIES.length : this.random.int(50);
    return { id: `${this.name}-${++this.#count}`, from, to, amount };
  }
}

interface Connected {
  readonly customer: Customer;
  readonly client: ServiceClient<BankApi>;
  readonly notices: Notice[];
  readonly missed: HeadwaterError[];
}

function overSocket(url: string, name: string, random: Random): Connected {
  const client = connect<BankApi>(url, { timeoutMs: PATIENCE_MS, backoffMs: 20, backoffMaxMs: 50 });
  const notices: Notice[] = [];
  const missed: HeadwaterError[] = [];
  client.onMessage<Notice>((notice) => notices.push(notice));
  client.onMissed((why) => missed.push(why));
  const ask = (transfer: Transfer) =>
    client.api.transfer(transfer).then(
      () => true,
      (error: unknown) => {
        assert.ok(error instanceof Error && error.name === "NotEnough", String(error));
        return false;
      },
    );
  return { customer: new Customer(name, random, ask), client, notices, missed };
}

/** Over HTTP, it is the caller who asks again. Some ask twice at once, or again though they have an answer. */
function overHttp(url: string, name: string, random: Random): Customer {
  const once = async (transfer: Transfer): Promise<number> => {
    let answer: number | null = null;
    await until(async () => {
      answer = await post(url, transfer).catch(() => null);
      return answer !== null && answer !== 503;
    }, `for an answer to ${transfer.id}`);
    return answer ?? 0;
  };
  return new Customer(name, random, async (transfer) => {
    const times = random.chance(0.3) ? 2 : 1;
    const answers = await Promise.all(Array.from({ length: times }, () => once(transfer)));
    if (random.chance(0.2)) answers.push(await once(transfer));
    const [status = 0] = answers;
    assert.ok(
      answers.every((answer) => answer === status && [200, 422].includes(answer)),
      String(answers),
    );
    return status === 200;
  });
}

async function post(url: string, transfer: Transfer): Promise<number> {
  const response = await fetch(`${url}/api/transfer`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": transfer.id },
    body: JSON.stringify([transfer]),
  });
  await response.arrayBuffer();
  return response.status;
}

async function survives(
  t: TestContext,
  seed: number,
  { signal, times, durability }: { signal: NodeJS.Signals; times: number; durability: "synced" | "written" },
): Promise<void> {
  const random = new Random(seed);
  const port = await fixedPort(new Random(Date.now()));
  const url = `http://127.0.0.1:${port}`;
  const bank = new Standby(t, join(await compiledPrograms(t), "bank.js"), [
    await temporaryDirectory(t),
    durability,
    String(port),
  ]);
  await bank.begin();
  await bank.serves();

  const connected = ["a", "b", "c"].map((name) => overSocket(url, name, random.fork()));
  t.after(() => {
    for (const { client } of connected) client.close();
  });
  const customers = [...connected.map(({ customer }) => customer), overHttp(url, "h", random.fork())];
  const closing = new AbortController();
  const work = Promise.all(
    customers.flatMap((customer) => Array.from({ length: IN_FLIGHT }, () => customer.goOn(closing.signal))),
  );
  work.catch(() => closing.abort());
  for (let kill = 0; kill < times && !closing.signal.aborted; kill++) {
    // Some while it is still reading its journal, most while transfers run.
    if (signal === "SIGTERM" || random.chance(0.8))
      await answers(customers, 20 + random.int(300), closing.signal);
    else await turns(random.int(2000));
    await bank.kill(signal);
  }
  await bank.serves();
  await answers(customers, 20, closing.signal);
  closing.abort();
  await work;
  await compare(customers, connected);
  assert.equal(bank.stderr, "");
  t.diagnostic(`${customers.map(({ answered }) => answered)} answers`);
}

/** Waits for this many more answers. */
async function answers(customers: readonly Customer[], count: number, isOver: AbortSignal): Promise<void> {
  const answered = () => customers.reduce((sum, each) => sum + each.answered, 0);
  const enough = answered() + count;
  await until(() => answered() >= enough || isOver.aborted);
}

/** Resolves with what `look` gives once it has as many items as there should be. */
async function whenAll<T>(look: () => Promise<readonly T[]>, count: number): Promise<readonly T[]> {
  let found: readonly T[] = [];
  await until(async () => {
    found = await look();
    return found.length >= count;
  }, `for ${count} of what ${look} gives`);
  return found;
}

async function compare(customers: readonly Customer[], connected: readonly Connected[]): Promise<void> {
  const [first] = connected;
  assert.ok(first);
  const { api } = first.client;
  const outcomes = new Map(customers.flatMap(({ outcomes }) => [...outcomes]));
  const done = [...outcomes].flatMap(([id, outcome]) => (outcome === "done" ? [id] : [])).sort();
  assert.ok(done.length > 100, `${done.length} transfers were done`);
  assert.ok([...outcomes.values()].includes("refused"));
  assert.ok(![...outcomes.values()].includes("open"));

  const transfers = customers.flatMap(({ transfers }) => [...transfers.values()]);
  for (const party of PARTIES) {
    const expected = transfers
      .filter(({ id }) => outcomes.get(id) === "done")
      .flatMap(({ id, from, to, amount }) => [
        ...(same(from, party) ? [`${id} ${-amount}`] : []),
        ...(same(to, party) ? [`${id} ${amount}`] : []),
      ]);
    const settled = await whenAll(async () => (await api.account(party)).settled, expected.length);
    const { balance, history } = await api.account(party);
    const noted = history.map(([id, amount]) => `${id} ${amount}`);
    assert.deepEqual(noted.toSorted(), expected.toSorted(), "each transfer that was done is there once");
    assert.equal(
      balance,
      history.reduce((sum, [, amount]) => sum + amount, START),
    );
    assert.deepEqual(settled.toSorted(), history.map(([id]) => id).sort(), "each timer went off once");
  }
  const sorted = async (look: () => Promise<readonly string[]>) =>
    [...(await whenAll(look, done.length))].sort();
  assert.deepEqual(await sorted(() => api.tally()), done, "each started event ran once");
  assert.deepEqual(
    await sorted(() => api.noted()),
    done,
    "each message to another logical node arrived once",
  );
  for (const each of connected) await compareNotices(each);
}

async function compareNotices({ customer, notices, missed }: Connected): Promise<void> {
  assert.deepEqual(missed, []);
  const done = [...customer.outcomes].flatMap(([id, outcome]) => (outcome === "done" ? [id] : [])).sort();
  await whenAll(async () => notices, 2 * done.length);
  const byDesk = notices.filter(({ by }) => by === "desk");
  assert.deepEqual(byDesk.map(({ id }) => id).sort(), done, "each notice came once");
  assert.deepEqual(
    byDesk.map(({ number }) => number),
    done.map((_, i) => i + 1),
    "and in order",
  );
  const others = notices.filter(({ by }) => by !== "desk");
  assert.deepEqual(others.map(({ id }) => id).sort(), done);
  for (const { branch, account } of PARTIES) {
    const numbers = others.filter(({ by }) => by === `${branch}/${account}`).map(({ number }) => number);
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
      "those about one account are in its order",
    );
  }
}

function same(a: Party, b: Party): boolean {
  return a.branch === b.branch && a.account === b.account;
}

test("a bank that is killed twenty times loses nothing and does nothing twice; its clients only wait", (t) =>
  survives(t, 1, { signal: "SIGKILL", times: 20, durability: "synced" }));

test("with written durability, too, a killed process loses nothing", (t) =>
  survives(t, 2, { signal: "SIGKILL", times: 4, durability: "written" }));

test("a bank that is asked to stop, and started again, is no more than slow either", (t) =>
  survives(t, 3, { signal: "SIGTERM", times: 4, durability: "synced" }));
