import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { run, type ServeOptions, serve } from "headwater";
import { connect, type ServiceClient, type Watch } from "headwater/client";
import { pack } from "#src/protocol/frames.js";
import { Random } from "#src/random.js";
import { until } from "../waits.js";
import Boards, { api, evaluated } from "./programs/boards.js";
import { RawSocket } from "./raw.js";

type Client = ServiceClient<typeof api>;

async function started(t: TestContext, options: Parameters<typeof run>[1] = {}, serving: ServeOptions = {}) {
  const service = await run(Boards, options);
  const server = await serve(service, api, serving);
  const clients: Client[] = [];
  t.after(async () => {
    for (const client of clients) client.close();
    await server.close();
    await service.stop();
  });
  const client = () => {
    const made = connect<typeof api>(server.url, { backoffMs: 1 });
    clients.push(made);
    return made;
  };
  return { service, server, client };
}

function valuesOf<T>(watch: Watch<T>): T[] {
  const values: T[] = [];
  watch.onChange((state) => {
    if (state.status === "ready" && state.value !== values.at(-1)) values.push(state.value);
  });
  return values;
}

test("a watched result comes at once and after each commit that changed it, and other commits cost nothing", async (t) => {
  const { client } = await started(t);
  const { api, watch } = client();
  const size = watch(api.size, 1, "a");
  const values = valuesOf(size);
  assert.equal(size.state.status, "loading");
  await until(() => values.length === 1);
  evaluated.length = 0;
  for (let i = 0; i < 20; i++) await api.grow(1, "b", 1); // of the same board
  await api.nothing(1, "a");
  await api.grow(1, "a", 95).catch(() => {}); // fails, so it changes nothing
  assert.deepEqual(evaluated, []);
  await api.grow(1, "a", 5);
  await until(() => values.length === 2);
  assert.deepEqual([values, evaluated], [[0, 5], ["a"]]);
  size.stop();
  await until(async () => {
    evaluated.length = 0;
    await api.grow(1, "a", 5);
    await api.size(1, "b");
    return evaluated.join() === "b";
  });
});

test("a result follows which contexts there are, what a context above has, and what it fails with", async (t) => {
  const { client } = await started(t);
  const { api, watch } = client();
  const [names, scaled, needs] = [watch(api.names, 1), watch(api.scaled, 1, "a"), watch(api.needs, 1, "a")];
  await until(() => [names, scaled, needs].every(({ state }) => state.isLive));
  assert.deepEqual([needs.state.error?.message, Object(needs.state.error).size], ["a is too small", 0]);
  await api.grow(1, "a", 30);
  await until(() => needs.state.value === 30 && scaled.state.value === 30 && names.state.value?.length === 1);
  await api.rescale();
  await until(() => scaled.state.value === 60);
  await api.drop(1, "a");
  await until(() => names.state.value?.length === 0 && scaled.state.value === 0);
  await until(() => needs.state.status === "failed" && needs.state.value === 30);
});

for (const hosts of [1, 2])
  test(`whatever happens, watched results end equal to fresh ones and never go back, with ${hosts} hosts`, async (t) => {
    const random = new Random(7 + hosts);
    const module = new URL("./programs/boards.ts", import.meta.url).href;
    const { service, client } = await started(t, { hosts, module });
    const { api, watch } = client();
    const board = () => 1 + random.int(3);
    const card = () => random.pick(["a", "b", "c", "d"]);
    const watched: { readonly watch: Watch<unknown>; readonly fresh: () => Promise<unknown> }[] = [];
    const add = <P extends unknown[]>(call: (...args: P) => Promise<unknown>, ...args: P) =>
      watched.push({ watch: watch(call, ...args), fresh: () => call(...args) });
    const asked: Promise<unknown>[] = [];
    const ask = (request: Promise<unknown>) => asked.push(request.catch(() => {}));
    for (let i = 0; i < 200; i++) {
      const choice = random.int(100) / 100;
      if (choice < 0.5) ask(api.grow(board(), card(), random.int(100)));
      else if (choice < 0.6) ask(api.both(board(), board(), card()));
      else if (choice < 0.7) ask(api.drop(board(), card()));
      else if (choice < 0.72) ask(api.rescale());
      else if (choice < 0.74) add(api.everything);
      else if (choice < 0.76) add(api.total, board());
      else if (choice < 0.78) add(api.names, board());
      else if (choice < 0.8) add(api.scaled, board(), card());
      else if (choice < 0.82) add(api.needs, board(), card());
      else if (choice < 0.84) add(api.size, board(), card());
      else if (choice < 0.86 && watched.length > 0) watched.splice(0, 1)[0]?.watch.stop();
      else if (choice < 0.9) await asked.at(-1);
    }
    await Promise.all(asked);
    await service.idle();
    assert.ok(watched.length > 10);
    for (const { watch, fresh } of watched) {
      const expected = await fresh().catch((error: Error) => error.message);
      const now = () => watch.state.error?.message ?? watch.state.value;
      await until(
        () => JSON.stringify(now()) === JSON.stringify(expected),
        `for ${JSON.stringify(expected)}`,
      );
    }
  });

test("values only grow where the state does, and the newest comes to one who reads slowly", async (t) => {
  const { client } = await started(t);
  const { api, watch } = client();
  const values: number[] = [];
  const growing = Promise.all(Array.from({ length: 500 }, (_, i) => api.grow(i % 3, "a", 1)));
  for await (const value of watch(api.total, 1)) {
    values.push(value);
    if (value === 167) break; // i % 3 === 1 for 167 of 500
  }
  await growing;
  assert.deepEqual(
    values,
    [...values].sort((a, b) => a - b),
  );
  assert.ok(values.length <= 168);
});

test("a client that takes no value gets no second one, whatever happens meanwhile", async (t) => {
  const { server, client } = await started(t);
  const { api } = client();
  const raw = new RawSocket(t, server.url);
  await raw.hello();
  const args = pack([1, "a"]);
  raw.say([0, "watch", 1, "size", args, ""]);
  const values = () => raw.heard.filter(([, what]) => what === "value");
  await until(() => values().length === 1);
  for (let i = 0; i < 50; i++) await api.grow(1, "a", 1);
  raw.ask(7, "size", 1, "a");
  await raw.reply(7);
  assert.equal(values().length, 1);
  raw.say([0, "got", 1]);
  await until(() => values().length === 2);
  assert.deepEqual(values()[1]?.slice(4), [true, 50]);
});

test("what is not read-only, does not exist or is too much is refused, and the connection goes on", async (t) => {
  const { client } = await started(t, {}, { limits: { watches: 2 } });
  const one = client();
  const codes = async (watch: Watch<unknown>) => {
    await until(() => watch.state.status === "failed");
    return (watch.state.error as { code?: string }).code;
  };
  assert.equal(await codes(one.watch(one.api.rescale)), "HW-4025");
  const { absent } = one.api as unknown as { absent: () => Promise<unknown> };
  assert.equal(await codes(one.watch(absent)), "HW-4004");
  assert.equal(await codes(one.watch(one.api.everything)), "HW-4013"); // two are open
  assert.throws(() => one.watch(async () => 5), { code: "HW-4026" });
  assert.equal(await one.api.total(1), 0);
  one.close();
  assert.equal(await codes(one.watch(one.api.total, 2)), "HW-4018");
});
