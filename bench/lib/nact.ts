import { dispatch, query, type Ref, spawn, start, stop } from "nact";
import type { Subject } from "./subject.js";
import { spin } from "./work.js";

/** nact asks for a timeout on every query; long enough never to fire here. */
const QUERY_TIMEOUT_MS = 60_000;

interface Ask {
  readonly type: "bump" | "count";
  readonly work: number;
  readonly reply: Ref<number>;
}

/** A stateful nact actor is a function from state and message to the next state. */
function counter(count: number, message: Ask): number {
  const next = message.type === "bump" ? bump(count, message.work) : count;
  dispatch(message.reply, next);
  return next;
}

function bump(count: number, work: number): number {
  spin(work);
  return count + 1;
}

export async function startNact(contexts: number): Promise<Subject> {
  const system = start();
  const actors = Array.from({ length: contexts }, (_, key) =>
    spawn(system, counter, `counter-${key}`, { initialState: 0 }),
  );
  const ask = (actor: Ref<Ask>, type: Ask["type"], work: number): Promise<number> =>
    query(actor, (reply: Ref<number>) => ({ type, work, reply }), QUERY_TIMEOUT_MS);
  return {
    call: (key, work) => ask(actors[key] as Ref<Ask>, "bump", work),
    async counted() {
      const counts = await Promise.all(actors.map((actor) => ask(actor, "count", 0)));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    stop: async () => stop(system),
  };
}
