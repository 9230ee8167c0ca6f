import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { simulate } from "headwater/test";
import AuctionHouse, { Auction, Bidder } from "../../examples/auction.js";
import Bank, { Account } from "../../examples/bank.js";
import Game, { Building, Hallway, Kid, Room } from "../../examples/game.js";
import Store, { bucketOf } from "../../examples/kv.js";
import life, { type Page } from "../../examples/life.js";
import World, { Cell } from "../../examples/moving-entities.js";
import { sleep } from "./programs/counters.js";

/** Programs that are right raise no alarm, whatever fails. */
describe("headwater/test finds nothing in", () => {
  test("the key-value store", async () => {
    await simulate(Store, {
      runs: 8,
      act: async ({ root, random, index }) => {
        const key = random.pick(["rhine", "elbe", "como"]);
        const bucket = root.buckets(bucketOf(key));
        if (random.chance(0.3)) await bucket.delete(key);
        else await bucket.put(key, `value ${index}`);
      },
      model: () => {
        const entries = new Map<unknown, unknown>();
        return ({ method, args: [key, value] }) =>
          method === "put" ? void entries.set(key, value) : entries.delete(key);
      },
    });
  });

  test("the bank", async () => {
    const parties = ["ada", "ben", "cleo"].map((account) => ({
      branch: account === "cleo" ? "south" : "north",
      account,
    }));
    await simulate(Bank, {
      runs: 8,
      start: async ({ root }) => {
        for (const party of parties) await root.open(party, 100);
      },
      act: ({ root, random }) => root.transfer(random.pick(parties), random.pick(parties), random.int(120)),
      allow: ({ message }) => message.includes("has only"),
      invariant: ({ all }) => {
        const accounts = all(Account).filter(({ isOpen }) => isOpen);
        assert.equal(
          accounts.reduce((sum, { balance }) => sum + balance, 0),
          100 * accounts.length,
        );
      },
    });
  });

  test("the game", async () => {
    const kids = ["ada", "ben", "cleo", "dan"];
    await simulate(Game, {
      runs: 8,
      start: ({ root }) => Promise.all(kids.map((kid, index) => root.join(kid, index % 3))),
      act: async ({ root, random }) => {
        const [kid, building] = [random.pick(kids), random.int(3)];
        if (random.chance(0.4)) await root.travel(kid, building);
        else if (random.chance(0.5)) await root.buildings(building).enterRoom(kid, random.int(4));
        else await root.buildings(building).leaveRoom(kid, random.int(4));
      },
      allow: ({ message }) => /is not in a hallway|is full/.test(message),
      invariant: ({ all }) => {
        assert.equal(all(Building).length, 0); // its places have the state
        const there = [...all(Hallway), ...all(Room)].flatMap((place) => [...place.kids]);
        assert.equal(new Set(there).size, there.length, "a kid is in two places");
        assert.ok(all(Kid).length <= kids.length);
      },
    });
  });

  test("the entities", async () => {
    await simulate(World, {
      runs: 6,
      acts: 6,
      act: ({ root, index }) =>
        root.add({ id: `e${index}`, x: index, y: index, dx: 1, dy: 1, tickMs: 100, ticksMax: 8 }),
      invariant: ({ all }) => {
        const there = all(Cell).flatMap(({ entities }) => [...entities.keys()]);
        assert.equal(new Set(there).size, there.length, "an entity is in two cells");
      },
      atRest: ({ all }) => {
        const entities = all(Cell).flatMap((cell) => [...cell.entities.values()]);
        assert.deepEqual(
          entities.map(({ ticks }) => ticks),
          [8, 8, 8, 8, 8, 8],
        );
      },
    });
  });

  test("the game of life, two logical nodes", async () => {
    const blinker = [".....", "..#..", "..#..", "..#..", "....."];
    await simulate(life, {
      runs: 3,
      acts: 1,
      callers: 1,
      act: async ({ root, messages }) => {
        await root.printer.watch();
        await root.compute.begin(blinker, 2);
        while (messages.length < 3) await sleep(1000);
        const pages = (messages as Page[]).toSorted((a, b) => a.generation - b.generation);
        assert.deepEqual(pages[2]?.rows, blinker);
        assert.deepEqual(pages[1]?.rows, [".....", ".....", ".###.", ".....", "....."]);
      },
    });
  });

  test("the auction house, whose queries are part of its events", async () => {
    await simulate(AuctionHouse, {
      runs: 4,
      acts: 12,
      world: () => {
        const mails = new Map<string, string>();
        const mail = ({ to, text }: { to: string; text: string }, { key }: { key: string }) =>
          void mails.set(key, `${to}: ${text}`);
        return { mails, outside: { "auction.mail": mail } };
      },
      start: ({ root }) => root.open("vase", "sam", 120_000),
      act: ({ root, random }) => root.bid("vase", random.pick(["ada", "ben"]), 1 + random.int(1000)),
      allow: ({ name }) => name === "Refused",
      lastsMs: 200_000,
      atRest: ({ all }, { mails }) => {
        const [auction] = all(Auction);
        assert.equal(auction?.state, "closed");
        const won = `${auction.best?.bidder}: vase is yours for ${auction.best?.price}`;
        assert.equal([...mails.values()].filter((mail) => mail === won).length, 1);
        assert.ok(all(Bidder).every(({ key }) => ["ada", "ben"].includes(key)));
      },
    });
  });
});
