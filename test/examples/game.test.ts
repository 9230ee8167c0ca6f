import assert from "node:assert/strict";
import test from "node:test";
import { run } from "headwater";
import { Random } from "#src/random.js";
import Game, { BUILDINGS, main, ROOM_SIZE, ROOMS } from "../../examples/game.js";
import { runErratically } from "./erratic.js";
import { printed } from "./printed.js";

type Census = { kid: string; building: number; place: string; says: number }[];

const kids = Array.from({ length: 20 }, (_, i) => `kid ${i}`);

function everybodyIsInOnePlace(census: Census, expected: readonly string[]): void {
  const found = census.map(({ kid }) => kid);
  assert.deepEqual(found.toSorted(), expected.toSorted(), "a kid is nowhere, or in two places");
  for (const { kid, building, says } of census) assert.equal(says, building, `${kid} is mistaken`);
  for (let building = 0; building < BUILDINGS; building++) {
    for (let room = 0; room < ROOMS; room++) {
      const inside = census.filter((entry) => entry.building === building && entry.place === `room ${room}`);
      assert.ok(inside.length <= ROOM_SIZE, `room ${room} of building ${building} holds ${inside.length}`);
    }
  }
}

const hosts = {
  "": () => run(Game),
  ", in total order": () => run(Game, { commitOrder: "total" }),
  ", on an erratic host": () => runErratically(Game),
  ", on an erratic host in total order": () => runErratically(Game, { commitOrder: "total" }),
};

for (const [where, start] of Object.entries(hosts)) {
  test(`after every event every kid is in exactly one place${where}`, async () => {
    await using service = await start();
    const game = service.root;
    await Promise.all(kids.map((kid, i) => game.join(kid, i % BUILDINGS)));

    const random = new Random(6);
    const outcomes = new Map<string, number>();
    const count = (what: string) => outcomes.set(what, (outcomes.get(what) ?? 0) + 1);
    const move = async () => {
      const [kid, building, room] = [random.pick(kids), random.int(BUILDINGS), random.int(2)];
      const kind = random.int(3);
      try {
        if (kind === 0) count(`enterRoom ${await game.buildings(building).enterRoom(kid, room)}`);
        else if (kind === 1) count(`leaveRoom ${await game.buildings(building).leaveRoom(kid, room)}`);
        else count(`travel ${await game.travel(kid, building).then(() => true)}`);
      } catch (error) {
        assert.ok(error instanceof Error);
        count(error.message.replace(/(kid|room) \d+/, "$1"));
      }
    };

    for (let round = 0; round < 3; round++) {
      const moves: Promise<void>[] = [];
      const censuses: Promise<Census>[] = [];
      for (let i = 0; i < 150; i++) {
        moves.push(move());
        censuses.push(game.census());
      }
      for (const census of await Promise.all(censuses)) everybodyIsInOnePlace(census, kids);
      await Promise.all(moves);
    }

    // The storm has to have had everything in it, including moves that threw after they had changed something.
    assert.deepEqual([...outcomes.keys()].toSorted(), [
      "enterRoom false",
      "enterRoom true",
      "kid is not in a hallway",
      "leaveRoom false",
      "leaveRoom true",
      "room is full",
      "travel true",
    ]);
    everybodyIsInOnePlace(await game.census(), kids);
  });
}

test("a kid that finds its room full has not left the hallway", async () => {
  await using service = await run(Game);
  const building = service.root.buildings(1);
  const some = kids.slice(0, ROOM_SIZE + 1);
  for (const kid of some) await service.root.join(kid, 1);
  const entered = await Promise.allSettled(some.map((kid) => building.enterRoom(kid, 3)));
  assert.equal(entered.filter(({ status }) => status === "fulfilled").length, ROOM_SIZE);

  const census = await service.root.census();
  everybodyIsInOnePlace(census, some);
  assert.equal(census.filter(({ place }) => place === "hallway").length, 1);
});

test("there is no way out of the world", async () => {
  await using service = await run(Game);
  await service.root.join("ada", 0);
  await assert.rejects(service.root.join("ada", 1), /in the world already/);
  await assert.rejects(service.root.travel("ada", BUILDINGS), /there is no building 3/);
  await assert.rejects(service.root.buildings(0).enterRoom("ada", ROOMS), /there is no room 4/);
  await assert.rejects(service.root.buildings(0).enterRoom("ada", -1), /there is no room -1/);
  await assert.rejects(service.root.travel("nobody", 1), /not in a hallway/);
  assert.deepEqual(await service.root.census(), [{ kid: "ada", building: 0, place: "hallway", says: 0 }]);
});

test("the demonstration tells where everybody is", async () => {
  await using service = await run(Game);
  const lines = await printed(main, service);
  assert.deepEqual(lines, [
    "three kids joined: ada in building 0, hallway; ben in building 0, hallway; cleo in building 1, hallway",
    "three moves at once: ada in building 0, room 2; ben in building 1, hallway; cleo in building 1, room 0",
    "a move that fails half way (ada is not in a hallway) changes nothing: " +
      "ada in building 0, room 2; ben in building 1, hallway; cleo in building 1, room 0",
    "ada left her room, then her building: " +
      "ben in building 1, hallway; cleo in building 1, room 0; ada in building 2, hallway",
  ]);
});
