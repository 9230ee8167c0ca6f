import { HeadwaterError } from "../../errors.js";
import type { OpenLink } from "./host-link.js";
import { NotSpawned } from "./not-spawned.js";

/** The same hosts. Of one that is lost before it has loaded the program, it is told why, as far as it said so, and from where. */
export function explained(open: OpenLink): OpenLink {
  return (task, on) => {
    let isReady = false;
    return open(task, {
      ...on,
      aside: (aside) => {
        if (aside.kind === "failed") return on.lost(HeadwaterError.restored(aside.code, aside.message));
        if (aside.kind === "ready") isReady = true;
        on.aside(aside);
      },
      lost: (why) => {
        if (isReady || why instanceof NotSpawned) return on.lost(why);
        on.lost(new Error(`${why.message}, before it had loaded ${task.module}`, { cause: why.cause }));
      },
    });
  };
}
