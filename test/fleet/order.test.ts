import assert from "node:assert/strict";
import { test } from "node:test";
import { hostsOf, type ProgramHosts, run, type Service } from "headwater";
import Order from "./programs/order.js";

const module = new URL("./programs/order.ts", import.meta.url).href;

/** What each of these gives must be what the program says, wherever its contexts are and however long anything takes. */
async function outcomes({ root }: Service<Order>): Promise<unknown[]> {
  const told = (error: Error) => error.message.split(". ")[0];
  const asked: Promise<unknown>[] = [
    root.pushAll(["slow a", "b", "c", "slow d"]),
    root.firstError(["slow a", "b"]),
    root.race(["slow a", "b"]),
    root.any("slow a", ["slow b", "c"]),
    root.besideTurns("a"),
    root.besideTurns("slow a"),
    root.lookedAt("e"),
    root.lookedAtTwice("e"),
    root.lookedAtFromBelow("f"),
    root.lookBelow("g"),
    root.giveUpBefore("h"),
    root.giveUpAfter("h"),
    root.giveUpBelow("i", false),
    root.giveUpBelow("j", true),
  ];
  return Promise.all(asked.map((each) => each.catch(told)));
}

const EXPECTED = [
  ["slow a", "b", "c", "slow d"],
  "slow a has failed",
  "slow a",
  "slow b",
  ["turns", "a"],
  ["turns", "slow a"],
  [1, 2],
  [1, 1],
  [1, 1],
  [2, 1],
  'HW-1004: Order.kids("h") was downgraded while the event still holds Order above it',
  2,
  'HW-1004: Order.kids("i").below was downgraded while the event still holds Order.kids("i") above it',
  3,
];

/** Where the kids and those below them are, if the root is on host 0. */
async function place(hosts: ProgramHosts, [kids, below]: readonly [number, number]): Promise<void> {
  await hosts.pin("Order", 0);
  await hosts.pin("Order.kids(*)", kids);
  await hosts.pin("Order.kids(*).below", below);
}

test("line 1: what an event does does not depend on time, on one host", async () => {
  const service = await run(Order);
  assert.deepEqual(await outcomes(service), EXPECTED);
  await service.stop();
});

for (const hostsAs of ["threads", "processes"] as const) {
  test(`line 1: nor does it depend on where contexts are, on ${hostsAs}`, async () => {
    for (const places of [
      [0, 1],
      [1, 0],
      [1, 1],
    ] as const) {
      const service = await run(Order, { hosts: 2, hostsAs, module });
      try {
        await place(hostsOf(service), places);
        assert.deepEqual(
          await outcomes(service),
          EXPECTED,
          `the kids are on ${places[0]}, below is on ${places[1]}`,
        );
      } finally {
        await service.stop();
      }
    }
  });
}
