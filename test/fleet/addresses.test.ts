import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Context, type HeadwaterError, hostsOf, type NodeService, type ProgramHosts, run } from "headwater";
import { refused, refusedAtOnce } from "../refused.js";
import Bank, { Account } from "./programs/bank.js";
import banks from "./programs/two-banks.js";

const bank = new URL("./programs/bank.ts", import.meta.url).href;
const module = new URL("./programs/two-banks.ts", import.meta.url).href;

describe("contexts of several logical nodes with the same root class", () => {
  let service: NodeService<typeof banks>;
  let hosts: ProgramHosts;

  before(async () => {
    service = await run(banks, { hosts: 2, module, placement: { pin: { "north.bombs(*)": 1 } } });
    hosts = hostsOf(service);
    for (const node of [service.nodes.north, service.nodes.south])
      for (let i = 0; i < 4; i++) await node.branches(i).transfer(1, 2, 1, "t");
  });
  after(() => service.stop());

  const places = (node: "north" | "south") =>
    [0, 1, 2, 3].map((i) => hosts.where(service.nodes[node].branches(i)));

  test("have addresses that begin with the names of their nodes, everywhere", async () => {
    const all = hosts.contexts();
    assert.deepEqual(new Set(all.map(({ context }) => context.split(".")[0])), new Set(["north", "south"]));
    for (const { context, host } of all) assert.equal(hosts.where(context), host);
    assert.equal(String(service.nodes.south.branches(1)), "south.branches(1)");
  });

  test("are not moved by a pin that names one of the other node", async () => {
    const before = places("north");
    for (let i = 0; i < 4; i++)
      await hosts.pin(service.nodes.south.branches(i), 1 - hosts.where(`south.branches(${i})`));
    assert.deepEqual(places("north"), before);
    for (let i = 0; i < 4; i++) await hosts.unpin(`south.branches(${i})`);
  });

  test("are pinned by the address that finds them, with a star or without, however it is spaced", async () => {
    await hosts.pin("south.branches(*)", 0);
    const before = places("south");
    for (const host of [0, 1]) {
      await hosts.pin("north.branches(*)", host);
      assert.deepEqual(places("north"), [host, host, host, host]);
    }
    await hosts.pin("north.branches( 2 )", 0);
    assert.deepEqual(places("north"), [1, 1, 0, 1]);
    await hosts.unpin("north.branches(2)");
    assert.deepEqual(places("north"), [1, 1, 1, 1]);
    assert.deepEqual(
      [places("south"), before],
      [
        [0, 0, 0, 0],
        [0, 0, 0, 0],
      ],
    );
    await hosts.unpin("north.branches(*)");
    await hosts.unpin("south.branches(*)");
  });

  test("are placed by rules of the program that name one node", () => {
    for (let i = 0; i < 8; i++) assert.equal(hosts.where(`north.bombs(${i})`), 1);
    assert.equal(new Set(Array.from({ length: 20 }, (_, i) => hosts.where(`south.bombs(${i})`))).size, 2);
  });

  test("are not found under the name of their class", async () => {
    refusedAtOnce(() => hosts.where("Bank.branches(1)"), "HW-6013", '"Bank.branches(1)"', "north, south");
    await refused(hosts.pin("Bank.branches(1)", 0), "HW-6013", "`pin`", "north, south");
  });
});

