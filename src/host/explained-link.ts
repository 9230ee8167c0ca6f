import { HeadwaterError } from "../errors.js";
import type { OpenLink } from "./host-link.js";
import { cannotLoad, reasonOf } from "./program-module.js";

/** The same hosts. Of one that is lost before it has loaded the program, why is told with a code and the module's name. */
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
        if (isReady) return on.lost(why);
        const what = `a host ended before it had loaded it (${reasonOf(why)})`;
        on.lost(cannotLoad(task.module, `${what}. What it printed may say more`, why));
      },
    });
  };
}
