import assert from "node:assert/strict";
import { test } from "node:test";
import { hostsOf, run } from "headwater";
import { patternOf } from "#src/elastic/pattern.js";
import { type Placed, Placement } from "#src/elastic/placement.js";
import { addressIn, showAddress } from "#src/model/address-text.js";
import Bank, { Account } from "./programs/bank.js";

const module = new URL("./programs/bank.ts", import.meta.url).href;

class Name implements Placed {
  readonly node = "n";
  readonly depth: number;
  readonly shape = { cls: Name, anonymous: false };

  constructor(
    readonly parent: Name | null,
    readonly key: number,
  ) {
    this.depth = parent === null ? 0 : parent.depth + 1;
  }

  toString(): string {
    return this.parent === null ? "Root" : `${this.parent}.c(${this.key})`;
  }
}

const root = new Name(null, 0);
const units = Array.from({ length: 1000 }, (_, i) => new Name(root, i));

test("hosts get about the same share, and one that comes is given its share of each", () => {
  const placement = new Placement([0, 1, 2]);
  const before = units.map((unit) => placement.of(unit));
  for (const host of [0, 1, 2]) {
    const share = before.filter((each) => each === host).length;
    assert.ok(share > 250 && share < 420, `host ${host} has ${share}`);
  }
  placement.add(3);
  assert.deepEqual(
    units.map((unit) => placement.of(unit)),
    before,
    "nothing changes its place by itself",
  );
  const wanted = units.map((unit) => placement.wanted(unit));
  assert.ok(wanted.every((host) => host === null || host === 3));
  const share = wanted.filter((host) => host === 3).length;
  assert.ok(share > 180 && share < 330, `the new one is to have ${share}`);
  assert.equal(
    placement.of(new Name(root, 3000)) === 3,
    new Placement([0, 1, 2, 3]).of(new Name(root, 3000)) === 3,
  );
});

test("a host that is gone leaves the others what they had", () => {
  const placement = new Placement([0, 1, 2]);
  const before = units.map((unit) => placement.of(unit));
  placement.remove(1);
  for (const [i, unit] of units.entries()) {
    if (before[i] === 1) assert.notEqual(placement.of(unit), 1);
    else assert.equal(placement.of(unit), before[i]);
  }
});

test("rules that change say where contexts should be, and moves bring them there", () => {
  const placement = new Placement([0, 1]);
  const below = units.slice(0, 50).map((unit) => new Name(unit, 1));
  const before = below.map((each) => placement.of(each));
  placement.change(below, () => placement.pin("Root.c(*).c(1)", 1));
  assert.deepEqual(
    below.map((each) => placement.of(each)),
    before,
  );
  for (const each of below) {
    assert.equal(placement.wanted(each), placement.of(each) === 1 ? null : 1);
    placement.move(each, 1, false);
    assert.equal(placement.wanted(each), null);
  }
  placement.change(below, () => placement.unpin("Root.c(*).c(1)"));
  for (const each of below) {
    assert.equal(placement.of(each), 1);
    const wanted = placement.wanted(each);
    if (wanted !== null) placement.move(each, wanted, false);
    assert.equal(placement.of(each), placement.of(each.parent as Name));
  }
});

test("balancing leaves alone only those contexts that a rule speaks of", () => {
  const placement = new Placement([0, 1]);
  assert.equal(placement.isBound(new Name(root, 1)), false);
  placement.colocate(({ key }) => (key === 2 ? "twos" : undefined));
  placement.pin("Root.c(3)", 1);
  assert.deepEqual(
    [1, 2, 3].map((key) => placement.isBound(new Name(root, key))),
    [false, true, true],
  );
});

test("a pattern stands for any key", () => {
  assert.ok(patternOf('Game.rooms("(*)")').matches('Game.rooms("(*)")'));
  assert.ok(!patternOf('Game.rooms("(*)")').matches("Game.rooms(7)"));
  const { matches } = patternOf("Game.rooms(*).seats(1)");
  for (const path of ["Game.rooms(7).seats(1)", 'Game.rooms("a").seats(1)', 'Game.rooms("(a)", 2).seats(1)'])
    assert.ok(matches(path), path);
  for (const path of [
    "Game.rooms(7)",
    "Game.rooms(7).seats(2)",
    "Game.rooms.seats(1)",
    "Game.rooms(7).x(2).seats(1)",
  ])
    assert.ok(!matches(path), path);
});

test("an address that was written can be read", () => {
  const path = [{ field: "rooms", key: ['a)("', 2] }, { field: "hallway" }, { field: "seats", key: -1.5 }];
  assert.deepEqual(addressIn(String.raw`Game.rooms("a)(\"", 2).hallway.seats(-1.5)`), { root: "Game", path });
  assert.deepEqual(addressIn("Game"), { root: "Game", path: [] });
  const any = addressIn("Game.rooms( * ).seats( 1,2 )");
  assert.equal(any && showAddress(any), "Game.rooms(*).seats(1, 2)");
  for (const text of [
    "Game.",
    "Game.rooms(",
    "Game.rooms()",
    "Game.rooms(x)",
    "Game.rooms(1)x",

    "Game.1",
  ])
    assert.equal(addressIn(text), null, text);
});

test("rules of a program: separate, colocate, pin", async () => {
  await using service = await run(Bank, {
    hosts: 2,
    module,
    placement: {
      separate: [Account],
      colocate: ({ path }) => (path.startsWith("Bank.bombs(") ? "bombs" : undefined),
      pin: { "Bank.branches(*)": 1 },
    },
  });
  const hosts = hostsOf(service);
  const { root: bank } = service;
  for (let i = 0; i < 8; i++) assert.equal(hosts.where(bank.branches(i)), 1);
  const accounts = Array.from({ length: 40 }, (_, i) => hosts.where(bank.branches(1).accounts(i)));
  assert.deepEqual(new Set(accounts), new Set([0, 1]));
  assert.equal(new Set([1, 2, 3, 4, 5, 6].map((i) => hosts.where(bank.bombs(i)))).size, 1);
  assert.equal(await bank.branches(1).transfer(1, 2, 5, "t"), 95);
});

test("rules can change while the program runs", async () => {
  await using service = await run(Bank, { hosts: 2, module });
  const hosts = hostsOf(service);
  const { root: bank } = service;
  for (let i = 0; i < 10; i++) await bank.branches(1).transfer(2 * i, 2 * i + 1, i, "t");
  const home = hosts.where(bank.branches(1));
  await hosts.separate(Account);
  const accounts = () => Array.from({ length: 20 }, (_, i) => hosts.where(bank.branches(1).accounts(i)));
  assert.deepEqual(new Set(accounts()), new Set([0, 1]));
  await hosts.pin("Bank.branches(*).accounts(*)", 1 - home);
  assert.deepEqual(new Set(accounts()), new Set([1 - home]));
  await hosts.pin(bank.branches(1).accounts(3), home);
  assert.equal(hosts.where(bank.branches(1).accounts(3)), home);
  await hosts.unpin("Bank.branches(*).accounts(*)");
  await hosts.colocate(({ type }) => (type === Account ? "accounts" : undefined));
  assert.equal(new Set(accounts().filter((_, i) => i !== 3)).size, 1);
  for (let i = 0; i < 20; i++) {
    const { balance } = await bank.branches(1).accounts(i).seen();
    assert.equal(balance, i % 2 === 0 ? 100 - i / 2 : 100 + (i - 1) / 2);
  }
  assert.ok(hosts.contexts().every(({ context, host }) => hosts.where(context) === host));
});
