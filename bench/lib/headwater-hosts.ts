import { type Ref, type RunOptions, run } from "headwater";
import Root from "./counters-on-hosts.js";
import type { Subject } from "./subject.js";

const HOSTS = 2;
const module = new URL("./counters-on-hosts.ts", import.meta.url).href;

type Counter = ReturnType<Ref<Root>["counters"]>;

/** The counters on two worker hosts; only on one of them, if that is asked for: then all have keys that live there. */
export async function startOnHosts(
  contexts: number,
  used: 1 | 2 = HOSTS,
  options: RunOptions = {},
): Promise<Subject> {
  const service = await run(Root, { hosts: HOSTS, module, ...options });
  const counters: Counter[] = [];
  let first: string | null = null;
  for (let key = 0; counters.length < contexts; key++) {
    const counter = service.root.counters(key);
    const host = await counter.where();
    first ??= host;
    if (used === HOSTS || host === first) counters.push(counter);
  }
  return {
    call: (key, work) => (counters[key] as Counter).bump(work),
    async counted() {
      let total = 0;
      for (const counter of counters) total += await counter.value();
      return total;
    },
    stop: () => service.stop(),
  };
}

/** Events on the first host, each of which makes one call below: to a context on the same host, or on the other one. */
export async function startCallsOnHosts(contexts: number, to: "near" | "far"): Promise<Subject> {
  const pin = { "Root.pairs(*)": 0, "Root.pairs(*).far": 1 };
  const service = await run(Root, { hosts: HOSTS, module, placement: { pin } });
  const pairs = Array.from({ length: contexts }, (_, key) => service.root.pairs(key));
  return {
    async call(key, work) {
      const pair = pairs[key] as (typeof pairs)[number];
      await (to === "near" ? pair.bumpNear(work) : pair.bumpFar(work));
    },
    async counted() {
      let total = 0;
      for (const pair of pairs) total += await pair[to].value();
      return total;
    },
    stop: () => service.stop(),
  };
}
