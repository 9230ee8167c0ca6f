import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, readonly, run } from "headwater";
import { Gates, turns } from "../gates.js";

let gates = new Gates();

class Shelf extends Context<number> {
  books = 0;

  async add(gate: string) {
    await gates.pass(gate);
    this.books += 1;
    return this.books;
  }

  refuse() {
    throw new Error("full");
  }

  @readonly count() {
    return this.books;
  }
}

class Library extends Context {
  shelves = this.children(Shelf);
  log: string[] = [];

  async fill(careful: boolean) {
    const both = Promise.all([this.shelves(1).refuse(), this.shelves(2).add("slow shelf")]);
    if (careful) await both.catch((error: Error) => this.log.push(error.message));
    else await both;
    return this.log;
  }
}

test("an event does not end before the calls that it awaits, also if Promise.all gave up at the first failure", async () => {
  gates = new Gates();
  await using service = await run(Library);
  const filled = service.root.fill(true);
  await gates.reached("slow shelf");
  let hasEnded = false;
  void filled.then(() => {
    hasEnded = true;
  });
  await new Promise(setImmediate);
  assert.equal(hasEnded, false);
  gates.open("slow shelf");
  assert.deepEqual(await filled, ["full"]);
  assert.equal(await service.root.shelves(2).count(), 1, "the other call counts: its error was caught");
});

test("if the failure is not caught, what the other call did is undone", async () => {
  gates = new Gates();
  await using service = await run(Library);
  const filled = service.root.fill(false);
  await gates.reached("slow shelf");
  gates.open("slow shelf");
  await assert.rejects(filled, /full/);
  assert.equal(await service.root.shelves(2).count(), 0);
});

const done: string[] = [];

class Box extends Context<string> {
  inner = this.children(Box);
  async open(name: string) {
    done.push(`+${name}`);
    await turns(1);
    done.push(`-${name}`);
  }
}

class Store extends Context {
  boxes = this.children(Box);
  async openAll() {
    const [a, b] = [this.boxes("a"), this.boxes("b")];
    await Promise.all([
      a.inner("x").open("ax"),
      a.inner("y").open("ay"),
      a.open("a"),
      b.inner("x").inner("z").open("bxz"),
      a.inner("x").open("ax again"),
      a.inner("y").inner("z").open("ayz"),
      b.inner("x").open("bx"),
      b.inner("y").open("by"),
      a.open("a again"),
      b.open("b"),
    ]);
  }
}

test("calls in the same context, above or below another take their turns in the order of the program text, others overlap", async () => {
  await using service = await run(Store);
  await service.root.openAll();
  const before = (first: string, second: string) => done.indexOf(`-${first}`) < done.indexOf(`+${second}`);
  for (const first of ["ax", "ay"]) assert.ok(before(first, "a"), done.join(" "));
  for (const second of ["ax again", "ayz"]) assert.ok(before("a", second), done.join(" "));
  for (const first of ["ax again", "ayz"]) assert.ok(before(first, "a again"), done.join(" "));
  assert.ok(before("bxz", "bx") && before("bx", "b") && before("by", "b"), done.join(" "));
  assert.deepEqual(done.slice(0, 4).sort(), ["+ax", "+ay", "+bxz", "+by"], "nothing is in their way");
});

class Reader extends Context<number> {
  async pause() {
    await null;
  }

  look() {
    return this.event.read(Draft).text;
  }
}

class Draft extends Context {
  text: unknown = "as of the call";
  readers = this.children(Reader);

  async show() {
    const [pause, look] = [this.readers(1).pause(), this.readers(1).look()];
    this.text = () => "no plain data"; // while the second call waits for the first
    await pause;
    const seen = await look;
    this.text = "after the calls";
    return seen;
  }
}

test("a call that had to wait sees its caller as of the call, also if the caller has nothing to store by then", async () => {
  await using service = await run(Draft);
  assert.equal(await service.root.show(), "as of the call");
});

class Deep extends Context<number> {
  depth = 0;
  below = this.children(Deep);

  async sum(levels: number): Promise<number> {
    this.depth += 1;
    return levels === 0 ? 1 : 1 + (await this.below(levels).sum(levels - 1));
  }
}

class Surface extends Context {
  below = this.children(Deep);

  async sum(levels: number) {
    return await this.below(levels).sum(levels - 1);
  }
}

test("calls may be nested deeper than one stack is long", async () => {
  await using service = await run(Surface);
  assert.equal(await service.root.sum(3000), 3000);
});
