import { Context, readonly, run } from "headwater";

/** Reads many more names than stay in memory, between contexts that exist, and prints what is kept of each. */
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
  @readonly async has() {
    return (await this.event.list(this.boxes)).keys.length;
  }
}

const EXISTING = 100;
const { root, stop } = await run(Root);

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

await fill();
await readNames(0, 30_000);
const before = await heapBytes();
sums.push(await sum());
await readNames(30_000, 90_000);
const after = await heapBytes();
sums.push(await sum());
listed.push(String(await root.has()));
for (let key = 0; key < EXISTING; key++) await root.drop(-1 - key);
await readNames(90_000, 110_000);
await heapBytes();
sums.push(await sum());
listed.push(String(await root.has()));
await fill();
await readNames(110_000, 130_000);
await heapBytes();
sums.push(await sum());
listed.push(String(await root.has()));
console.log(JSON.stringify({ bytesPerName: Math.round((after - before) / 60_000), sums, listed }));
await stop();
