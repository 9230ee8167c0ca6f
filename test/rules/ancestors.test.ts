import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Context, type FailedEvent, readonly, reads, run } from "headwater";
import { Gates } from "../gates.js";
import { refused } from "../refused.js";

/** HW-1012 and HW-1014: reading and naming contexts above. */

let gates = new Gates();
beforeEach(() => {
  gates = new Gates();
});

class Stranger extends Context {
  n = 0;
  add() {}
}
class World extends Context {
  rules = { gravity: 10 };
  areas = this.children(Area);

  setGravity(gravity: number) {
    this.rules.gravity = gravity;
  }
  async dropBelow() {
    this.rules.gravity = 11;
    return this.areas("a").things(1).drop();
  }
  async dropBelowAfterGivingUp() {
    this.rules.gravity = 12;
    this.downgrade();
    return this.areas("a").things(1).drop();
  }
}
class Area extends Context<string> {
  wind = 1;
  things = this.children(Thing);

  @reads(World) async dropAll() {
    return this.things(1).drop();
  }
  async dropUndeclared() {
    return this.things(1).drop();
  }
  @reads(World) readSelfAndAbove() {
    this.wind += 1;
    return [this.event.read(Area).wind, this.event.read(World).rules.gravity];
  }
}
class Thing extends Context<number> {
  speed = 0;

  drop() {
    this.speed = this.event.read(World).rules.gravity;
    return this.speed;
  }
  @reads(World, Area) fly() {
    const { wind, key } = this.event.read(Area);
    return `${this.event.read(World).rules.gravity} ${wind} ${key}`;
  }
  @reads(World) @readonly weigh() {
    return this.event.read(World).rules.gravity * 2;
  }
  @reads(World) spoil() {
    const world = this.event.read(World);
    (world.rules as { gravity: number }).gravity = 0;
    (world as { rules: unknown }).rules = null;
  }
  readWrong() {
    return this.event.read(Stranger).n;
  }
  nameWrong() {
    this.event.start(this.above(Stranger)).add();
  }
  @reads(Stranger) declareWrong() {
    return 1;
  }
  startWrong() {
    this.speed = 1;
    this.event.start(this.above(World).areas("b").things(3)).declareWrong();
  }
  armWrong() {
    this.speed = 1;
    this.event.after(0, this.declareWrong);
    this.event.after(1, this.ring);
  }
  ring() {
    void gates.pass("rang");
  }
}

let shaky = false;
class Shaky extends Context {
  n = shaky ? neverMade() : 7;
  leaf = this.child(Leaf);
}
class Leaf extends Context {
  @reads(Shaky) look() {
    return this.event.read(Shaky).n;
  }
  other() {
    return 1;
  }
}
function neverMade(): number {
  throw new RangeError("never made");
}

test("HW-1012: an ancestor is read only when the event's first method declares it", async () => {
  const { root, stop } = await run(World);
  const thing = root.areas("a").things(1);
  await refused(thing.drop(), "HW-1012", 'World.areas("a").things(1)', "World", "@reads(World)", "drop");
  await refused(root.areas("a").dropUndeclared(), "HW-1012", "dropUndeclared", "@reads(World)");
  assert.equal(await root.areas("a").dropAll(), 10);
  assert.equal(await thing.fly(), "10 1 a");
  assert.equal(await thing.weigh(), 20);
  await stop();
});

test("an event that holds the ancestor itself, or has given it up, reads it as it has left it", async () => {
  const { root, stop } = await run(World);
  assert.equal(await root.dropBelow(), 11);
  assert.equal(await root.dropBelowAfterGivingUp(), 12);
  assert.deepEqual(await root.areas("a").readSelfAndAbove(), [2, 12]);
  await stop();
});

test("what was read belongs to the reader: it cannot change the ancestor", async () => {
  const { root, stop } = await run(World);
  await assert.rejects(root.areas("a").things(1).spoil(), TypeError);
  assert.equal(await root.areas("a").things(1).weigh(), 20);
  await stop();
});

test("HW-1014: a class that is not above cannot be read, named or declared", async () => {
  const { root, stop } = await run(World);
  const thing = root.areas("a").things(1);
  await refused(thing.readWrong(), "HW-1014", 'World.areas("a").things(1)', "Stranger");
  await refused(thing.nameWrong(), "HW-1014", 'World.areas("a").things(1)', "Stranger");
  await refused(thing.declareWrong(), "HW-1014", "Stranger");
  assert.equal(await thing.weigh(), 20, "and the logical node goes on");
  await stop();
});

test("HW-1014: a later event that declares a class that is not above fails alone", async () => {
  const failed: FailedEvent[] = [];
  const service = await run(World, { onError: (failure) => failed.push(failure) });
  const thing = service.root.areas("a").things(1);
  const codes = () => failed.map(({ error }) => (error as { code?: string }).code);
  const started = await thing.startWrong().then(
    () => "started",
    (error: { code?: string }) => error.code,
  );
  await service.idle();
  assert.deepEqual(
    [started, ...codes()].sort(),
    started === "started" ? ["HW-1014", "started"] : ["HW-1014"],
  );
  failed.length = 0;
  const armed = await thing.armWrong().then(
    () => "armed",
    (error: { code?: string }) => error.code,
  );
  if (armed === "armed") await gates.reached("rang");
  await service.idle();
  assert.deepEqual([armed, ...codes()].sort(), armed === "armed" ? ["HW-1014", "armed"] : ["HW-1014"]);
  assert.equal(await thing.weigh(), 20, "and the logical node goes on");
  await service.stop();
});

test("an ancestor whose field initialiser fails fails those who read it, and no others", async () => {
  const { root, stop } = await run(Shaky);
  shaky = true;
  await assert.rejects(root.leaf.look(), /never made/);
  assert.equal(await root.leaf.other(), 1);
  shaky = false;
  assert.equal(await root.leaf.look(), 7);
  await stop();
});
