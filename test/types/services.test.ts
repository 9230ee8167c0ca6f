import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, type FailedEvent, type Ref, run } from "headwater";

/** What `run` gives, checked by the compiler; nothing here is run. */

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const equal = <A, B>(_: Equal<A, B>): void => {};

class Room extends Context<number> {
  enter(player: string) {
    return player.length;
  }
}
class Game extends Context {
  rooms = this.children(Room);
}
class Printer extends Context {
  print(line: string) {
    return line;
  }
}

async function oneNode(): Promise<void> {
  const service = await run(Game, {
    commitOrder: "total",
    limits: { inFlight: 10 },
    onError: (failed) => equal<typeof failed, FailedEvent>(true),
  });
  equal<typeof service.root, Ref<Game>>(true);
  const entered = await service.root.rooms(1).enter("ada");
  equal<typeof entered, number>(true);
  const ada = service.client("ada", (message) => equal<typeof message, unknown>(true));
  equal<typeof ada.root, Ref<Game>>(true);
  // @ts-expect-error a program with one logical node has no others
  void service.nodes;
  // @ts-expect-error there are only two orders
  await run(Game, { commitOrder: "none" });
  // @ts-expect-error a limit that does not exist
  await run(Game, { limits: { everything: 1 } });
  await service.stop({ graceMs: 1 });
}

async function twoNodes(): Promise<void> {
  const service = await run({ game: Game, printer: Printer });
  equal<typeof service.nodes.game, Ref<Game>>(true);
  equal<typeof service.nodes.printer, Ref<Printer>>(true);
  const ada = service.client("ada", () => {});
  equal<typeof ada.nodes.printer, Ref<Printer>>(true);
  // @ts-expect-error there is no such logical node
  void service.nodes.plotter;
  // @ts-expect-error a program with several logical nodes has no single root
  void service.root;
}

function whatRuns(): void {
  class Plain {}
  // @ts-expect-error a root is a context class
  void run(Plain);
  // @ts-expect-error and so are several roots
  void run({ plain: Plain });
  // @ts-expect-error a root is alone of its kind, so it has no key
  void run(Room);
  // @ts-expect-error nor has one of several
  void run({ game: Game, room: Room });
}

test("services are typed by the classes that they run", () => {
  for (const check of [oneNode, twoNodes, whatRuns]) assert.equal(typeof check, "function");
});
