import { Context, readonly, run } from "headwater";
import { Puppets } from "../../fleet/puppets.js";

/**
 * `names.ts HOSTS`: reads, and makes and deletes, many more contexts than stay in memory, between contexts that exist, and prints what is
 * kept of each name. Several hosts run in this thread, so that the memory of all of them counts.
 */
class Leaf extends Context<number> {
  n = 0;
  add(by: number) {
    this.n += by;
  }
  @readonly get() {
    return this.n;
  }
}
class Box extends Context<number> {
  leaves = this.children(Leaf);
  n = 0;
  @readonly get() {
    return this.n;
  }
}
class Root extends Context {
  boxes = this.children(Box);
  async drop(key: number) {
    await this.event.delete(this.boxes(key));
  }
  async makeAndDrop(keys: number[]) {
    for (const key of keys) await this.boxes(key).leaves(key).add(1);
    for (const key of keys) await this.event.delete(this.boxes(key));
  }
  @readonly async has() {
    return (await this.event.list(this.boxes)).keys.length;
  }
}

const EXISTING = 100;
const hosts = Number(process.argv[2]);
const { root, stop } = hosts === 1 ? await run(Root) : await new Puppets(Root, null).run(Root, { hosts });

async function readNames(from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += 1000) {
    await Promise.all(
      Array.from({ length: 1000 }, (_, i) =>
        root
          .boxes(at + i)
          .leaves(i)
          .get(),
      ),
    );
  }
}

async function heapBytes(): Promise<number> {
  for (let i = 0; i < 5; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve)); // names are taken out of their tables after a collection
  }
  return process.memoryUsage().heapUsed;
}

async function sum(): Promise<number> {
  let total = 0;
  for (let key = 0; key < EXISTING; key++)
    total += await root
      .boxes(-1 - key)
      .leaves(key)
      .get();
  return total;
}

const sums: number[] = [];
const listed: string[] = [];
async function fill(): Promise<void> {
  for (let key = 0; key < EXISTING; key++)
    await root
      .boxes(-1 - key)
      .leaves(key)
      .add(3);
}

/** More than stay in memory. */
const NAMED = 15_000;
const COUNT = 20_000;
const DELETED = 6000;
async function makeAndDrop(from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += 20) await root.makeAndDrop(Array.from({ length: 20 }, (_, i) => at + i));
}
await fill();
await readNames(0, NAMED);
const before = await heapBytes();
sums.push(await sum());
await readNames(NAMED, NAMED + COUNT);
const after = await heapBytes();
await makeAndDrop(200_000, 200_000 + 2 * DELETED);
const beforeDrops = await heapBytes();
await makeAndDrop(300_000, 300_000 + DELETED);
const afterDrops = await heapBytes();
sums.push(await sum());
listed.push(String(await root.has()));
for (let key = 0; key < EXISTING; key++) await root.drop(-1 - key);
await readNames(90_000, 105_000);
await heapBytes();
sums.push(await sum());
listed.push(String(await root.has()));
await fill();
await readNames(110_000, 125_000);
await heapBytes();
sums.push(await sum());
listed.push(String(await root.has()));
console.log(
  JSON.stringify({
    bytesPerName: Math.round((after - before) / COUNT),
    bytesPerDeleted: Math.round((afterDrops - beforeDrops) / DELETED),
    sums,
    listed,
  }),
);
await stop();
