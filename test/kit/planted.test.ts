import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Context, type ContextClass, HeadwaterError, type Ref } from "headwater";
import { type KitOptions, simulate } from "headwater/test";
import FixedShop, { Order as FixedOrder } from "./programs/fixed-shop.js";
import Shop from "./programs/shop.js";
import Tickets, { Desk } from "./programs/tickets.js";
import Weather from "./programs/weather.js";

/** A payment service that takes each key once. */
function payments() {
  const charges: string[] = [];
  const fetch = (request: Request) => {
    const key = request.headers.get("idempotency-key") ?? `charge ${charges.length}`;
    if (!charges.includes(key)) charges.push(key);
    return new Response("charged");
  };
  return { charges, fetch };
}

async function failureOf(simulation: Promise<unknown>): Promise<HeadwaterError> {
  const error = await simulation.then(
    () => assert.fail("the planted bug was not found"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof HeadwaterError, String(error));
  assert.equal(error.code, "HW-8001");
  return error;
}

function replayOf({ message }: Error): string {
  const [, line] = /HEADWATER_REPLAY=(\S+)$/.exec(message) ?? [];
  assert.ok(line !== undefined, message);
  return line;
}

type OptionsOf<C extends ContextClass<Context>> = KitOptions<Ref<InstanceType<C>>>;

const tickets: OptionsOf<typeof Tickets> = {
  runs: 20,
  act: ({ root, random }) => root.desks(random.pick(["a", "b", "c"])).issue(),
  invariant: ({ all }) => {
    const issued = all(Desk).flatMap((desk) => [...desk.issued]);
    assert.equal(new Set(issued).size, issued.length, "a number was issued twice");
  },
};

describe("headwater/test finds", () => {
  test("an outside call that does not hand its key on", async () => {
    const { cause } = await failureOf(
      simulate(Shop, {
        runs: 20,
        world: payments,
        act: ({ root, index }) => root.orders(`${index}`).place(500),
      }),
    );
    assert.equal((cause as HeadwaterError).code, "HW-8003");
    assert.match((cause as Error).message, /kit-shop\.charge/);

    const done = await simulate(FixedShop, {
      runs: 10,
      acts: 10,
      world: payments,
      act: ({ root, index }) => root.orders(`${index}`).place(500),
      atRest: ({ all }, { charges }) => {
        assert.equal(all(FixedOrder).length, 10);
        assert.ok(all(FixedOrder).every(({ state }) => state === "paid"));
        assert.equal(charges.length, 10);
      },
    });
    assert.equal(done.runs, 10);
    assert.ok(done.crashes > 0 && done.events > 100);
  });

  test("a module-level variable, which each host has for itself", async () => {
    const error = await failureOf(simulate(Tickets, tickets));
    assert.match(error.message, /a schedule of 2 acts breaks the program: a number was issued twice/);
  });

  test("a fetch inside a method, and shows where it is", async () => {
    const error = await failureOf(simulate(Weather, { act: ({ root }) => root.stations("delta").refresh() }));
    assert.equal((error.cause as HeadwaterError).code, "HW-8002");
    assert.match((error.cause as Error).stack ?? "", /weather\.ts:8/);
    assert.match(error.message, /a schedule of 1 act /);
  });
});

describe("a replay line", () => {
  test("runs the one schedule again that failed, in the same way", async () => {
    const first = await failureOf(simulate(Tickets, tickets));
    const replay = replayOf(first);
    assert.match(replay, /^Tickets:\d+\.\d+\.\S+\.[\d,-]+$/);
    const again = await failureOf(simulate(Tickets, { ...tickets, replay }));
    assert.equal(again.message, first.message);
  });

  test("of another program is not this program's, and nonsense is refused", async () => {
    const act = () => {};
    const { runs } = await simulate(Tickets, { act, runs: 2, acts: 1, replay: "Shop:1.1.ch.0-3" });
    assert.equal(runs, 2);
    await assert.rejects(simulate(Tickets, { act, replay: "Tickets/1" }), { code: "HW-8004" });
  });
});
