import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Context, type CurrentEvent, type Ref, readonly, run } from "headwater";
import { Gates, turns } from "../gates.js";
import { refused, refusedAtOnce } from "../refused.js";

/** HW-1007, HW-1008 and HW-1016: methods that do not exist, and contexts used outside their events. */

let gates = new Gates();
let kept: { context: Room; event: CurrentEvent; chair: Ref<Chair>; room: Ref<Room> } | undefined;
beforeEach(() => {
  gates = new Gates();
  kept = undefined;
});

class Chair extends Context<number> {
  taken = 0;
  take() {
    this.taken += 1;
    return this.taken;
  }
}
class Room extends Context<number> {
  visits = 0;
  guests: string[] = [];
  chairs = this.children(Chair);

  visit() {
    this.visits += 1;
    return this.visits;
  }
  keepThis() {
    kept = {
      context: this,
      event: this.event,
      chair: this.chairs(1),
      room: this.above(Room) as unknown as Ref<Room>,
    };
  }
  /** Goes on after its event has ended, which is a mistake. */
  goOnLater() {
    const goOn = async () => {
      await gates.pass("later");
      this.visits = 1000;
      this.guests.push("ghost");
      return this.chairs(1).take();
    };
    void goOn().catch((error: unknown) => {
      late = error;
    });
  }
  async callWrongName() {
    const open = this.chairs(1) as unknown as { sit(): Promise<void> };
    await open.sit();
  }
  startWrongName() {
    const open = this.event.start(this.chairs(1)) as unknown as { sit(): void };
    open.sit();
  }
  @readonly look() {
    return { visits: this.visits, guests: this.guests };
  }
}
let late: unknown;
class House extends Context {
  rooms = this.children(Room);
}

test("HW-1007: a method that does not exist is refused by name, outside and inside events", async () => {
  const { root, stop } = await run(House);
  const open = root.rooms(1) as unknown as { vist(): Promise<void>; visits: number };
  refusedAtOnce(() => open.vist(), "HW-1007", 'House.rooms(1) has no method "vist"', "visit");
  refusedAtOnce(() => open.visits, "HW-1007", '"visits"');
  await refused(
    root.rooms(1).callWrongName(),
    "HW-1007",
    'House.rooms(1).chairs(1) has no method "sit"',
    "take",
  );
  await refused(root.rooms(1).startWrongName(), "HW-1007", '"sit"');
  await stop();
});

test("HW-1008: a context that was kept is of no use when its event is over", async () => {
  const { root, stop } = await run(House);
  await root.rooms(1).keepThis();
  assert.ok(kept !== undefined);
  const { context, event, chair, room } = kept;
  await refused(chair.take(), "HW-1008", "House.rooms(1).chairs(1).take");
  await refused(room.visit(), "HW-1008", "House.rooms(1)");
  refusedAtOnce(() => (context as unknown as { event: unknown }).event, "HW-1008", "this.event");
  refusedAtOnce(
    () => (context as unknown as { downgrade(): void }).downgrade(),
    "HW-1008",
    "this.downgrade()",
  );
  refusedAtOnce(() => event.send("ada", 1), "HW-1008");
  assert.throws(() => event.start(chair).take(), { code: "HW-1008" });
  await stop();
});

test("HW-1008: nor while other events run in the same context", async () => {
  const { root, stop } = await run(House);
  await root.rooms(1).keepThis();
  const chair = kept?.chair;
  assert.ok(chair !== undefined);
  const visits = root.rooms(1).visit();
  await refused(chair.take(), "HW-1008", "House.rooms(1).chairs(1).take");
  await visits;
  assert.equal(await root.rooms(1).chairs(1).take(), 1);
  await stop();
});

test("HW-1008: what a method does after its event has ended changes nothing", async () => {
  late = undefined;
  const { root, stop } = await run(House);
  await root.rooms(1).goOnLater();
  await gates.reached("later");
  gates.open("later");
  await turns(3);
  assert.deepEqual(await root.rooms(1).look(), { visits: 0, guests: [] });
  assert.equal(await root.rooms(1).visit(), 1);
  assert.match(String(late), /HW-1008/);
  await stop();
});

test("HW-1008: a context that was kept cannot be changed from outside", async () => {
  const { root, stop } = await run(House);
  await root.rooms(1).keepThis();
  assert.ok(kept !== undefined);
  const { context } = kept;
  try {
    context.visits = 1000;
    context.guests.push("ghost");
  } catch {} // refusing it is as good as making nothing of it
  assert.equal(await root.rooms(1).visit(), 1);
  assert.deepEqual(await root.rooms(1).look(), { visits: 1, guests: [] });
  await stop();
});

test("HW-1016: a context cannot be made by hand, neither outside nor inside an event", async () => {
  class Maker extends Context {
    make() {
      return new House() && 1;
    }
  }
  const { root, stop } = await run(Maker);
  await refused(root.make(), "HW-1016", "new House()");
  await stop();
});
