import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Context, type Journal, MemoryJournal, run } from "headwater";

const FAR_MS = 1e9;

class House extends Context<number> {
  lights = 0;

  set(lights: number): number {
    this.lights = lights;
    return this.lights;
  }

  wait(timers: number): void {
    for (let i = 0; i < timers; i++) this.event.after(FAR_MS + i, this.set, i);
  }
}

class City extends Context {
  houses = this.children(House);

  async build(from: number, count: number): Promise<void> {
    for (let i = from; i < from + count; i++) await this.houses(i).set(1);
  }
}

/** Counts what is read of a journal. */
class Counted implements Journal {
  readonly #inner = new MemoryJournal();
  reads = 0;

  append: Journal["append"] = (writes, done) => this.#inner.append(writes, done);
  refusal: Journal["refusal"] = () => this.#inner.refusal();
  close: Journal["close"] = async () => {};

  get(key: string): Uint8Array | undefined {
    this.reads += 1;
    return this.#inner.get(key);
  }

  *range(prefix: string, after?: string): Iterable<[key: string, value: Uint8Array]> {
    this.reads += 1;
    for (const entry of this.#inner.range(prefix, after)) {
      this.reads += 1;
      yield entry;
    }
  }
}

const [SMALL, TIMES] = [1000, 10];
const what = { contexts: 0, timers: 0, clients: 0, answers: 0 };
type What = keyof typeof what;

/** What is read of a journal with so much in it until the first request is answered. */
async function readsWith(much: Readonly<typeof what>): Promise<number> {
  const journal = new Counted();
  const before = await run(City, { journal });
  for (let i = 0; i < much.contexts; i += SMALL) await before.root.build(i, SMALL);
  for (let i = 0; i < much.timers; i += 100) await before.root.houses(i).wait(100);
  for (let i = 0; i < much.clients; i++) before.client(`client ${i}`, () => {});
  for (let i = 0; i < much.answers; i++)
    await before
      .as({ request: `r${i}` })
      .root.houses(0)
      .set(i);
  await before.stop();
  journal.reads = 0;
  const service = await run(City, { journal });
  assert.equal(await service.root.houses(7).set(5), 5);
  const { reads } = journal;
  await service.stop();
  return reads;
}

describe("what a process reads before its first answer does not grow with", () => {
  for (const each of Object.keys(what) as What[]) {
    test(each, async (t) => {
      const few = await readsWith({ ...what, [each]: SMALL });
      const many = await readsWith({ ...what, [each]: SMALL * TIMES });
      t.diagnostic(`${few} and ${many}`);
      assert.ok(many <= few * 1.1, `${few} reads with ${SMALL}, ${many} with ${SMALL * TIMES}`);
    });
  }
});
