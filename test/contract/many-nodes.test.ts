import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, run } from "headwater";

class Desk extends Context {
  said: string[] = [];

  say(text: string) {
    this.said.push(`${this.event.caller ?? this.event.sender?.node}: ${text}`);
    return this.said;
  }
  pass(to: string | undefined, text: string) {
    this.event.send(this.event.peer(Desk, to)).say(text);
  }
}

class Special extends Desk {}

class Other extends Context {
  pass(text: string) {
    this.event.send(this.event.peer(Special)).say(text);
    this.event.send(this.event.peer(Special)).say(text);
  }
}

const NODES = { a: Desk, b: Special, ["__proto__"]: Other, toString: Other, other: Other };

test("references to the roots of logical nodes are those of the nodes there are, whatever their names", async () => {
  await using service = await run(NODES);
  const { nodes } = service.as({ client: "ada" });
  assert.deepEqual(Object.keys(nodes), ["a", "b", "__proto__", "toString", "other"]);
  assert.deepEqual(
    ["a", "c", "valueOf"].map((name) => Reflect.has(nodes, name)),
    [true, false, false],
  );
  assert.equal((nodes as Record<string, unknown>).c, undefined);
  const { a, ...rest } = nodes;
  assert.deepEqual(await a.say("hello"), ["ada: hello"]);
  assert.deepEqual(await rest.b.say("hello"), ["ada: hello"]);
  assert.throws(() => Object.assign(nodes, { a: nodes.b }), TypeError);
  assert.deepEqual(await service.as({ client: "ben" }).nodes.a.say("too"), ["ada: hello", "ben: too"]);
});

test("a peer is found by its class, with classes that extend it, or by its name as well", async () => {
  await using service = await run(NODES);
  await service.nodes.other.pass("by class");
  await service.nodes.a.pass("b", "by name");
  await service.idle();
  assert.deepEqual((await service.as({ client: "ada" }).nodes.b.say("all")).slice(0, 3).sort(), [
    "a: by name",
    "other: by class",
    "other: by class",
  ]);
  for (const name of [undefined, "other", "c"])
    await assert.rejects(service.nodes.a.pass(name, "nobody"), { code: "HW-1020" });
});

test("an error about a peer names only some of very many logical nodes", async () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`n${i}`, Desk]));
  await using service = await run(many);
  await assert.rejects(service.nodes.n0?.pass(undefined, "whom") ?? Promise.resolve(), {
    code: "HW-1020",
    message: /n19 and 980 more/,
  });
});
