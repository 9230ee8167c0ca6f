import { type ActorRef, createSystem } from "comedy";
import type { Subject } from "./subject.js";
import { spin } from "./work.js";

class Counter {
  #count = 0;

  bump(work: number): number {
    spin(work);
    return ++this.#count;
  }

  count(): number {
    return this.#count;
  }
}

/** `test: true` silences comedy's log and keeps it from looking for configuration files; messages go the same way. */
export async function startComedy(contexts: number): Promise<Subject> {
  const system = createSystem({ test: true });
  const root = await system.rootActor();
  const actors: ActorRef[] = [];
  for (let key = 0; key < contexts; key++)
    actors.push(await root.createChild(Counter, { mode: "in-memory" }));
  return {
    call: (key, work) => (actors[key] as ActorRef).sendAndReceive("bump", work),
    async counted() {
      const counts: number[] = await Promise.all(actors.map((actor) => actor.sendAndReceive("count")));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    stop: () => system.destroy(),
  };
}

const COUNTERS = "/bench/lib/comedy-counters.cjs"; // from the folder of the project, as comedy wants it

/** The counters in two actors that are threads. */
export async function startComedyThreads(): Promise<Subject> {
  const system = createSystem({ test: true });
  const root = await system.rootActor();
  const actors = await Promise.all([0, 1].map(() => root.createChild(COUNTERS, { mode: "threaded" })));
  return {
    call: (key, work) => (actors[key % 2] as ActorRef).sendAndReceive("bump", { counter: key, work }),
    async counted() {
      const counts: number[] = await Promise.all(actors.map((actor) => actor.sendAndReceive("count")));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    stop: () => system.destroy(),
  };
}
