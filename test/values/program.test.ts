import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { hostsOf, type RunOptions, run, type Service } from "headwater";
import fc from "../properties.js";
import { assertArrived } from "./equal.js";
import Mirror from "./programs/mirror.js";
import { storable, texts } from "./storable.js";

/** Any storable value, through a whole program: fields, results, errors, messages, later events, restarts and moves. */

const module = new URL("./programs/mirror.ts", import.meta.url).href;
const VALUES = 100;

interface Sample {
  readonly key: string;
  readonly value: unknown;
}

function samples(seed: number): Sample[] {
  const [values, keys] = [
    fc.sample(storable, { numRuns: VALUES, seed }),
    fc.sample(texts, { numRuns: VALUES, seed }),
  ];
  return [null, undefined, [null], ...values].map((value, i) => ({ value, key: `${keys[i] ?? ""}${i}` }));
}

async function check({ root }: Service<Mirror>, { key, value }: Sample, where: string): Promise<void> {
  while (!(await root.leaves(key).isDone()));
  const { listed, mapped, ...plain } = await root.leaves(key).all();
  for (const [name, found] of Object.entries(plain)) assertArrived(found, value, `${where}, ${name}`);
  assertArrived(listed, [value, value], `${where}, a tracked list`);
  assertArrived(mapped, [["value", value]], `${where}, a tracked map`);
}

/** What comes back as the result of calls, and as what they throw. */
async function checkPassing({ root }: Service<Mirror>, { key, value }: Sample): Promise<void> {
  assertArrived(await root.leaves(key).echo(value), value, "a result");
  const { returned, thrown } = await root.echoBelow(key, value);
  assertArrived(returned, value, "a result of a call");
  assertArrived(thrown, value, "what a call has thrown");
  const error: unknown = await root
    .leaves(key)
    .fail(value)
    .then(
      () => assert.fail("nothing was thrown"),
      (caught: unknown) => caught,
    );
  assertArrived(error, value, "what an event has thrown");
}

/** Asked again under the same name, a request has the answer that was kept, whatever its arguments are by now. */
async function checkAnswers(
  service: Service<Mirror>,
  all: readonly Sample[],
  isAgain: boolean,
): Promise<void> {
  for (const [i, { key, value }] of all.entries()) {
    const given = isAgain ? "something else" : value;
    const answer = await service
      .as({ request: `echo ${key}` })
      .root.leaves(key)
      .echo(given);
    assertArrived(answer, value, `answer ${i}`);
    const failed = service
      .as({ request: `fail ${key}` })
      .root.leaves(key)
      .fail(given);
    const thrown: unknown = await failed.then(
      () => assert.fail("nothing was thrown"),
      (caught: unknown) => caught,
    );
    assertArrived(thrown, value, `failure ${i}`);
  }
}

async function goThrough(t: TestContext, seed: number, options: RunOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "headwater-values-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const durable: RunOptions = { journal: join(folder, "journal"), durability: "written" };
  const all = samples(seed);
  const messages = new Map<string, unknown>();
  {
    await using service = await run(Mirror, { ...durable, ...options });
    const client = service.client("\ud800 client", (message) => {
      const { key, value } = message as Sample;
      messages.set(key, value);
    });
    for (const [i, { key, value }] of all.entries()) {
      const kept = i % 2 === 0 ? client.root.leaves(key) : null;
      const result = await (kept?.keep(value, client.id) ?? client.root.keepBelow(key, value, client.id));
      assertArrived(result, value, "what was kept");
    }
    for (const sample of all) {
      await check(service, sample, "while it runs");
      await checkPassing(service, sample);
    }
    for (const { key, value } of all) assertArrived(messages.get(key), value, "a message to a client");
    await checkAnswers(service, all, false);
    if (options.hosts !== undefined) await moveAll(service, all);
  }
  for (const again of [options, {}]) {
    await using service = await run(Mirror, { ...durable, limits: { contexts: 5 }, ...again });
    for (const sample of all) await check(service, sample, "after a restart");
    await checkAnswers(service, all, true);
  }
}

async function moveAll(service: Service<Mirror>, all: readonly Sample[]): Promise<void> {
  const hosts = hostsOf(service);
  for (const to of [0, 1]) {
    for (const { key } of all) await hosts.move(service.root.leaves(key), to);
    for (const sample of all) await check(service, sample, "after a move");
  }
}

test("any value stays what it is in a program with a journal, and after restarts", (t) =>
  goThrough(t, 1, {}));

test("any value stays what it is on two hosts with a journal, through moves and restarts", (t) =>
  goThrough(t, 2, { hosts: 2, module }));

test("any value stays what it is on two hosts without a journal, through moves", async () => {
  await using service = await run(Mirror, { hosts: 2, module });
  const all = samples(3);
  for (const { key, value } of all) await service.root.keepBelow(key, value, "nobody");
  await moveAll(service, all);
});
