import { Context, expose, type ProgramIo, readonly, type Service } from "headwater";

/**
 * The key-value store of EventWave's figure 18. Keys are grouped into buckets, and each bucket is a context of its
 * own: requests for different buckets run side by side, those for one bucket in order.
 */
export class Bucket extends Context<number> {
  entries = new Map<string, string>();

  put(key: string, value: string) {
    this.entries.set(key, value);
  }

  delete(key: string) {
    return this.entries.delete(key);
  }

  @readonly get(key: string) {
    return this.entries.get(key);
  }
}

export default class Store extends Context {
  buckets = this.children(Bucket);
}

const BUCKETS = 64;

/** The bucket that a key belongs to: any function will do that spreads the keys and never changes its mind. */
export function bucketOf(key: string): number {
  let hash = 0;
  for (const character of key) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return hash % BUCKETS;
}

/** Nobody outside is bound by the types. */
function texts(...args: unknown[]) {
  if (!args.every((arg) => typeof arg === "string")) throw new TypeError("keys and values are texts");
}

/** What callers may ask for with `headwater run examples/kv --port 8080`. */
export const api = expose(Store, {
  put: {
    check: (key, value) => texts(key, value),
    request: (store, key: string, value: string) => store.buckets(bucketOf(key)).put(key, value),
  },
  get: {
    check: (key) => texts(key),
    request: (store, key: string) => store.buckets(bucketOf(key)).get(key),
  },
  delete: {
    check: (key) => texts(key),
    request: (store, key: string) => store.buckets(bucketOf(key)).delete(key),
  },
});

export async function main(service: Service<Store>, io: ProgramIo) {
  const bucket = (key: string) => service.root.buckets(bucketOf(key));

  const words = { river: "Fluss", source: "Quelle", delta: "Delta", lake: "See" };
  await Promise.all(Object.entries(words).map(([key, value]) => bucket(key).put(key, value)));
  io.print(`put ${Object.keys(words).join(", ")}`);

  for (const key of ["source", "delta", "ocean"]) {
    io.print(`get ${key}: ${(await bucket(key).get(key)) ?? "(nothing)"}`);
  }
  await bucket("delta").delete("delta");
  io.print(`deleted delta; get delta: ${(await bucket("delta").get("delta")) ?? "(nothing)"}`);
}
