import type { Signal } from "../model/outside.js";
import type { ServiceClient } from "./index.js";

/** A row of results by its number. `weight` is -1 for a row that is taken back. */
export interface Change<R> {
  readonly number: number;
  readonly weight: number;
  readonly row: R;
}

/** What a `follow…` method of a context with queries answers. */
interface Followed<R> {
  readonly rows: readonly Change<R>[];
  readonly next: number;
  readonly topic: string;
}

export interface SubscribeOptions {
  /** The number of the first result: 1, or one more than that of the last result that was handled. */
  readonly from?: number;
  readonly signal?: Signal;
}

/**
 * The results of a query of the program as they come, from a number on, each once and in order. `follow` is the function of the API
 * that calls the `follow…` method: `subscribe(client, client.api.alerts, { from })`. It goes on over lost connections and restarts of
 * the server; to resume in another process, keep the number of the last result.
 */
export async function* subscribe<R>(
  client: Pick<ServiceClient<unknown>, "onMessage" | "onMissed" | "closed">,
  follow: (from: number) => Promise<Followed<R>>,
  { from = 1, signal }: SubscribeOptions = {},
): AsyncGenerator<Change<R>> {
  let [isOver, wake] = [signal?.aborted === true, () => {}];
  /** By topic: the number that the next result gets, as messages have said. */
  const grown = new Map<string, number>();
  const end = () => {
    isOver = true;
    wake();
  };
  const stops = [
    client.onMessage((message: unknown) => {
      if (!isGrown(message)) return;
      grown.set(message.topic, message.next);
      wake();
    }),
    // The message may be among the missed ones.
    client.onMissed(() => wake()),
  ];
  signal?.addEventListener("abort", end);
  void client.closed.then(end);
  try {
    for (let at = from; !isOver; ) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const { rows, next, topic } = await follow(at);
      yield* rows;
      at = next;
      if (rows.length === 0 && !isOver && (grown.get(topic) ?? 0) <= at) await woken;
    }
  } finally {
    signal?.removeEventListener("abort", end);
    for (const stop of stops) stop();
  }
}

function isGrown(message: unknown): message is { readonly topic: string; readonly next: number } {
  return (
    typeof message === "object" &&
    message !== null &&
    "topic" in message &&
    typeof message.topic === "string" &&
    "next" in message &&
    typeof message.next === "number"
  );
}
