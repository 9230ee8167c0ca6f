import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Context, readonly, run } from "headwater";
import { turns } from "../gates.js";

/** What EventWave's own repository tries out, as programs of this one: walks, layers, chains, and a generator. */

/** A small sequence of numbers that look random and are the same in every run. */
function sequence(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

let walking = 0;
let walkingMost = 0;
beforeEach(() => {
  walking = 0;
  walkingMost = 0;
});

interface Walk {
  readonly id: number;
  readonly path: readonly [number, number, number];
  /** The level on which the walk ends: 0 is the root. */
  readonly end: number;
  readonly pauses: number;
  readonly givesUp: boolean;
}

abstract class Level extends Context<number> {
  trail: number[] = [];

  protected async step({ id, pauses, givesUp }: Walk): Promise<void> {
    walking += 1;
    walkingMost = Math.max(walkingMost, walking);
    this.trail.push(id);
    if (givesUp) this.downgrade();
    for (let i = 0; i < pauses; i++) await turns(1);
    walking -= 1;
  }
  @readonly look() {
    return this.trail;
  }
}
class Third extends Level {
  async walk(walk: Walk) {
    await this.step(walk);
  }
}
class Second extends Level {
  below = this.children(Third);
  async walk(walk: Walk) {
    await this.step(walk);
    if (walk.end > 2) await this.below(walk.path[2]).walk(walk);
  }
}
class First extends Level {
  below = this.children(Second);
  async walk(walk: Walk) {
    await this.step(walk);
    if (walk.end > 1) await this.below(walk.path[1]).walk(walk);
  }
}
class Root extends Context {
  trail: number[] = [];
  below = this.children(First);
  async walk(walk: Walk) {
    this.trail.push(walk.id);
    if (walk.givesUp) this.downgrade();
    if (walk.end > 0) await this.below(walk.path[0]).walk(walk);
  }
  @readonly look() {
    return this.trail;
  }
}

for (const seed of [1, 2, 3]) {
  test(`§3.3 random walks down three levels leave their marks in ticket order (seed ${seed})`, async () => {
    const { root, stop } = await run(Root);
    const random = sequence(seed);
    const expected = new Map<string, number[]>();
    const requests: Promise<void>[] = [];
    for (let id = 0; id < 150; id++) {
      const [a, b, c] = [random(4), random(3), random(3)] as const;
      const begin = random(6) === 0 ? 0 : 1 + random(3);
      const end = begin + random(4 - begin);
      const walk: Walk = { id, path: [a, b, c], end, pauses: random(3), givesUp: random(3) === 0 };
      const places = ["root", `${a}`, `${a}.${b}`, `${a}.${b}.${c}`];
      for (const place of places.slice(begin, end + 1))
        expected.set(place, [...(expected.get(place) ?? []), id]);
      const start = [root, root.below(a), root.below(a).below(b), root.below(a).below(b).below(c)][begin];
      assert.ok(start !== undefined);
      requests.push(start.walk(walk));
    }
    await Promise.all(requests);
    for (const [place, ids] of expected) {
      const [a, b, c] = place.split(".").map(Number);
      if (place === "root") assert.deepEqual(await root.look(), ids, place);
      else if (a !== undefined && b !== undefined && c !== undefined) {
        assert.deepEqual(await root.below(a).below(b).below(c).look(), ids, place);
      } else if (a !== undefined && b !== undefined) {
        assert.deepEqual(await root.below(a).below(b).look(), ids, place);
      } else if (a !== undefined) {
        assert.deepEqual(await root.below(a).look(), ids, place);
      }
    }
    assert.ok(walkingMost > 1, "some walks were under way at the same time");
    await stop();
  });
}

class Lower extends Context<number> {
  requests: string[] = [];
  async request(what: string) {
    await turns(1);
    this.requests.push(what);
    return this.requests.length;
  }
  @readonly log() {
    return this.requests;
  }
}
class Upper extends Context<number> {
  lower = this.children(Lower);

  /** Two calls that depend on each other, then the same again as a later event. */
  async create(round: number, rounds: number) {
    const first = await this.lower(0).request(`round ${round}, first`);
    const second = await this.lower(1).request(`round ${round}, after ${first}`);
    await this.lower(0).request(`round ${round}, answered ${second}`);
    if (round < rounds) this.event.start(this.above(Upper)).create(round + 1, rounds);
  }
}
class Layers extends Context {
  uppers = this.children(Upper);
  async all(what: string) {
    for (const key of [0, 1, 2]) await this.uppers(key).lower(0).request(what);
  }
}

test("§3.2.2 calls between layers arrive in the order of the program text, round after round", async () => {
  const service = await run(Layers);
  const { root } = service;
  await Promise.all([0, 1, 2].map((key) => root.uppers(key).create(1, 5)));
  await service.idle();
  await root.all("end");
  for (const key of [0, 1, 2]) {
    const zero = [1, 2, 3, 4, 5].flatMap((n) => [`round ${n}, first`, `round ${n}, answered ${n}`]);
    const one = [1, 2, 3, 4, 5].map((n) => `round ${n}, after ${2 * n - 1}`);
    assert.deepEqual(await root.uppers(key).lower(0).log(), [...zero, "end"]);
    assert.deepEqual(await root.uppers(key).lower(1).log(), one);
  }
  await service.stop();
});

class Chain extends Context<number> {
  seen: number[] = [];
  /** Each event starts the next one, in another context. */
  next(count: number, limit: number) {
    this.seen.push(count);
    if (count < limit) this.event.start(this.above(Chains).links((count + 1) % 3)).next(count + 1, limit);
  }
  @readonly look() {
    return this.seen;
  }
}
class Chains extends Context {
  rounds = 0;
  links = this.children(Chain);

  /** Starts a round of events, one context after the other, and then itself again. */
  generate(rounds: number, events: number) {
    this.rounds += 1;
    for (let i = 0; i < events; i++) this.event.start(this.links(10 + (i % 4))).next(i, 0);
    if (this.rounds < rounds) this.event.start(this.above(Chains)).generate(rounds, events);
  }
}

test("§3.2.2 a chain of asynchronous calls runs to its end, each after the one before", async () => {
  const service = await run(Chains);
  await service.root.links(1).next(1, 3000);
  await service.idle();
  for (const link of [0, 1, 2]) {
    const expected = Array.from({ length: 3000 }, (_, i) => i + 1).filter((n) => n % 3 === link);
    assert.deepEqual(await service.root.links(link).look(), expected);
  }
  await service.stop();
});

test("§7.1 a generator's events reach their contexts round by round, in the order in which they were started", async () => {
  const service = await run(Chains);
  await service.root.generate(5, 16);
  await service.idle();
  for (const link of [0, 1, 2, 3]) {
    const round = [link, link + 4, link + 8, link + 12];
    assert.deepEqual(
      await service.root.links(10 + link).look(),
      [1, 2, 3, 4, 5].flatMap(() => round),
    );
  }
  await service.stop();
});
