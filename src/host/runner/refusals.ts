import { HeadwaterError } from "../../errors.js";
import type { Effect } from "../event/index.js";
import type { Around, Scheduler } from "./scheduler.js";

/** Every queue has an end: what is said when it is reached. */

type Node = Pick<Scheduler, "name" | "limits" | "unfinished">;
type Queues = Pick<Around, "backlog" | "outsideCalls">;

export function isFull({ name, limits, unfinished }: Node): HeadwaterError {
  return new HeadwaterError(
    "HW-1301",
    `the logical node "${name}" has ${unfinished} unfinished events and takes requests only while it has fewer than ` +
      `${limits.inFlight}. Wait for some to finish (\`await service.room()\`), or raise \`limits.inFlight\`.`,
  );
}

export function hasTooManyMoves({ name, limits }: Node, open: number): HeadwaterError {
  return new HeadwaterError(
    "HW-1301",
    `the logical node "${name}" has ${open} moves under way and takes no more than ${limits.inFlight} at a time. ` +
      "Wait for some to finish, or raise `limits.inFlight`.",
  );
}

/** Why what an event asked for cannot be taken on at the moment, if so. */
export function whyNot(effects: readonly Effect[], node: Node, queues: Queues): HeadwaterError | null {
  const { started, outbox, outside } = node.limits;
  let [starts, calls] = [0, 0];
  for (const effect of effects) {
    if (effect.kind === "start") starts += 1;
    if (effect.kind === "outside") calls += 1;
    const backlog = effect.kind === "send" ? queues.backlog(node.name, effect.slot.node) : 0;
    if (effect.kind === "send" && backlog >= outbox) {
      return new HeadwaterError(
        "HW-1301",
        `${backlog} messages from "${node.name}" to "${effect.slot.node}" are still on their way; the event was ` +
          "refused. Let it be asked for again later, or raise `limits.outbox`.",
      );
    }
  }
  if (starts > 0 && node.unfinished + starts > started) {
    return new HeadwaterError(
      "HW-1301",
      `the logical node "${node.name}" has ${node.unfinished} unfinished events, and an event wanted to start ` +
        `${starts} more. Start fewer, or raise \`limits.started\`.`,
    );
  }
  if (calls > 0 && queues.outsideCalls + calls > outside) {
    return new HeadwaterError(
      "HW-1301",
      `${queues.outsideCalls} outside calls have no result yet, and an event asked for ${calls} more; it was refused. ` +
        "Let it be asked for again later, or raise `limits.outside`.",
    );
  }
  return null;
}
