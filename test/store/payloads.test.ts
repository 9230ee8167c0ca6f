import { test } from "node:test";
import { survivesKills } from "./payloads.js";

/** By hand, with a hundred kills: `node --import tsx test/store/payloads.ts --kills 100 --hosts 2`. */

test("payloads from 1 byte to 10 MB survive kills of the whole process, byte by byte", async (t) => {
  const told = await survivesKills(t, { kills: 5, hosts: 1, seed: 1, durability: "synced" });
  t.diagnostic(JSON.stringify(told));
});

test("on two host processes, they survive kills of the whole program and of single hosts", async (t) => {
  const told = await survivesKills(t, { kills: 6, hosts: 2, seed: 2, durability: "written" });
  t.diagnostic(JSON.stringify(told));
});
