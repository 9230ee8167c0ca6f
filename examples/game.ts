import { Context, type Key, type ProgramIo, readonly, type Service } from "headwater";

/**
 * The game of EventWave's figures 6 to 8: kids run around in buildings with rooms and hallways. At any moment each
 * kid of the world is in exactly one place, because a move is one event: it leaves one place and enters another,
 * or, if anything on the way throws, it has not happened.
 */
export const BUILDINGS = 3;
export const ROOMS = 4;
export const ROOM_SIZE = 3;

abstract class Place<K extends Key = never> extends Context<K> {
  kids = new Set<string>();

  enter(kid: string) {
    this.kids.add(kid);
  }

  /** False if the kid was not here. */
  leave(kid: string) {
    return this.kids.delete(kid);
  }

  @readonly present() {
    return [...this.kids];
  }
}

export class Hallway extends Place {}

export class Room extends Place<number> {
  override enter(kid: string) {
    if (!isOneOf(ROOMS, this.key)) throw new Error(`there is no room ${this.key}`);
    if (this.kids.size >= ROOM_SIZE) throw new Error(`room ${this.key} is full`);
    super.enter(kid);
  }
}

export class Building extends Context<number> {
  rooms = this.children(Room);
  hallway = this.child(Hallway);

  /** Out of a room, as in figure 8. False if the kid was not in it. */
  async leaveRoom(kid: string, room: number) {
    this.downgrade(); // Nothing of the building itself changes: later events may enter it now.
    if (!(await this.rooms(room).leave(kid))) return false;
    await this.hallway.enter(kid);
    return true;
  }

  /** Into a room. If that throws, the kid has not left the hallway. */
  async enterRoom(kid: string, room: number) {
    this.downgrade();
    if (!(await this.hallway.leave(kid))) return false;
    await this.rooms(room).enter(kid);
    return true;
  }

  @readonly async census() {
    const found = (await this.hallway.present()).map((kid) => ({ kid, place: "hallway" }));
    for (let room = 0; room < ROOMS; room++) {
      for (const kid of await this.rooms(room).present()) found.push({ kid, place: `room ${room}` });
    }
    return found;
  }
}

export class Kid extends Context<string> {
  building = 0;

  /** Returns the building that the kid was in before. */
  moveTo(building: number) {
    if (!isOneOf(BUILDINGS, building)) throw new Error(`there is no building ${building}`);
    const before = this.building;
    this.building = building;
    return before;
  }

  @readonly whereabouts() {
    return this.building;
  }
}

export default class Game extends Context {
  kidsInWorld = new Set<string>();
  buildings = this.children(Building);
  kids = this.children(Kid);

  async join(kid: string, building: number) {
    if (this.kidsInWorld.has(kid)) throw new Error(`${kid} is in the world already`);
    this.kidsInWorld.add(kid);
    await this.kids(kid).moveTo(building);
    await this.buildings(building).hallway.enter(kid);
  }

  /** From the hallway of one building to that of another: an event that starts here, above both. */
  async travel(kid: string, building: number) {
    this.downgrade();
    const before = await this.kids(kid).moveTo(building);
    if (!(await this.buildings(before).hallway.leave(kid))) throw new Error(`${kid} is not in a hallway`);
    await this.buildings(building).hallway.enter(kid);
  }

  /** Who is where, all seen at the same moment, and the building that each kid itself says it is in. */
  @readonly async census() {
    const found: { kid: string; building: number; place: string; says: number }[] = [];
    for (let building = 0; building < BUILDINGS; building++) {
      for (const { kid, place } of await this.buildings(building).census()) {
        found.push({ kid, building, place, says: await this.kids(kid).whereabouts() });
      }
    }
    return found;
  }
}

function isOneOf(count: number, number: number) {
  return Number.isInteger(number) && number >= 0 && number < count;
}

/** Everybody leaves their room, if they are in one, and travels to where a game begins. */
async function startAgain(
  game: Service<Game>["root"],
  last: { kid: string; building: number; place: string }[],
) {
  for (const { kid, building, place } of last) {
    if (place !== "hallway")
      await game.buildings(building).leaveRoom(kid, Number(place.replace("room ", "")));
  }
  for (const [kid, building] of [
    ["ada", 0],
    ["ben", 0],
    ["cleo", 1],
  ] as const) {
    const isThere = last.some((found) => found.kid === kid);
    await (isThere ? game.travel(kid, building) : game.join(kid, building)); // it may have ended before all had joined
  }
}

export async function main(service: Service<Game>, io: ProgramIo) {
  const { root: game } = service;
  const report = async (what: string) => {
    const census = await game.census();
    io.print(
      `${what}: ${census.map(({ kid, building, place }) => `${kid} in building ${building}, ${place}`).join("; ")}`,
    );
  };

  const last = await game.census(); // nobody, unless a journal has kept the kids of the last run
  if (last.length === 0) {
    await Promise.all([game.join("ada", 0), game.join("ben", 0), game.join("cleo", 1)]);
    await report("three kids joined");
  } else {
    await report("where the last run left them");
    await startAgain(game, last);
    await report("three kids start again");
  }

  await Promise.all([
    game.buildings(0).enterRoom("ada", 2),
    game.travel("ben", 1),
    game.buildings(1).enterRoom("cleo", 0),
  ]);
  await report("three moves at once");

  const failure = await game.travel("ada", 2).catch((error: Error) => error.message);
  await report(`a move that fails half way (${failure}) changes nothing`);

  await game.buildings(0).leaveRoom("ada", 2);
  await game.travel("ada", 2);
  await report("ada left her room, then her building");
}
