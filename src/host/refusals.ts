import { HeadwaterError } from "../errors.js";
import type { Effect } from "./effects.js";
import type { LogicalNode } from "./node.js";
import type { Surroundings } from "./surroundings.js";

/** Every queue has an end: what is said when it is reached. */

type Node = Pick<LogicalNode, "name" | "limits" | "unfinished">;
type Queues = Pick<Surroundings, "backlog" | "outsideCalls">;

export function isFull({ name, limits }: Node): HeadwaterError {
  return new HeadwaterError(
    "HW-1301",
    `the logical node "${name}" has ${limits.inFlight} unfinished events and takes no more at the moment. ` +
      "Wait for some to finish (`await service.room()`), or raise `limits.inFlight`.",
  );
}

/** Why what an event asked for cannot be taken on at the moment, if so. */
export function whyNot(effects: readonly Effect[], node: Node, queues: Queues): HeadwaterError | null {
  const { started, outbox, outside } = node.limits;
  let [starts, calls] = [0, 0];
  for (const effect of effects) {
    if (effect.kind === "start") starts += 1;
    if (effect.kind === "outside") calls += 1;
    if (effect.kind === "send" && queues.backlog(node.name, effect.slot.node) >= outbox) {
      return new HeadwaterError(
        "HW-1301",
        `${outbox} messages from "${node.name}" to "${effect.slot.node}" are still on their way; the event was ` +
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
