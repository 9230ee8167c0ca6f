import { HeadwaterError } from "../../errors.js";
import type { TrackedSet } from "../../model/collections.js";
import type { GraphEngine } from "../graph/index.js";
import { pageOf, type RowChange } from "./rows.js";

const PAGE_BYTES = 256 * 1024;
const FOLLOWERS_MAX = 10_000;

/** Results from a number on. When there are none, the client that asked is sent one message once there are. */
export interface Followed<R> {
  readonly rows: readonly RowChange<R>[];
  /** The number to ask for next. */
  readonly next: number;
  /** What the message names: `{ topic, next }`. */
  readonly topic: string;
}

export function followed(graph: GraphEngine, name: string, from: unknown, topic: string): Followed<unknown> {
  const channel = graph.nodes.channel(name);
  if (channel === null || typeof from !== "number" || !Number.isSafeInteger(from) || from < 1)
    throw new HeadwaterError(
      "HW-5462",
      `the results of "${name}" were asked for from number ${String(from)}. Numbers begin with 1; go on with \`next\`.`,
    );
  const { first, next } = channel.log;
  if (from < first)
    throw new HeadwaterError(
      "HW-5405",
      `results of "${name}" before number ${first} are not retained any more, and number ${from} was asked for.`,
    );
  const rows = from >= next ? [] : pageOf(channel, from, PAGE_BYTES);
  return { rows, next: (rows.at(-1)?.number ?? from - 1) + 1, topic };
}

/** Notes a client that waits for results, with the query's name before its own. */
export function addFollower(followers: TrackedSet<string>, name: string, caller: string): void {
  const follower = `${name} ${caller}`;
  if (followers.size >= FOLLOWERS_MAX && !followers.has(follower))
    throw new HeadwaterError(
      "HW-5408",
      `${FOLLOWERS_MAX} clients wait for results already. Try again later, or ask from time to time.`,
    );
  followers.add(follower);
}

/** Takes out the clients that wait for results of a query. */
export function takeFollowers(followers: TrackedSet<string>, name: string): string[] {
  const found = [...followers].filter((follower) => follower.startsWith(`${name} `));
  for (const follower of found) followers.delete(follower);
  return found.map((follower) => follower.slice(name.length + 1));
}
