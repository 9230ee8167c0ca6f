import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { run } from "headwater";
import { Random } from "#src/random.js";
import Store, { bucketOf, main } from "../../examples/kv.js";
import { printed } from "./printed.js";

test("each of many callers at once reads what it has put", async () => {
  await using service = await run(Store);
  const caller = async (name: number) => {
    const random = new Random(name);
    const plain = new Map<string, string>();
    for (let i = 0; i < 100; i++) {
      const key = `${name}/${random.int(8)}`;
      const bucket = service.root.buckets(bucketOf(key));
      if (random.chance(0.4)) {
        await bucket.put(key, `${i}`);
        plain.set(key, `${i}`);
      } else if (random.chance(0.2)) {
        assert.equal(await bucket.delete(key), plain.delete(key), `delete ${key}`);
      } else {
        assert.equal(await bucket.get(key), plain.get(key), `get ${key}`);
      }
    }
  };
  await Promise.all(Array.from({ length: 30 }, (_, name) => caller(name)));
});

test("the keys of a bucket stay apart", async () => {
  await using service = await run(Store);
  const bucket = service.root.buckets(7);
  await Promise.all([bucket.put("a", "1"), bucket.put("b", "2")]);
  assert.deepEqual(await Promise.all([bucket.get("a"), bucket.get("b"), bucket.get("c")]), [
    "1",
    "2",
    undefined,
  ]);
  assert.equal(await service.root.buckets(8).get("a"), undefined);
});

test("keys are spread over the buckets", () => {
  const buckets = new Set(Array.from({ length: 1000 }, (_, i) => bucketOf(`key ${i}`)));
  assert.equal(buckets.size, 64);
});

test("the store is under 20 lines, as the paper's is", () => {
  const source = readFileSync(new URL("../../examples/kv.ts", import.meta.url), "utf8");
  const [first, last] = [source.indexOf("export class Bucket"), source.indexOf("const BUCKETS")];
  const store = source.slice(first, last).trim().split("\n");
  assert.equal(store[0], "export class Bucket extends Context<number> {");
  assert.ok(store.includes("export default class Store extends Context {"));
  assert.ok(store.length < 20, `${store.length} lines`);
});

test("the demonstration prints what it put, got and deleted", async () => {
  await using service = await run(Store);
  const lines = await printed(main, service);
  assert.deepEqual(lines, [
    "put river, source, delta, lake",
    "get source: Quelle",
    "get delta: Delta",
    "get ocean: (nothing)",
    "deleted delta; get delta: (nothing)",
  ]);
});