describe("rules of placement that speak of what is not there are refused, and say what there is", () => {
  class Other extends Context {}
  const wrong: readonly (readonly [name: string, rules: unknown, ...says: string[]])[] = [
    [
      "a pin with another name in front",
      { pin: { "Banks.branches(1)": 0 } },
      "placement.pin",
      "there is no Banks",
    ],
    ["a pin with a field that there is not", { pin: { "Bank.branch(*)": 0 } }, "branches(…), bombs(…)"],
    [
      "a pin further down",
      { pin: { "Bank.branches(*).account(1)": 0 } },
      "below Bank.branches(…) there is accounts(…)",
    ],
    ["a pin without a key", { pin: { "Bank.branches": 0 } }, "branches(…)"],
    ["a pin that is no address", { pin: { "Bank bar((": 0 } }, '"Bank bar(("'],
    ["a pin that is no object", { pin: 3 }, "placement.pin"],
    ["a rule of another name", { pinn: {} }, '"pinn"', "separate, colocate, pin"],
    ["no object at all", "everywhere", '"everywhere"'],
    ["a group that is no function", { colocate: 3 }, "placement.colocate", "3"],
    [
      "a group that throws",
      {
        colocate: () => {
          throw new Error("no idea");
        },
      },
      "placement.colocate",
      "Bank",
      "no idea",
    ],
    ["a group that is a promise", { colocate: async () => "x" }, "a promise"],
    ["a class in place of classes", { separate: Account }, "placement.separate", "Account"],
    ["a class of another program", { separate: [Other] }, "Other", "Bank, Branch, Account, Bomb"],
    ["a class of no contexts", { separate: [String] }, "String"],
  ];
  for (const [name, placement, ...says] of wrong) {
    test(name, async () => {
      for (const hosts of [1, 2])
        await refused(run(Bank, { hosts, module: bank, placement: placement as never }), "HW-6013", ...says);
    });
  }

  test("also while the program runs", async () => {
    await using service = await run(Bank, { hosts: 2, module: bank });
    const hosts = hostsOf(service);
    await service.root.branches(1).transfer(1, 2, 1, "t");
    await refused(hosts.pin("", 0), "HW-6013", '""');
    await refused(hosts.pin("Nope.x(*)", 0), "HW-6013", "there is no Nope", "Bank");
    await refused(hosts.unpin("Bank.branch(1)"), "HW-6013", "branches(…)");
    await refused(hosts.move("Bank.branches(*)", 0), "HW-6013", "`*` stands for several");
    await refused(hosts.colocate(null as never), "HW-6013", "null");
    await refused(hosts.separate(Other), "HW-6013", "Other");
    const picky = ({ path }: { path: string }) => {
      if (path.startsWith("Bank.branches(1)")) throw new Error("anything but that");
      return undefined;
    };
    await refused(hosts.colocate(picky), "HW-6013", "Bank.branches(1)", "anything but that");
    assert.equal(await service.root.branches(1).transfer(1, 2, 1, "u"), 98);
  });
});

test("a rule that fails for a context which comes later is heard of once, and the context is placed without it", async () => {
  const heard: HeadwaterError[] = [];
  const colocate = ({ path }: { path: string }) => {
    if (path.includes("branches")) throw new Error("not those");
    return undefined;
  };
  await using service = await run(Bank, {
    hosts: 2,
    module: bank,
    placement: { colocate },
    onWarning: (warning) => heard.push(warning),
  });
  for (let i = 0; i < 5; i++) assert.equal(await service.root.branches(i).transfer(1, 2, 5, "t"), 95);
  assert.deepEqual(
    heard.map(({ code }) => code),
    ["HW-6013"],
  );
  assert.match(
    heard[0]?.message ?? "",
    /`colocate` could not say where Bank\.branches\(0\).* belongs: not those/,
  );
});

test("a pinned context is moved by nobody else, and can be when the pin is gone", async () => {
  await using service = await run(Bank, { hosts: 2, module: bank });
  const hosts = hostsOf(service);
  const branch = service.root.branches(3);
  await branch.transfer(1, 2, 1, "t");
  await hosts.pin("Bank.branches(*)", 0);
  await refused(hosts.move(branch, 1), "HW-6013", "pinned to host 0", '"Bank.branches(*)"', "unpin");
  await hosts.move(branch, 0); // that is where it is
  await hosts.unpin("Bank.branches(*)");
  await hosts.move(branch, 1);
  await hosts.settled();
  assert.equal(hosts.where(branch), 1);
});
