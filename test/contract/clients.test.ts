import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, readonly, run } from "headwater";
import { refusedAtOnce } from "../refused.js";

/** Connected clients: who asked for an event, and who hears of it. */

class Room extends Context {
  log: (string | undefined)[] = [];
  say(text: string) {
    this.log.push(this.event.caller);
    if (this.event.caller !== undefined) this.event.send(this.event.caller, `you said ${text}`);
    this.event.start(this.above(Room)).note();
  }
  note() {
    this.log.push(`started for ${this.event.caller}`);
  }
  tell(who: string, text: unknown) {
    this.event.send(who, text);
  }
  @readonly read() {
    return this.log;
  }
}
class House extends Context {
  room = this.child(Room);
  async sayBelow(text: string) {
    await this.room.say(text);
  }
}

test("an event knows the client that asked for it, down to the last call; later events have none", async () => {
  const service = await run(House);
  const heard: unknown[] = [];
  const ada = service.client("ada", (message) => heard.push(message));
  assert.equal(ada.id, "ada");
  await ada.root.sayBelow("hello");
  await service.root.sayBelow("anonymously");
  await service.idle();
  assert.deepEqual(heard, ["you said hello"]);
  assert.deepEqual(await service.root.room.read(), [
    "ada",
    "started for undefined",
    undefined,
    "started for undefined",
  ]);
  await service.stop();
});

test("a message finds the client it is for, and nobody else", async () => {
  const service = await run(Room);
  const heard: Record<string, unknown[]> = { ada: [], bob: [] };
  for (const [name, list] of Object.entries(heard)) service.client(name, (message) => list.push(message));
  await service.root.tell("ada", { n: 1 });
  await service.root.tell("bob", [2]);
  await service.root.tell("eve", 3);
  await service.idle();
  assert.deepEqual(heard, { ada: [{ n: 1 }], bob: [[2]] });
  await service.stop();
});

test("a closed client hears nothing more, and its name is free again", async () => {
  const service = await run(Room);
  const heard: unknown[] = [];
  const first = service.client("ada", (message) => heard.push(`first ${message}`));
  await service.root.tell("ada", 1);
  await service.idle();
  refusedAtOnce(() => service.client("ada", () => {}), "HW-1402", '"ada"');
  first.close();
  await service.root.tell("ada", 2);
  await service.idle();
  service.client("ada", (message) => heard.push(`second ${message}`));
  first.close();
  await service.root.tell("ada", 3);
  await service.idle();
  assert.deepEqual(heard, ["first 1", "second 3"]);
  await service.stop();
});
