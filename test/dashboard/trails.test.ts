import assert from "node:assert/strict";
import { test } from "node:test";
import { type Fact, MemoryJournal, run } from "headwater";
import fc from "../properties.js";
import { until } from "../waits.js";
import Walks, { gates, type Walk } from "./programs/walks.js";

type Trail = Extract<Fact, { kind: "trail" }>;
type EventFact = Extract<Fact, { kind: "event" }>;

const module = new URL("./programs/walks.ts", import.meta.url).href;

/** What an event is to do: contexts that it enters, in that order, and what it asks for in each. */
const step = fc.record({
  place: fc.nat(4),
  asks: fc.array(fc.constantFrom("start", "timer", "tell", "outside"), { maxLength: 2 }),
});
const plan = fc.record({ steps: fc.array(step, { maxLength: 6 }), fails: fc.boolean() });

/** What the way of such an event must be, from the plan alone. */
function expected({ steps, fails }: Walk) {
  const contexts = ["Walks", ...steps.map(({ place }) => `Walks.places(${place})`)];
  const asked = steps.flatMap(({ place, asks }) => asks.map((what) => [what, toOf(what, place)]));
  return {
    contexts: [...new Set(contexts)],
    effects: fails ? [] : asked,
    thrown: fails ? "the walk has failed" : null,
  };
}

function toOf(what: string, place: number): string {
  return what === "tell" ? "ada" : what === "outside" ? "walks.far" : `Walks.places(${place})`;
}

for (const [name, options] of Object.entries({
  "in one thread": {},
  "on two hosts": { hosts: 2, module, journal: new MemoryJournal() },
}))
  test(`the way of an event ${name} is what its code did: contexts, what it asked for, what it failed with`, async () => {
    await using service = await run(Walks, { onError: () => {}, onWarning: () => {}, ...options });
    const trails = new Map<number, Trail>();
    const events = new Map<number, EventFact>();
    using _ = service.observe(["trail", "event"], (fact) => {
      if (fact.kind === "trail") trails.set(fact.ticket, fact);
      else if (fact.kind === "event") events.set(fact.ticket, fact);
    });
    await fc.assert(
      fc.asyncProperty(plan, async (walk) => {
        const before = new Set(events.keys());
        await service.root.walk(walk).catch(() => {});
        const own = () =>
          [...events.values()].find(({ ticket, method }) => method === "walk" && !before.has(ticket));
        await until(() => trails.has(own()?.ticket ?? -1));
        const trail = trails.get(own()?.ticket ?? -1);
        const found = {
          contexts: trail?.contexts.map(({ context }) => context),
          effects: trail?.effects.map(({ what, to }) => [what, to]),
          thrown: trail?.thrown?.message ?? null,
        };
        assert.deepEqual(found, expected(walk));
        if (walk.fails) assert.match(trail?.thrown?.stack ?? "", /walks\.ts:\d+:\d+/);
        for (const { afterMs } of trail?.contexts ?? []) assert.ok(afterMs <= (own()?.totalMs ?? 0) + 1);
      }),
      { numRuns: 25 },
    );
  });

test("an event's way says for which event it waited, at which context and for how long", async () => {
  await using service = await run(Walks);
  const trails: Trail[] = [];
  using _ = service.observe(["trail"], (fact) => {
    if (fact.kind === "trail") trails.push(fact);
  });
  const first = service.root.places(1).hold();
  const second = service.root.places(1).note();
  await gates.reached("held");
  gates.open("held");
  await Promise.all([first, second]);
  await until(() => trails.length === 2);
  const [holder, waiter] = trails;
  assert.deepEqual(holder?.waits, []);
  const [wait] = waiter?.waits ?? [];
  assert.deepEqual(
    [wait?.context, wait?.for, wait?.forContext],
    ["Walks.places(1)", holder?.ticket, "Walks.places(1)"],
  );
  assert.ok((wait?.ms ?? -1) >= 0 && (wait?.ms ?? 0) <= (waiter?.contexts[0]?.afterMs ?? 0) + 1);
});

test("ways are noted for observers that ask for them, and for no other", async () => {
  await using service = await run(Walks);
  const kinds: string[] = [];
  using _ = service.observe(["event"], ({ kind }) => {
    kinds.push(kind);
  });
  await service.root.walk({ steps: [{ place: 1, asks: [] }], fails: false });
  await until(() => kinds.length === 1);
  assert.deepEqual(kinds, ["event"]);
});
