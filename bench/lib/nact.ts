import { dispatch, query, type Ref, spawn, start, stop } from "nact";
import type { Subject } from "./subject.js";
import { spin } from "./work.js";

/**
 * nact names each open query by a random number of 32 bits. When two of a thousand in flight get the same one,
 * which happens every few million queries, a reply is lost: the event took place, but its query only times out.
 * The timeout is short, so that this costs one round and not the run.
 */
const QUERY_TIMEOUT_MS = 1000;

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
    isLostReply: (error) => error instanceof Error && error.message === "Query Timeout",
    async counted() {
      let sum = 0;
      for (const actor of actors) sum += await ask(actor, "count", 0);
      return sum;
    },
    stop: async () => stop(system),
  };
}
