import assert from "node:assert/strict";
import { test } from "node:test";
import { hostsOf, MemoryJournal, run } from "headwater";
import Tenants, { Desk } from "./programs/tenants.js";

/** Contexts on several hosts are listed and deleted as on one. */

const module = new URL("./programs/tenants.ts", import.meta.url).href;
const NAMES = ["a", "b", "c", "d", "e"];

for (const isDurable of [false, true]) {
  const kind = isDurable ? "with a journal" : "in memory";

  test(`${kind}: contexts that are spread over hosts are listed and deleted, all or nothing`, async () => {
    const journal = isDurable ? { journal: new MemoryJournal(), limits: { contexts: 4 } } : {};
    const placement = { separate: [Desk] };
    await using service = await run(Tenants, { hosts: 3, module, placement, ...journal });
    const { root } = service;
    for (const name of NAMES) await root.offices(name).furnish(6);
    await root.offices("b").pay();
    assert.deepEqual(await root.list(), NAMES);
    await assert.rejects(root.endAndFail("b"), /not yet/);
    assert.deepEqual([await root.offices("b").look(), await root.offices("b").desks(5).look()], [1, 1]);
    const results = await Promise.all([
      root.offices("b").desks(2).add(),
      root.end("b"),
      root.offices("b").desks(2).add(),
      root.end("c"),
      root.list(),
    ]);
    assert.deepEqual(results, [2, undefined, 1, undefined, ["a", "b", "d", "e"]]);
    assert.deepEqual([await root.offices("b").look(), await root.offices("b").desks(5).look()], [0, 0]);
    assert.deepEqual(await root.endAndBegin("a"), ["a", "b", "d", "e"]);
    assert.equal(await root.offices("a").desks(1).look(), 1);
  });

  test(`${kind}: moving a context changes nothing about whether it exists`, async () => {
    const journal = isDurable ? { journal: new MemoryJournal() } : {};
    await using service = await run(Tenants, { hosts: 2, module, ...journal });
    const { root } = service;
    const hosts = hostsOf(service);
    for (const name of NAMES) await root.offices(name).look();
    await root.offices("e").pay();
    for (const host of [0, 1]) for (const name of NAMES) await hosts.move(`Tenants.offices("${name}")`, host);
    assert.deepEqual(await root.list(), ["e"]);
    await root.offices("a").pay();
    assert.deepEqual(await root.list(), ["a", "e"]);
    for (const host of [0, 1]) for (const name of NAMES) await hosts.move(`Tenants.offices("${name}")`, host);
    await root.end("e");
    for (const host of [0, 1]) for (const name of NAMES) await hosts.move(`Tenants.offices("${name}")`, host);
    assert.deepEqual(await root.list(), ["a"]);
    assert.equal(await root.offices("e").pay(), 1);
    assert.deepEqual(await root.list(), ["a", "e"]);
  });
}
