import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, readonly, run } from "headwater";

/** Whatever a method returns or throws, its event ends, its caller hears of it, and nobody else suffers. */

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** An object that is awaited as if it were a promise. */
const thenable = (then: unknown) => ({ then }) as unknown as PromiseLike<number>;

type Callback = (value: unknown) => void;

class Unspeakable extends Error {
  override get message(): string {
    throw new Error("no message");
  }
}

function unlookable(): Error {
  const get = () => {
    throw new Error("no stack");
  };
  return Object.defineProperty(new Error("odd"), "stack", { get });
}

const endings: Record<string, () => unknown> = {
  "a revoked proxy": revoked,
  "a proxy of a promise": () => new Proxy(Promise.resolve(1), {}),
  "a then that throws": () =>
    thenable(() => {
      throw new Error("then threw");
    }),
  "a then that cannot be read": () => ({
    // biome-ignore lint/suspicious/noThenProperty: such objects are what this is about.
    get then() {
      throw new Error("no then");
    },
  }),
  "an error without a readable message": () => {
    throw new Unspeakable();
  },
  "an error whose stack cannot be read": () => {
    throw unlookable();
  },
  "a revoked proxy that is thrown": () => {
    throw revoked();
  },
  "a rejection with an unreadable error": () => Promise.reject(new Unspeakable()),
  "a rejecting then": () =>
    thenable((_: Callback, reject: Callback) => {
      reject(new Error("refused"));
      reject(new Error("refused again"));
    }),
};

class Leaf extends Context {
  n = 0;
  end(how: string): unknown {
    this.n += 1;
    return endings[how]?.();
  }
  answersAtOnce() {
    return thenable((resolve: Callback) => resolve(7));
  }
  answersTwice() {
    this.n += 1;
    return thenable((resolve: Callback, reject: Callback) => {
      resolve(7);
      resolve(8);
      reject(new Error("changed its mind"));
      throw new Error("and threw");
    });
  }
  answersWithAPromise() {
    return thenable((resolve: Callback) => resolve(Promise.resolve(7)));
  }
  @readonly look() {
    return this.n;
  }
}

class Tree extends Context {
  n = 0;
  leaf = this.child(Leaf);
  end(how: string): unknown {
    this.n += 1;
    return endings[how]?.();
  }
  async endBelow(how: string) {
    this.n += 1;
    await this.leaf.end(how);
  }
  async catchBelow(how: string) {
    const caught = await this.leaf.end(how).catch((error: unknown) => error instanceof Error);
    this.n += 1;
    return caught;
  }
  start(how: string) {
    this.event.start(this.leaf).end(how);
  }
  @readonly look() {
    return this.n;
  }
}

for (const how of Object.keys(endings)) {
  test(`a method that ends with ${how} fails its event, or only its call`, async () => {
    await using service = await run(Tree, { onError: () => {} });
    const { root } = service;
    await assert.rejects(root.end(how), Error);
    await assert.rejects(root.endBelow(how), Error);
    assert.equal(await root.look(), 0, "the events have changed nothing");
    assert.equal(await root.catchBelow(how), true);
    await root.start(how);
    await service.idle();
    assert.equal(await root.look(), 1);
    assert.equal(await root.leaf.look(), 0);
  });
}

test("an event that nobody waits for may fail with an error that cannot be put into words", async (t) => {
  const warnings: string[] = [];
  t.mock.method(process, "emitWarning", (text: string) => warnings.push(text));
  await using service = await run(Tree);
  for (const how of ["an error without a readable message", "an error whose stack cannot be read"])
    await service.root.start(how);
  await service.idle();
  assert.equal(warnings.length, 2);
  for (const warning of warnings) assert.match(warning, /^Tree\.leaf\.end\(…\), begun by a start, failed/);
});

test("what is awaited like a promise counts once, whenever it answers", async () => {
  await using service = await run(Leaf);
  const { root } = service;
  assert.equal(await root.answersAtOnce(), 7);
  assert.equal(await root.answersTwice(), 7);
  assert.equal(await root.answersWithAPromise(), 7);
  assert.equal(await root.look(), 1);
});
