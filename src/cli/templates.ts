import type { Part } from "../packages.js";

/** What `headwater init` writes besides a program of `examples`: a test of it in the simulator. */
export interface Template {
  /** The file in `examples`. */
  readonly example: string;
  readonly summary: string;
  /** The part of Headwater whose packages it needs besides. */
  readonly needs?: Part;
  readonly test: string;
}

const HEAD = `import assert from "node:assert/strict";
import { test } from "node:test";
import { simulate } from "headwater/test";
`;

export const TEMPLATES: Readonly<Record<string, Template>> = {
  chat: {
    example: "chat.ts",
    summary: "rooms, presence, messages to clients",
    test: `${HEAD}import Chat, { Room } from "./program.js";

test("a caller is in one room at most, whatever fails", async () => {
  await simulate(Chat, {
    runs: 20,
    act: ({ root, random, name }) => root.enter(random.pick(["rivers", "lakes"]), name),
    invariant: ({ all }) => {
      const present = all(Room).flatMap(({ members }) => [...members.keys()]);
      assert.equal(new Set(present).size, present.length);
    },
  });
});
`,
  },
  game: {
    example: "game.ts",
    summary: "a world of places, moves that are one event",
    test: `${HEAD}import Game, { Hallway, Room } from "./program.js";

test("each kid is in one place, whatever fails", async () => {
  await simulate(Game, {
    runs: 20,
    start: ({ root }) => Promise.all([root.join("ada", 0), root.join("ben", 1)]),
    act: ({ root, random }) => root.travel(random.pick(["ada", "ben"]), random.int(3)),
    allow: ({ message }) => message.includes("is not in a hallway"),
    invariant: ({ all }) => {
      const present = [...all(Hallway), ...all(Room)].flatMap(({ kids }) => [...kids]);
      assert.equal(new Set(present).size, present.length);
    },
  });
});
`,
  },
  streams: {
    example: "auction.ts",
    needs: "SQL",
    summary: "contexts with standing SQL queries, timers and mails",
    test: `${HEAD}import AuctionHouse, { Auction } from "./program.js";

test("an auction that is closed was sold to its highest bidder, whatever fails", async () => {
  await simulate(AuctionHouse, {
    runs: 5,
    acts: 10,
    world: () => ({ outside: { "auction.mail": () => {} } }),
    start: ({ root }) => root.open("vase", "sam", 30_000),
    act: ({ root, random }) => root.bid("vase", random.pick(["ada", "ben"]), 1 + random.int(1000)),
    allow: ({ name }) => name === "Refused",
    atRest: ({ all }) => {
      const [auction] = all(Auction);
      assert.equal(auction?.state, "closed");
      assert.ok(auction.best !== null);
    },
  });
});
`,
  },
};
